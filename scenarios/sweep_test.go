package scenarios_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// Every reference receiver, cut at every command by everything that needs no server of the lab's
// own: the matrix is complete and clean.
func TestSweep(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, suite := range scenarios.Suites {
		t.Run(suite.Name, func(t *testing.T) {
			t.Setenv(serveReceiver, suite.Name)
			b := bench(t, postgres.Fast, suite, scenarios.Options{Seed: seed()})
			for _, p := range suite.Swept {
				t.Run(p.Name, func(t *testing.T) {
					want := lab.Sweeping{Program: p}
					if suite.Name != scenarios.DoorSuite.Name {
						want.Process = scenarios.AsProcess(self)
					}
					swept := b.Sweep(t.Context(), want)
					took := map[string]time.Duration{}
					for _, c := range swept.Cells {
						took[c.Fault.Words()] += c.Elapsed
					}
					t.Log(took)
					t.Log(swept.Elapsed, "\n"+swept.String())
				})
			}
		})
	}
}
