package scenarios_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// The schema as it is holds against everybody who ignores the receivers.
func TestProbesHoldOnTheSchema(t *testing.T) {
	b := bench(t, postgres.Fast, scenarios.SnapshotSuite, scenarios.Options{})
	conn, err := pgx.Connect(t.Context(), b.Database.DSN())
	require.NoError(t, err)
	defer conn.Close(t.Context())
	names := map[string]bool{}
	for _, p := range scenarios.Probes {
		t.Run(p.Name, func(t *testing.T) {
			offence, err := p.Offence(t.Context(), conn)
			require.NoError(t, err)
			require.Empty(t, offence)
		})
		require.False(t, names[p.Of+p.Name], "two probes are called %s", p.Name)
		names[p.Of+p.Name] = true
	}
}
