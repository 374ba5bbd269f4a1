package lab

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// rowsBound is how long the rows after a commit may keep a run waiting, by a table that a session
// has locked as a whole.
const rowsBound = "250ms"

// traceRows reads the receiver's tables if something was committed since they were read last.
// What can't be read now is left out.
func (l *Lab) traceRows() {
	t := &l.trace
	if !l.cfg.Rows || t.committed == 0 || l.down {
		return
	}
	rows := TracedRows{At: t.since(time.Now()), id: t.committed}
	t.committed = 0
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	err := pgx.BeginFunc(l.ctx, l.observer.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(l.ctx, "SET LOCAL lock_timeout = '"+rowsBound+"'"); err != nil {
			return err
		}
		for _, table := range l.cfg.State {
			lines, err := shownRows(l.ctx, tx, table, l.fresher())
			if err != nil {
				return err
			}
			for i, line := range lines {
				lines[i] = l.plain(line)
			}
			rows.Tables = append(rows.Tables, TracedTable{Name: table.Name, Rows: lines})
		}
		return nil
	})
	if err == nil {
		t.trace.Rows = append(t.trace.Rows, rows)
	}
}

// A querier is a connection or a transaction on it.
type querier interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}

// shownRows is a table of the receiver's State, a line a row, sorted.
func shownRows(ctx context.Context, q querier, t Table, sources []string) ([]string, error) {
	rows, err := q.Query(ctx, `
SELECT (
	SELECT string_agg(left(coalesce(value, '-'), 60), ' ' ORDER BY place)
	  FROM json_each_text(row_to_json(t)) WITH ORDINALITY AS c(name, value, place)
  )
  FROM (`+t.SQL+`) AS t
 WHERE source = ANY ($1::text[])
 ORDER BY 1`, sources)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
