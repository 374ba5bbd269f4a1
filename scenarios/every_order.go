package scenarios

import (
	"context"
	"os"
	"testing"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

// EveryOrder puts a receiver through every order of its suite's programs, each as a subtest of t
// that fails with the broken law, the transcript and the line that replays it. It starts a
// disposable PostgreSQL as LAB_POSTGRES says and leaves nothing behind.
//
// A tree that is not exhausted within two minutes is said to be, and doesn't fail the test.
func EveryOrder(t *testing.T, suite Suite, o Options) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	t.Cleanup(cancel)
	stage, err := OpenStage(ctx, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, stage.Close) })
	b, err := stage.Bench(ctx, postgres.Fast, Explorable(suite), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, b.Close) })
	for _, p := range suite.Programs {
		t.Run(p.Name, func(t *testing.T) {
			e, err := b.ExploreAndKeep(ctx, lab.Exploration{
				Program: p, Time: 2 * time.Minute, Samples: 200,
			}, Failing{Dir: os.Getenv("LAB_FAILING")})
			if err != nil {
				t.Fatal(err)
			}
			demandOrders(t, e)
		})
	}
}

func demandOrders(t *testing.T, e lab.Explored) {
	t.Helper()
	switch e.Verdict {
	case lab.VerdictValid:
		if e.Left > 0 {
			t.Logf("%d orders explored, %d branches left: %s", e.Explored, e.Left, e.Bound)
		}
	case lab.VerdictNotRun:
		t.Skip("not run: " + e.Failures[0].Report.Offences[0].Text)
	default:
		f := e.Failures[0]
		t.Fatalf("%s\nagain: lab replay '%s'", f.Report, f.Line())
	}
}

// Explorable is the suite on clones without the audit: what its triggers write would make every two
// changes of one table depend on each other.
func Explorable(suite Suite) Suite {
	suite.Audit, suite.Audited = "", nil
	return suite
}

// ExploreAndKeep explores with what failed before going first, shrinks what fails now, and keeps it.
func (b *Bench) ExploreAndKeep(
	ctx context.Context, want lab.Exploration, failing Failing,
) (lab.Explored, error) {
	first, err := failing.Lines(want.Program.Name)
	if err != nil {
		return lab.Explored{}, err
	}
	want.First = first
	e := b.Explore(ctx, want)
	for i := range e.Failures {
		f := &e.Failures[i]
		if i == 0 {
			f.Shrunk = b.Shrink(ctx, want.Program, *f)
		}
		if f.Report.Verdict != lab.VerdictInvalid {
			continue
		}
		kept := f.Schedule
		if f.Shrunk != nil {
			kept = *f.Shrunk
		}
		if err := failing.Keep(kept); err != nil {
			return e, err
		}
	}
	return e, nil
}
