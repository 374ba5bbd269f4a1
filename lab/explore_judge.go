package lab

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5"
)

// judge demands the laws of all leaves at once, by their fresh names, and looks for the guilty only
// when somebody is.
func (x *explorer) judge(ctx context.Context) {
	batch := x.batch
	x.batch = nil
	if len(batch) == 0 {
		return
	}
	l := x.lab
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	for _, law := range l.cfg.Laws {
		if err := x.lawOf(ctx, law, batch); err != nil {
			batch[0].accuse(VerdictUnknown, law.Law, err.Error())
		}
	}
	states, err := x.statesOf(ctx, batch)
	if err != nil {
		batch[0].accuse(VerdictUnknown, x.want.Program.Law, err.Error())
	}
	for _, lf := range batch {
		if !lf.cut {
			answers := strings.Join(lf.answers, " ")
			x.done.Outcomes[answers]++
			x.done.States[answers+"\n"+states[lf.run]]++
		}
		if lf.report.Verdict != VerdictValid && len(x.done.Failures) < x.want.Stop {
			x.done.Failures = append(x.done.Failures, Failure{Schedule: lf.schedule, Report: lf.report})
		}
	}
}

// judged demands the laws of one run alone.
func (x *explorer) judged(ctx context.Context, lf leaf) Report {
	x.batch = []leaf{lf}
	x.judge(ctx)
	if len(x.done.Failures) > 0 {
		return x.done.Failures[0].Report
	}
	return lf.report
}

// answersOf holds a leaf's answers against those that its program allows.
func (x *explorer) answersOf(lf *leaf) {
	p := x.want.Program
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

// lawOf checks one law for the whole batch, and for each leaf if that finds something.
func (x *explorer) lawOf(ctx context.Context, law Invariant, batch []leaf) error {
	found, err := x.check(ctx, law, batch)
	if err != nil || len(found) == 0 {
		return err
	}
	if len(batch) > 1 {
		half := len(batch) / 2
		if err := x.lawOf(ctx, law, batch[:half]); err != nil {
			return err
		}
		return x.lawOf(ctx, law, batch[half:])
	}
	l, lf := x.lab, &batch[0]
	if lf.report.Verdict == VerdictUnknown {
		return nil // it stopped half way
	}
	text := strings.ReplaceAll(found[0], "~"+lf.run, "")
	lf.accuse(VerdictInvalid, law.Law, l.plain(fmt.Sprintf(
		"law %s is broken by %d row(s), the first: %s", law.Name, len(found), text)))
	return nil
}

func (x *explorer) check(ctx context.Context, law Invariant, batch []leaf) ([]string, error) {
	var sources []string
	var ops []Operation
	for _, lf := range batch {
		sources = append(sources, lf.sources...)
		ops = append(ops, lf.report.History.Operations()...)
	}
	return law.Check(ctx, x.lab.observer.conn, x.lab.cfg.State, sources, ops)
}

// statesOf reads what the receiver shows of each leaf, under stable names, by the leaf's run.
func (x *explorer) statesOf(ctx context.Context, batch []leaf) (map[string]string, error) {
	var sources []string
	for _, lf := range batch {
		sources = append(sources, lf.sources...)
	}
	rows := map[string][]string{}
	for _, t := range x.lab.cfg.State {
		found, err := x.lab.observer.conn.Query(ctx, `
SELECT source, row_to_json(t)::text
  FROM (`+t.SQL+`) AS t
 WHERE source = ANY ($1::text[])`, sources)
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", t.Name, err)
		}
		_, err = pgx.CollectRows(found, func(r pgx.CollectableRow) (struct{}, error) {
			var source, row string
			err := r.Scan(&source, &row)
			if _, run, fresh := strings.Cut(source, "~"); fresh {
				rows[run] = append(rows[run], t.Name+" "+strings.ReplaceAll(row, "~"+run, ""))
			}
			return struct{}{}, err
		})
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", t.Name, err)
		}
	}
	states := map[string]string{}
	for run, all := range rows {
		sort.Strings(all)
		states[run] = strings.Join(all, "\n")
	}
	return states, nil
}
