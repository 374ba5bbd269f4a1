package properties_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/properties"
)

// The audit sees each committed state and nothing else, whoever writes.
func TestNeverStepsBack(t *testing.T) {
	to := func(revision int64) string {
		return fmt.Sprintf(`UPDATE object_state SET revision = %d WHERE source = $1`, revision)
	}
	const (
		begin = `
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ($1, 'order', 5, '{"backfill": true}')`
		remove = `DELETE FROM object_state WHERE source = $1`
		rename = `UPDATE object_state SET object_id = 'x' WHERE source = $1`
		back   = `ROLLBACK TO s`
		replay = `SET LOCAL session_replication_role = replica`
	)
	for name, c := range map[string]struct {
		transactions [][]string // those that end in ROLLBACK are rolled back
		offences     int
	}{
		"forward":                {[][]string{{begin}, {to(6)}, {to(9)}}, 0},
		"back":                   {[][]string{{begin}, {to(4)}, {to(6)}}, 1},
		"back for a moment":      {[][]string{{begin}, {to(9)}, {to(5)}, {to(9)}}, 1},
		"sideways":               {[][]string{{begin}, {to(5)}}, 1},
		"rolled back":            {[][]string{{begin}, {to(1), "ROLLBACK"}, {to(6)}}, 0},
		"to a savepoint":         {[][]string{{begin}, {"SAVEPOINT s", to(1), back}}, 0},
		"mended in time":         {[][]string{{begin}, {to(1), to(6)}}, 0},
		"broken in the last":     {[][]string{{begin}, {to(9), to(1)}}, 1},
		"removed":                {[][]string{{begin}, {remove}}, 1},
		"renamed":                {[][]string{{begin}, {rename}}, 1},
		"by a session in replay": {[][]string{{begin}, {replay, to(1)}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, sources := sequence{}.fresh()
			for _, statements := range c.transactions {
				inTransaction(t, statements, sources[0])
			}
			found, err := properties.NeverStepsBack.Check(
				t.Context(), ground.judge, lab.ReferenceState, sources, nil)
			require.NoError(t, err)
			require.Len(t, found, c.offences, "%v", found)
		})
	}
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
