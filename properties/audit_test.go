package properties_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/properties"
)

const (
	beginsAtFive = `
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ($1, 'order', 5, '{"backfill": true}')`
	removed = `DELETE FROM object_state WHERE source = $1`
	renamed = `UPDATE object_state SET object_id = 'x' WHERE source = $1`
)

func to(revision int64) string {
	return fmt.Sprintf(`UPDATE object_state SET revision = %d WHERE source = $1`, revision)
}

// The audit sees each committed state and nothing else, whoever writes.
func TestNeverStepsBack(t *testing.T) {
	for name, c := range map[string]struct {
		transactions [][]string // after the first; one that ends in ROLLBACK is rolled back
		offences     int
	}{
		"forward":            {[][]string{{to(6)}, {to(9)}}, 0},
		"back":               {[][]string{{to(4)}, {to(6)}}, 1},
		"back for a moment":  {[][]string{{to(9)}, {to(5)}, {to(9)}}, 1},
		"sideways":           {[][]string{{to(5)}}, 1},
		"rolled back":        {[][]string{{to(1), "ROLLBACK"}, {to(6)}}, 0},
		"to a savepoint":     {[][]string{{"SAVEPOINT s", to(1), "ROLLBACK TO s"}}, 0},
		"mended in time":     {[][]string{{to(1), to(6)}}, 0},
		"broken in the last": {[][]string{{to(9), to(1)}}, 1},
		"removed":            {[][]string{{removed}}, 1},
		"renamed":            {[][]string{{renamed}}, 1},
		"emptied":            {[][]string{{"TRUNCATE object_state"}}, 1},
	} {
		t.Run(name, func(t *testing.T) { stepsBack(t, c.offences, c.transactions...) })
	}
}

// A session that plays replica passes by ordinary triggers, and not by the audit.
func TestNeverStepsBackAsReplica(t *testing.T) {
	if err := ground.server.Can(postgres.Superuser); err != nil {
		t.Skip(err)
	}
	stepsBack(t, 1, []string{"SET LOCAL session_replication_role = replica", to(1)})
}

func stepsBack(t *testing.T, offences int, transactions ...[]string) {
	t.Helper()
	_, sources := sequence{}.fresh()
	inTransaction(t, []string{beginsAtFive}, sources[0])
	for _, statements := range transactions {
		inTransaction(t, statements, sources[0])
	}
	found, err := properties.NeverStepsBack.Check(
		t.Context(), ground.judge, lab.ReferenceState, sources, nil)
	require.NoError(t, err)
	require.Len(t, found, offences, "%v", found)
}

func inTransaction(t *testing.T, statements []string, source string) {
	t.Helper()
	ctx := t.Context()
	tx, err := ground.judge.BeginTx(ctx, pgx.TxOptions{})
	require.NoError(t, err)
	for _, sql := range statements {
		if sql == "ROLLBACK" {
			require.NoError(t, tx.Rollback(ctx))
			return
		}
		var args []any
		if strings.Contains(sql, "$1") {
			args = append(args, source)
		}
		_, err := tx.Exec(ctx, sql, args...)
		require.NoError(t, err, sql)
	}
	require.NoError(t, tx.Commit(ctx))
}
