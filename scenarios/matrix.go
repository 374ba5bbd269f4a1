package scenarios

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/report"
)

// MatrixOptions say whom the judges hear, and how long they look.
type MatrixOptions struct {
	Receiver string // a regular expression that its name matches; a reference has its suite's name
	Seed     uint64
	Short    bool              // fewer draws and loops, and no three sessions
	Inputs   bool              // only judges that know no story, one by one until a flaw is caught
	Told     func(report.Kill) // each row as soon as it is known, in no order
}

// A subject is a receiver that all judges hear: a reference, or a sinner.
type subject struct {
	name     string
	suite    Suite
	options  Options
	scenario string // the one that is played first
	law      string // by which it must be caught: an invariant's name, or a sentence
	sinner   *Sinner
}

// subjects are the references first, and each sinner in the order of its registry.
func subjects() (all []subject) {
	for _, suite := range Suites {
		all = append(all, subject{name: suite.Name, suite: suite})
	}
	for _, s := range Sinners {
		all = append(all, subject{name: s.Name, suite: s.Suite, options: s.Options(),
			scenario: s.Scenario, law: s.Law, sinner: &s})
	}
	for _, s := range SinnersInside {
		all = append(all, subject{name: s.Name, suite: SnapshotSuite, law: s.Program.Law,
			options: Options{Receiver: s.Receiver, State: flawed.WithoutRefusals, Alter: s.Alter},
			sinner:  &Sinner{Kind: "race inside one statement", Harm: s.Harm}})
	}
	return all
}

// SubjectNamed finds a suite's reference by the suite's name, and a sinner by its own.
func SubjectNamed(name string) (Suite, Options, error) {
	for _, s := range subjects() {
		if s.name == name {
			return s.suite, s.options, nil
		}
	}
	_, err := SuiteNamed(name)
	return Suite{}, Options{}, err
}

// Matrix puts every receiver before every judge. The stage's fast server is used by as many
// receivers at once as there are processors.
func Matrix(ctx context.Context, stage *Stage, want MatrixOptions) ([]report.Kill, error) {
	filter, err := regexp.Compile(want.Receiver)
	if err != nil {
		return nil, fmt.Errorf("scenarios: the receiver: %w", err)
	}
	all := slices.DeleteFunc(subjects(), func(s subject) bool { return !filter.MatchString(s.name) })
	if len(all) == 0 {
		return nil, fmt.Errorf("scenarios: no receiver matches %q: want a suite's name, or that of a "+
			"file in lab/flawed", want.Receiver)
	}
	rows, errs := make([]report.Kill, len(all)), make([]error, len(all))
	next := make(chan int)
	var workers sync.WaitGroup
	var telling sync.Mutex
	crowd := min(len(all), runtime.GOMAXPROCS(0))
	if want.Inputs {
		crowd = 1 // how long each takes is of interest
	}
	for range crowd {
		workers.Go(func() {
			for i := range next {
				rows[i], errs[i] = all[i].heard(ctx, stage, want)
				if want.Told != nil && errs[i] == nil {
					telling.Lock()
					want.Told(rows[i])
					telling.Unlock()
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	return rows, errors.Join(errs...)
}

// row is what is known of a subject before anybody is heard.
func (s subject) row() report.Kill {
	k := report.Kill{Receiver: s.name, Suite: s.suite.Name, Reference: s.sinner == nil}
	if s.sinner != nil {
		k.Kind, k.Harm, k.Law = s.sinner.Kind, s.sinner.Harm, s.law
		for _, law := range slices.Concat(s.suite.Laws, s.suite.Audited) {
			if law.Name == s.law {
				k.Law = law.Law
			}
		}
	}
	return k
}

// A trial is a subject before its judges.
type trial struct {
	subject
	want    MatrixOptions
	watched *Bench // with the triggers that watch the tables
	plain   *Bench // without: what they write would make every two changes depend on each other
	cells   []report.Cell
}

// heard puts one subject before all judges.
func (s subject) heard(
	ctx context.Context, stage *Stage, want MatrixOptions,
) (report.Kill, error) {
	k := s.row()
	t := &trial{subject: s, want: want}
	o := s.options
	o.Seed, o.Alone = want.Seed, true
	var err error
	for _, open := range []struct {
		bench **Bench
		suite Suite
	}{{&t.watched, s.suite}, {&t.plain, Explorable(s.suite)}} {
		*open.bench, err = stage.Bench(ctx, fast, open.suite, o)
		if err != nil {
			break
		}
		defer func(b *Bench) { err = errors.Join(err, b.Close(context.WithoutCancel(ctx))) }(*open.bench)
	}
	if err == nil {
		t.all(ctx)
		err = context.Cause(ctx)
	}
	k.Cells = t.cells
	if err != nil {
		return k, fmt.Errorf("scenarios: judge %s: %w", s.name, err)
	}
	return k, nil
}

// all hears every judge. Gates cost the most, and come last of the strong ones.
func (t *trial) all(ctx context.Context) {
	for _, j := range []struct {
		name string
		hear func(*trial, context.Context, *hearing)
	}{
		{report.ByScenarios, (*trial).byScenarios},
		{report.ByProperties, (*trial).byProperties},
		{report.ByExploration, (*trial).byExploration},
		{report.BySweep, (*trial).bySweep},
		{report.ByGates, (*trial).byGates},
		{report.InTurn, (*trial).inTurn},
		{report.InLoops, (*trial).inLoops},
	} {
		if ctx.Err() == nil && t.wanted(j.name) {
			h := newHearing(t.subject, j.name)
			j.hear(t, ctx, h)
			t.cells = append(t.cells, h.closed())
		}
	}
	slices.SortStableFunc(t.cells, func(a, b report.Cell) int {
		return slices.Index(report.Judges, a.Judge) - slices.Index(report.Judges, b.Judge)
	})
}

// wanted says whether a judge is to be heard.
func (t *trial) wanted(judge string) bool {
	return !t.want.Inputs || report.Generic(judge) && !slices.ContainsFunc(report.Judges, t.caught)
}

// caught says whether a judge has already caught it, by the law that names its sin.
func (t *trial) caught(judge string) bool {
	return slices.ContainsFunc(t.cells, func(c report.Cell) bool {
		return c.Judge == judge && c.Ruling == report.Caught && c.Named
	})
}

// fewestFirst are the suite's programs, those of the fewest sessions first.
func (t *trial) fewestFirst() []lab.Program {
	all := slices.DeleteFunc(slices.Clone(t.suite.Programs), func(p lab.Program) bool {
		return t.want.Short && len(p.Sessions) > 2
	})
	slices.SortStableFunc(all, func(a, b lab.Program) int {
		return len(a.Sessions) - len(b.Sessions)
	})
	return all
}
