package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/mutation"
)

// A Probe asks the schema itself, on behalf of every other writer and reader of its tables: a
// receiver is only as safe as they are. It leaves nothing behind.
type Probe struct {
	Of    string // the table
	Name  string
	Law   string
	Given string // SQL that makes the rows it is about

	// Do is refused with this SQLSTATE; or, where there is none, gives no rows; or, where Uses names
	// an index, is answered through that.
	Do      string
	Refused string
	Uses    string
}

// Offence says how a database breaks the probe's law, "" if it holds. An error is none: then the
// question could not even be put.
func (p Probe) Offence(ctx context.Context, conn *pgx.Conn) (offence string, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", fmt.Errorf("scenarios: probe %s: %w", p.Name, err)
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	if _, err := tx.Exec(ctx, p.Given); err != nil {
		return "", fmt.Errorf("scenarios: probe %s: its own rows: %w", p.Name, err)
	}
	switch {
	case p.Refused != "":
		return p.accepted(tx.Exec(ctx, p.Do))
	case p.Uses != "":
		return p.planned(ctx, tx)
	default:
		return p.found(ctx, tx)
	}
}

// accepted is the offence of a writer who should have been refused. One that is refused for
// another reason has proved nothing.
func (p Probe) accepted(_ pgconn.CommandTag, err error) (string, error) {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return "accepted: " + oneLine(p.Do), nil
	case errors.As(err, &refused) && refused.Code == p.Refused:
		return "", nil
	default:
		return "", fmt.Errorf("scenarios: probe %s: want SQLSTATE %s: %w", p.Name, p.Refused, err)
	}
}

// planned asks for the plan while the table is as good as empty, when every index is a bad idea.
func (p Probe) planned(ctx context.Context, tx pgx.Tx) (string, error) {
	_, err := tx.Exec(ctx, "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; "+
		"SET LOCAL enable_sort = off")
	if err != nil {
		return "", fmt.Errorf("scenarios: probe %s: %w", p.Name, err)
	}
	plan, err := texts(ctx, tx, "EXPLAIN (COSTS OFF) "+p.Do)
	if err != nil {
		return "", fmt.Errorf("scenarios: probe %s: %w", p.Name, err)
	}
	if all := strings.Join(plan, "\n"); !strings.Contains(all, " using "+p.Uses+" ") {
		return "planned without " + p.Uses + ": " + oneLine(all), nil
	}
	return "", nil
}

func (p Probe) found(ctx context.Context, tx pgx.Tx) (string, error) {
	rows, err := texts(ctx, tx, "SELECT to_jsonb(found)::text FROM ("+p.Do+") AS found")
	switch {
	case err != nil:
		return "failed: " + err.Error(), nil
	case len(rows) > 0:
		return "found: " + rows[0], nil
	default:
		return "", nil
	}
}

func texts(ctx context.Context, tx pgx.Tx, sql string) ([]string, error) {
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Probing is the judge that asks the schema, for the mutants of the schema.
func Probing(ctx context.Context, t *Trial) (Catch, error) {
	if t.Mutant.Kind == mutation.SQL {
		return Catch{}, nil
	}
	b, err := t.Bench(ctx, t.Suites[0])
	if err != nil {
		return Catch{}, err
	}
	conn, err := connect(ctx, b.Database.DSN())
	if err != nil {
		return Catch{}, fmt.Errorf("scenarios: probe: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // every probe was rolled back
	for _, p := range Probes {
		if p.Of != t.Mutant.Of {
			continue
		}
		// A probe that can't be put to this mutant says nothing; it can be put to the reference.
		if offence, err := p.Offence(ctx, conn); err == nil && offence != "" {
			return Catch{By: "probe " + p.Name, Law: p.Law}, nil
		}
		if err := ctx.Err(); err != nil {
			return Catch{}, err
		}
	}
	return Catch{}, nil
}
