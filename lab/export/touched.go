package export

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// digests tell of every table what it holds; of an empty one "".
func (r *rehearsal) digests(ctx context.Context) (map[string]string, error) {
	const tables = `
SELECT format('%I.%I', n.nspname, c.relname)
  FROM pg_class AS c
  JOIN pg_namespace AS n
    ON n.oid = c.relnamespace
 WHERE c.relkind = 'r'
   AND c.relpersistence <> 't'
   AND n.nspname <> 'information_schema'
   AND n.nspname !~ '^pg_'
 ORDER BY 1`
	rows, _ := r.observer.Query(ctx, tables)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	digests := map[string]string{}
	for _, name := range names {
		var digest string
		e := r.observer.QueryRow(ctx, `SELECT coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '')
  FROM `+name+` AS t`).Scan(&digest)
		digests[name], err = digest, errors.Join(err, e)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the tables hold: %w", err)
	}
	return digests, nil
}

// references are the tables that refer to another by a foreign key, each with that other.
func (r *rehearsal) references(ctx context.Context) ([][2]string, error) {
	const keys = `
SELECT ARRAY[format('%I.%I', cn.nspname, c.relname), format('%I.%I', pn.nspname, p.relname)]
  FROM pg_constraint AS k
  JOIN pg_class AS c
    ON c.oid = k.conrelid
  JOIN pg_namespace AS cn
    ON cn.oid = c.relnamespace
  JOIN pg_class AS p
    ON p.oid = k.confrelid
  JOIN pg_namespace AS pn
    ON pn.oid = p.relnamespace
 WHERE k.contype = 'f'`
	rows, _ := r.observer.Query(ctx, keys)
	pairs, err := pgx.CollectRows(rows, pgx.RowTo[[2]string])
	if err != nil {
		return nil, fmt.Errorf("read which tables refer to which: %w", err)
	}
	return pairs, nil
}

// noteTouched keeps the names of the tables that the script fills, and of those that refer to them:
// PostgreSQL empties them together or not at all.
func (s *Script) noteTouched(before, after map[string]string, references [][2]string) {
	s.touched = nil
	touch := func(name string) {
		if was, known := before[name]; !known || was != "" {
			s.unfit = "it changes " + name + ", which was not an empty table before"
		}
		s.touched = append(s.touched, name)
	}
	for name, digest := range after {
		if digest != before[name] {
			touch(name)
		}
	}
	for i := 0; i < len(s.touched); i++ {
		for _, r := range references {
			if r[1] == s.touched[i] && !slices.Contains(s.touched, r[0]) {
				touch(r[0])
			}
		}
	}
	slices.Sort(s.touched)
}
