package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// partsSQL lists what a dump consists of: a heading each, and the query that yields its text. Each
// part is read by itself, because the functions below lock the relation that they describe. The
// order is by text, so that two dumps of the same content are the same bytes.
const partsSQL = `
SELECT kind || ' ' || name, query
FROM (
  SELECT 1 AS place, 'table' AS kind, format('%I.%I', n.nspname, c.relname) AS name,
         format('SELECT r FROM (SELECT row_to_json(t)::text AS r FROM %I.%I AS t) AS rows '
                'ORDER BY r COLLATE "C"', n.nspname, c.relname) AS query
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r'          -- partitions are tables; their parents hold no rows
    AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  UNION ALL
  SELECT 2, 'view', format('%I.%I', n.nspname, c.relname),
         format('SELECT pg_get_viewdef(%s)', c.oid)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('v', 'm')
    AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  UNION ALL
  SELECT 3, 'trigger', format('%I on %s', t.tgname, t.tgrelid::regclass),
         format('SELECT pg_get_triggerdef(%s)', t.oid)
  FROM pg_trigger t
  WHERE NOT t.tgisinternal
) AS parts
ORDER BY place, name COLLATE "C"`

// part is one section of a dump.
type part struct{ Title, Query string }

// Dump writes every user table, its rows as JSON in a stable order, and the definitions of views
// and triggers, as one snapshot. A table that somebody holds locked for more than a second is
// named with the reason instead of being waited for. It needs no program of the server's.
func (d *Database) Dump(ctx context.Context, w io.Writer) error {
	conn, err := d.server.connect(ctx, d.name)
	if err != nil {
		return fmt.Errorf("dump database %s: %w", d.name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	out := bufio.NewWriter(w)
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '1s'; SET LOCAL search_path = ''")
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "-- database %s\n", d.name)
		return dumpParts(ctx, tx, out)
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("dump database %s: %w", d.name, err)
	}
	return nil
}

func dumpParts(ctx context.Context, tx pgx.Tx, out io.Writer) error {
	list, err := tx.Query(ctx, partsSQL)
	if err != nil {
		return err
	}
	parts, err := pgx.CollectRows(list, pgx.RowToStructByPos[part])
	if err != nil {
		return err
	}
	for _, p := range parts {
		rows, err := p.read(ctx, tx)
		switch {
		case err == nil:
			fmt.Fprintf(out, "\n-- %s\n", p.Title)
		case ctx.Err() != nil || tx.Conn().IsClosed():
			return err
		default:
			fmt.Fprintf(out, "\n-- %s: not read: %s\n", p.Title, err)
		}
		for _, row := range rows {
			fmt.Fprintln(out, row)
		}
	}
	return nil
}

// read runs the part's query inside a savepoint, so that a failure costs only this part.
func (p part) read(ctx context.Context, tx pgx.Tx) (lines []string, err error) {
	err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		rows, err := inner.Query(ctx, p.Query)
		if err != nil {
			return err
		}
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return lines, err
}
