package scenarios_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// serveReceiver makes this test program serve the receiver of the suite that it names, instead of
// testing anything.
const serveReceiver = "LAB_SERVE_RECEIVER"

func servedReceiver(name string) int {
	if err := scenarios.ServeReceiver(name, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// The wire does not care where a receiver runs: as a process of its own it sends the same commands
// in the same order, to the letter of the same goldens, and gives the same answers.
func TestProcessesAreReceiversToo(t *testing.T) {
	ofTheLab(t)
	self, err := os.Executable()
	require.NoError(t, err)
	for _, suite := range scenarios.Suites {
		if suite.Name == scenarios.DoorSuite.Name {
			continue // its sender and its receiver share a process
		}
		t.Run(suite.Name, func(t *testing.T) {
			t.Setenv(serveReceiver, suite.Name)
			benches := map[postgres.Profile]*scenarios.Bench{}
			for _, sc := range chosen(t, suite) {
				p := scenarios.Profile(sc)
				if benches[p] == nil {
					benches[p] = bench(t, p, suite, scenarios.Options{
						Receiver: scenarios.AsProcess(self), Seed: seed(),
					})
				}
				t.Run(sc.Name, func(t *testing.T) {
					r := held(t, sc, benches[p].Play(t.Context(), sc, ""))
					require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
				})
			}
		})
	}
}
