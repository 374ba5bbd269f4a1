package scenarios

import (
	"context"
	"strings"
	"testing"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

// Run puts a receiver of snapshots through every scenario, each as a subtest of t that fails with
// the broken law, the offence and the transcript. What the server or the receiver's schema can't do is
// skipped with its reason, never passed.
//
// It starts a disposable PostgreSQL as LAB_POSTGRES says (by default a container, or else local
// binaries) and leaves nothing behind.
func Run(t *testing.T, newReceiver lab.NewReceiver) {
	RunSuite(t, SnapshotSuite, Options{Receiver: newReceiver})
}

// RunSuite is Run for any suite, and for a receiver with tables of its own.
func RunSuite(t *testing.T, suite Suite, o Options) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	stage, err := OpenStage(ctx, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, stage.Close) })
	benches := map[postgres.Profile]*Bench{}
	for _, sc := range suite.Scenarios {
		t.Run(sc.Name, func(t *testing.T) {
			b := benches[Profile(sc)]
			if b == nil {
				if b, err = stage.Bench(ctx, Profile(sc), suite, o); err != nil {
					t.Fatal(err)
				}
				benches[Profile(sc)] = b
			}
			Demand(t, b.Play(ctx, sc, ""))
		})
	}
	for _, b := range benches {
		closing(t, b.Close)
	}
}

// Demand turns a report into the outcome of a test.
func Demand(t testing.TB, r lab.Report) {
	t.Helper()
	switch r.Verdict {
	case lab.VerdictValid:
	case lab.VerdictNotRun:
		t.Skip("not run: " + strings.TrimPrefix(r.Offences[0].Text, "not run: "))
	default:
		t.Fatal(r.String())
	}
}

// closing gives a clean-up time of its own: the test's may be over.
func closing(t testing.TB, clean func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := clean(ctx); err != nil {
		t.Errorf("clean up: %v", err)
	}
}
