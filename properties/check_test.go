package properties_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// tally counts what the tests of this binary drew.
type tally struct {
	sequences, overlaps int
	armed, fired        int // faults
	rounds              int // without faults, at most, until all had come to an end
	answers             map[string]int
}

func (c tally) String() string {
	text := fmt.Sprintf("%d sequences drawn, %d pairs of deliveries overlapped; "+
		"%d faults armed, %d fired, %d were never reached; answers %v",
		c.sequences, c.overlaps, c.armed, c.fired, c.armed-c.fired, c.answers)
	if c.rounds > 0 {
		text += fmt.Sprintf("; all came to an end in %d rounds at most", c.rounds)
	}
	return text
}

// hear counts the answers of a history that was not counted before.
func (c *tally) hear(ops []lab.Operation) {
	for _, op := range ops {
		c.answers[op.Answer.Outcome]++
	}
}

func (c tally) minus(o tally) tally {
	answers := map[string]int{}
	for outcome, n := range c.answers {
		if n > o.answers[outcome] {
			answers[outcome] = n - o.answers[outcome]
		}
	}
	return tally{
		c.sequences - o.sequences, c.overlaps - o.overlaps,
		c.armed - o.armed, c.fired - o.fired, c.rounds, answers,
	}
}

func (c tally) copy() tally {
	c.answers = maps.Clone(c.answers)
	return c
}

// A property is a law over drawn sequences, and its share of all that are drawn, in percent.
type property struct {
	law     string
	percent int
	proof   func(tally) string // says what makes a run worthless, "" if nothing does
}

// begin is what the test of a property begins with: what it registers looks last, when receivers
// and wires are closed.
func (p property) begin(t *testing.T) *run {
	ground.worst, ground.drawn.rounds = lab.Offence{}, 0
	r := &run{
		property: p, before: ground.drawn.copy(), began: time.Now(), seed: max(1, ground.seed),
	}
	t.Cleanup(func() { r.keep(t) })
	noLeaks(t)
	return r
}

// A run is one test's way through its share.
type run struct {
	property
	before    tally
	began     time.Time
	seed      uint64 // of the check in progress, then of the first that failed
	checks    uint64
	failed    bool
	first     lab.Offence // before rapid went looking for a smaller one
	worthless string
}

// check draws the property's share.
func (r *run) check(t *testing.T, prop func(*rapid.T)) {
	t.Helper()
	// With fewer, chance alone could keep every fault from firing.
	checks := max(20, ground.total*r.percent/100)
	if testing.Short() {
		checks *= 5 // rapid takes a fifth of it
	}
	require.NoError(t, setFlag("rapid.checks", checks))
	require.NoError(t, setFlag("rapid.nofailfile", ground.logs == ""))
	rapid.Check(t, func(rt *rapid.T) { r.once(rt, prop) })
	if r.proof != nil {
		r.worthless = r.proof(ground.drawn.minus(r.before))
		require.Empty(t, r.worthless, "unknown: nothing was put to the test")
	}
}

// once runs one check. Its seed alone repeats it: rapid adds the check's number to the seed of the
// one before. After the first failure rapid is repeating and shrinking, and nothing is counted.
func (r *run) once(t *rapid.T, prop func(*rapid.T)) {
	if !r.failed {
		r.seed += r.checks
		r.checks++
		ground.drawn.sequences++
		defer func() { r.failed, r.first = t.Failed(), ground.worst }()
	}
	prop(t)
}

// keep tells the verdict, and puts it and rapid's fail files among the evidence.
func (r *run) keep(t *testing.T) {
	drawn := ground.drawn.minus(r.before)
	e := report.Entry{
		Suite: report.Law, Name: t.Name(), Law: r.law, Verdict: lab.VerdictValid,
		Runs: drawn.sequences, Overlaps: drawn.overlaps, Elapsed: time.Since(r.began),
		Detail: drawn.String(),
	}
	t.Log(e.Detail)
	if t.Failed() {
		o := r.offence()
		e.Verdict, e.Offences = o.Verdict, []lab.Offence{o}
		if r.first.Text != "" && r.first.Text != o.Text {
			e.Offences = append(e.Offences, r.first)
		}
		for _, o := range e.Offences {
			t.Log(o)
		}
		e.Replay = fmt.Sprintf("./run_lab.sh --law %s --seed %d", t.Name(), r.seed)
		t.Logf("to repeat: %s", e.Replay)
	}
	if err := errors.Join(moveFailFiles(t.Name()), report.Append(ground.logs, e)); err != nil {
		t.Errorf("keep the evidence: %v", err)
	}
}

// offence says what made the test fail.
func (r *run) offence() lab.Offence {
	o := ground.worst
	switch {
	case r.worthless != "":
		o = lab.Offence{Verdict: lab.VerdictUnknown, Text: r.worthless}
	case o.Text == "":
		o = lab.Offence{Verdict: lab.VerdictUnknown, Text: "the test failed, see its output"}
	}
	o.Law = r.law
	return o
}

// moveFailFiles takes what rapid left in its own folder to the evidence.
func moveFailFiles(test string) error {
	if ground.logs == "" {
		return nil
	}
	left, err := filepath.Glob(filepath.Join("testdata", "rapid", test, "*.fail"))
	if err != nil || len(left) == 0 {
		return err
	}
	folder := filepath.Join(ground.logs, "rapid")
	err = os.MkdirAll(folder, 0o755)
	for _, file := range left {
		text, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr,
			os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o644), os.Remove(file))
	}
	return err
}

// noLeaks is what a test begins with, so that it looks last. The driver closes a cut connection
// behind our back, which may take a busy machine longer than one look does.
func noLeaks(t testing.TB) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		leak := errors.New("never looked")
		for end := time.Now().Add(bound); leak != nil && time.Now().Before(end); {
			leak = goleak.Find(before)
		}
		require.NoError(t, leak)
	})
}
