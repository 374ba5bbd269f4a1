package lab

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

// judge demands the laws of all runs of the batch and counts how they ended.
func (x *explorer) judge(ctx context.Context) {
	batch := x.batch
	x.batch = nil
	x.demand(ctx, batch)
	for _, lf := range batch {
		if !lf.cut {
			x.done.count(lf, x.want.List)
		}
		if lf.report.Verdict != VerdictValid && len(x.done.Failures) < x.want.Stop {
			x.done.Failures = append(x.done.Failures, Failure{Schedule: lf.schedule, Report: lf.report})
		}
	}
}

// demand has each lab judge the runs that left their rows in its database, while nobody plays.
func (x *explorer) demand(ctx context.Context, batch []*leaf) {
	mine := map[*Lab][]*leaf{}
	for _, lf := range batch {
		if !lf.judged {
			mine[lf.lab] = append(mine[lf.lab], lf)
		}
	}
	if len(mine) == 0 {
		return
	}
	for _, r := range x.sent {
		x.crew.rest(r.job)
	}
	var judges sync.WaitGroup
	for l, leaves := range mine {
		judges.Go(func() { l.judgeRuns(ctx, x.want.Program.Law, leaves) })
	}
	judges.Wait()
}

// judgeRuns demands the laws of all these runs at once, by their fresh names, and looks for the
// guilty only when somebody is.
func (l *Lab) judgeRuns(ctx context.Context, law string, leaves []*leaf) {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	sources, ops := left(leaves)
	suspects, rows, err := l.remains(ctx, sources, ops)
	for _, law := range suspects {
		if err := l.lawOf(ctx, law, leaves); err != nil {
			leaves[0].accuse(VerdictUnknown, law.Law, err.Error())
		}
	}
	if err != nil {
		leaves[0].accuse(VerdictUnknown, law, err.Error())
	}
	states := statesOf(rows)
	for _, lf := range leaves {
		lf.judged, lf.state = true, states[lf.run]
	}
}

// left is what runs have left behind: their sources, and what their senders were told.
func left(leaves []*leaf) (sources []string, ops []Operation) {
	for _, lf := range leaves {
		sources = append(sources, lf.sources...)
		ops = append(ops, lf.report.History.Operations()...)
	}
	return sources, ops
}

// judged demands the laws of one run alone.
func (l *Lab) judged(ctx context.Context, law string, done played) Report {
	lf := leaf{played: done, lab: l}
	l.judgeRuns(ctx, law, []*leaf{&lf})
	return lf.report
}

// answersOf holds a leaf's answers against those that its program allows.
func (lf *leaf) answersOf(p Program) {
	got := strings.Join(lf.answers, " ")
	switch {
	case lf.cut || lf.report.Verdict != VerdictValid:
	case p.Answers != nil && !slices.Contains(p.Answers, got):
		lf.accuse(VerdictInvalid, p.Law, fmt.Sprintf("the answers were %q; in every order they are %s",
			got, either(p.Answers)))
	case p.NoWaits && len(lf.report.Waits) > 0:
		w := lf.report.Waits[0]
		lf.accuse(VerdictInvalid, p.Law, fmt.Sprintf("%s waits for %s, in %s",
			w.Session, strings.Join(w.For, ", "), w.Command))
	case p.Answers == nil && !p.Retried && slices.Contains(lf.answers, Unknown.Outcome):
		lf.accuse(VerdictInvalid, p.Law, "a sender was told nothing, although nothing was cut off: "+
			got)
	}
}

func either(all []string) string {
	quoted := make([]string, len(all))
	for i, a := range all {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return strings.Join(quoted, " or ")
}

func (lf *leaf) accuse(v Verdict, law, text string) {
	lf.report.Offences = append(lf.report.Offences, Offence{Verdict: v, Law: law, Text: text})
	lf.report.Verdict = max(lf.report.Verdict, v)
}

// lawOf checks one law for all leaves, and for each if that finds something.
func (l *Lab) lawOf(ctx context.Context, law Invariant, leaves []*leaf) error {
	sources, ops := left(leaves)
	found, err := law.Check(ctx, l.observer.conn, l.cfg.State, sources, ops)
	if err != nil || len(found) == 0 {
		return err
	}
	if len(leaves) > 1 {
		half := len(leaves) / 2
		if err := l.lawOf(ctx, law, leaves[:half]); err != nil {
			return err
		}
		return l.lawOf(ctx, law, leaves[half:])
	}
	lf := leaves[0]
	if lf.report.Verdict == VerdictUnknown {
		return nil // it stopped half way
	}
	text := strings.ReplaceAll(found[0], "~"+lf.run, "")
	lf.accuse(VerdictInvalid, law.Law, l.plain(fmt.Sprintf(
		"law %s is broken by %d row(s), the first: %s", law.Name, len(found), text)))
	return nil
}

// statesOf sorts rows by the run that left them, under stable names.
func statesOf(all []remnant) map[string]string {
	rows := map[string][]string{}
	for _, r := range all {
		if _, run, fresh := strings.Cut(r.source, "~"); fresh {
			rows[run] = append(rows[run], r.table+" "+strings.ReplaceAll(r.row, "~"+run, ""))
		}
	}
	states := map[string]string{}
	for run, lines := range rows {
		sort.Strings(lines)
		states[run] = strings.Join(lines, "\n")
	}
	return states
}
