package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"webhooklab/lab"
	"webhooklab/lab/mutation"
	"webhooklab/lab/postgres"
)

// A Trial is one mutant on the stage: what its judges put to the test.
type Trial struct {
	Mutant mutation.Mutant
	Suites []Suite // whose contracts need the guard

	stage    *Stage
	rewriter *mutation.Rewriter
	benches  map[string]*Bench
}

// A MutantJudge tries to tell a mutant from the reference. A zero Catch says that it can't.
type MutantJudge func(ctx context.Context, t *Trial) (Catch, error)

// A Catch says who noticed that a guard is missing, and which law was broken without it.
type Catch struct{ By, Law string }

// MutantJudges are those that every mutant is shown to, in this order.
func MutantJudges(m mutation.Mutant) []MutantJudge {
	switch m.Kind {
	case mutation.Key, mutation.SQL:
		return []MutantJudge{Playing, Calling, Probing}
	default: // it is there for other writers above all
		return []MutantJudge{Probing, Playing}
	}
}

// trialBound is what a step of a mutant may take. What is stuck is unknown, and catches nothing.
const trialBound = 10 * time.Second

// Try puts a mutant on the stage: first its happy path, on which it must do its work, then the
// judges, until one notices. What nobody notices must be listed, and what is listed be so.
func (s *Stage) Try(
	ctx context.Context, m mutation.Mutant, judges ...MutantJudge,
) (f mutation.Finding) {
	began := time.Now()
	f = mutation.Finding{Mutant: m, Verdict: mutation.Survived}
	defer func() { f.Elapsed = time.Since(began) }()
	t := &Trial{
		Mutant: m, Suites: suitesOf[m.Of], stage: s,
		rewriter: mutation.NewRewriter(m.Edit), benches: map[string]*Bench{},
	}
	catch, err := t.judge(ctx, judges)
	switch err = errors.Join(err, t.close(ctx)); {
	case err != nil:
		f.Verdict, f.Reason = mutation.Broken, err.Error()
	case m.Edit.Old != "" && t.rewriter.Matched() == 0:
		f.Verdict, f.Reason = mutation.Broken, "the edit matches no statement"
	case catch != Catch{}:
		f.Verdict, f.By, f.Law = mutation.Caught, catch.By, catch.Law
	}
	return listed(f)
}

func (t *Trial) judge(ctx context.Context, judges []MutantJudge) (Catch, error) {
	if t.Mutant.Fault != "" {
		return Catch{}, errors.New(t.Mutant.Fault)
	}
	if len(t.Suites) == 0 {
		return Catch{}, fmt.Errorf("no suite is told to need %s", t.Mutant.Of)
	}
	for _, suite := range t.Suites {
		if err := t.happy(ctx, suite); err != nil {
			return Catch{}, fmt.Errorf("fails on its happy path: %w", err)
		}
	}
	for _, judge := range judges {
		if catch, err := judge(ctx, t); err != nil || catch != (Catch{}) {
			return catch, err
		}
	}
	return Catch{}, nil
}

// Options are what the mutant is on a bench of this suite.
func (t *Trial) Options(suite Suite) Options {
	return Options{
		Receiver: t.rewriter.Receiver(suite.Receiver), Alter: t.Mutant.Alter, Bound: trialBound,
	}
}

// Bench is the mutant's own bench of a suite.
func (t *Trial) Bench(ctx context.Context, suite Suite) (*Bench, error) {
	if b := t.benches[suite.Name]; b != nil {
		return b, nil
	}
	b, err := t.stage.Bench(ctx, postgres.Fast, suite, t.Options(suite))
	if err == nil {
		t.benches[suite.Name] = b
	}
	return b, err
}

func (t *Trial) close(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	for _, b := range t.benches {
		err = errors.Join(err, b.Close(ctx))
	}
	t.rewriter.Close()
	return err
}

// Playing is the judge that plays the scenarios, those that step first: what they say they say
// each time.
func Playing(ctx context.Context, t *Trial) (Catch, error) {
	for _, free := range []bool{false, true} {
		for _, suite := range t.Suites {
			for _, sc := range suite.Scenarios {
				if sc.Free != free || Profile(sc) != postgres.Fast {
					continue
				}
				if catch, err := t.play(ctx, suite, sc); err != nil || catch != (Catch{}) {
					return catch, err
				}
			}
		}
	}
	return Catch{}, nil
}

func (t *Trial) play(ctx context.Context, suite Suite, sc lab.Scenario) (Catch, error) {
	b, err := t.Bench(ctx, suite)
	if err != nil {
		return Catch{}, err
	}
	r := b.Run(ctx, sc)
	if err := ctx.Err(); err != nil {
		return Catch{}, err
	}
	for _, o := range r.Offences {
		if o.Verdict == lab.VerdictInvalid {
			return Catch{By: sc.Name, Law: o.Law}, nil
		}
	}
	return Catch{}, nil
}
