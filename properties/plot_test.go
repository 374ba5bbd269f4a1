package properties_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab"
	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/properties"
	"webhooklab/scenarios"
)

// A plot is a clone for one suite alone, with a connection of the judge's own: workers take
// whatever is due, so no other test's rows may be there.
type plot struct {
	suite    scenarios.Suite
	laws     lab.Invariant // all of them, in one question
	database *postgres.Database
	judge    *pgx.Conn
}

// newPlot makes the clone and changes it by this SQL. It is dropped with the test.
func newPlot(t testing.TB, suite scenarios.Suite, alter string) *plot {
	t.Helper()
	template, err := ground.server.Template(t.Context(), webhooklab.Schema+suite.Effects+alter)
	require.NoError(t, err)
	database, err := template.Clone(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Drop(context.Background())) })
	config, err := postgres.ParseConfig(database.DSN())
	require.NoError(t, err)
	judge, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, judge.Close(context.Background())) })
	laws := suite.Laws
	if suite.State.SQL("transitions") != "" {
		laws = properties.WatchedReceipts
	}
	return &plot{suite, all(laws), database, judge}
}

// all is one law whose offences are those of these laws, each with its name.
func all(laws []lab.Invariant) lab.Invariant {
	parts := make([]string, len(laws))
	for i, law := range laws {
		parts[i] = fmt.Sprintf(`SELECT '%s' AS law, to_jsonb(o) AS row FROM (%s) AS o`,
			law.Name, law.SQL)
	}
	return lab.Invariant{Name: "all", SQL: strings.Join(parts, " UNION ALL ")}
}

// lawful demands every law.
func (p *plot) lawful(ctx context.Context, sources []string, ops []lab.Operation) (f findings) {
	rows, err := p.laws.Check(ctx, p.judge, p.suite.State, sources, ops)
	if err != nil {
		return findings{{p.laws.Name, unknown + err.Error()}}
	}
	for _, text := range rows {
		var o struct {
			Law string          `json:"law"`
			Row json.RawMessage `json:"row"`
		}
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return findings{{p.laws.Name, unknown + err.Error()}}
		}
		f = append(f, finding{o.Law, string(o.Row)})
	}
	return f
}

// exec is the lab's own SQL.
func (p *plot) exec(ctx context.Context, sql string, args ...any) error {
	if _, err := p.judge.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("the lab's own SQL %.60q: %w", sql, err)
	}
	return nil
}

const goneSQL = `
SELECT count(pg_terminate_backend(pid)) = 0 FROM pg_stat_activity WHERE pid = ANY ($1)`

// bury waits until the server has done with the connections of a wire that were cut: until then
// nobody knows what it makes of their last command. The server's own wait looks ten times a second.
func (p *plot) bury(ctx context.Context, w *wired) error {
	pids := w.severed()
	began := time.Now()
	for nap := time.Millisecond; ; nap = min(2*nap, 16*time.Millisecond) {
		var gone bool
		err := p.judge.QueryRow(ctx, goneSQL, pids).Scan(&gone)
		if err != nil || gone {
			return err
		}
		if time.Since(began) > bound {
			return fmt.Errorf("the backends %v of %s do not end", pids, w.called)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(nap):
		}
	}
}

// freshly gives this run's name of a source.
func freshly(names []string) (suffix string, sources []string) {
	suffix = fmt.Sprintf("~drawn%d~", runs.Add(1))
	for _, name := range names {
		sources = append(sources, name+suffix)
	}
	return suffix, sources
}

// plain takes this run's names of sources out.
func (f findings) plain(sources []string) findings {
	for i := range f {
		f[i].text = plain(f[i].text, sources[0])
	}
	return f
}
