package properties

import (
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
)

// RefusedOnce compares the refusals on record with the answers: every distinct delivery that was
// refused has one row, which counts how often it came. Two deliveries are distinct when any byte
// of them differs.
//
// Operations before calm had faults about them. What was refused there may have been recorded and
// its answer lost, or answered and its record lost: a row for it may be there, and its counter
// says little; two rows may not.
func RefusedOnce(ops []lab.Operation, rows []Refusal, calm int) []string {
	must, may := countRefusals(ops[calm:]), countRefusals(ops)
	for _, op := range ops[:calm] {
		may.possible(op)
	}
	got := map[refused][]int64{}
	for _, r := range rows {
		key := refused{r.Source, r.EventID, outcomeOf(r.Reason)}
		if key.outcome == lab.Invalid.Outcome {
			key.event = ""
		}
		got[key] = append(got[key], r.Deliveries)
	}
	var offences []string
	for key := range got {
		must.name(key)
	}
	for key := range must {
		offences = append(offences, compareRows(key, must[key], may[key], got[key], calm > 0)...)
	}
	slices.Sort(offences)
	return offences
}

// refused names a refusal as far as every receiver's State can show it. Of an invalid delivery the
// event id is left out: it may be what no table can hold.
type refused struct{ source, event, outcome string }

// refusals counts, under each name, how often each distinct delivery was refused.
type refusals map[refused]map[string]int64

func (r refusals) name(key refused) map[string]int64 {
	if r[key] == nil {
		r[key] = map[string]int64{}
	}
	return r[key]
}

func countRefusals(ops []lab.Operation) refusals {
	r := refusals{}
	for _, op := range ops {
		if !op.Answer.Acked && op.Answer != lab.Unknown {
			r.name(refusal(op.Delivery, op.Answer))[bytesOf(op.Delivery)]++
		}
	}
	return r
}

// possible adds what an unknown answer may have been.
func (r refusals) possible(op lab.Operation) {
	if op.Answer != lab.Unknown {
		return
	}
	for _, a := range []lab.Answer{lab.ReusedEventID, lab.ReusedRevision, lab.Invalid} {
		r.name(refusal(op.Delivery, a))[bytesOf(op.Delivery)]++
	}
}

func refusal(d lab.Delivery, a lab.Answer) refused {
	key := refused{source: d.Source, outcome: a.Outcome}
	if e, sound := read(d); sound && a != lab.Invalid {
		key.event = e.id
	}
	return key
}

func bytesOf(d lab.Delivery) string {
	return fmt.Sprintf("%q %q %d %q %t %q",
		d.EventID, d.ObjectID, d.Revision, d.Snapshot, d.Body != nil, d.Body)
}

// compareRows looks at the rows under one name.
func compareRows(key refused, must, may map[string]int64, got []int64, faults bool) []string {
	if faults && len(must) <= len(got) && len(got) <= len(may) {
		return nil
	}
	var want []int64
	for _, deliveries := range must {
		want = append(want, deliveries)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !faults && slices.Equal(want, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s of %q from %s: %d rows that count %v deliveries, "+
		"want %d that count %v, and %d at most",
		key.outcome, key.event, key.source, len(got), got, len(want), want, len(may))}
}

// outcomeOf is the answer that a reason on record stands for: reused_event_id, reused_revision,
// and any other is one of the many that make a delivery invalid.
func outcomeOf(reason string) string {
	for _, a := range []lab.Answer{lab.ReusedEventID, lab.ReusedRevision} {
		if strings.ReplaceAll(reason, "_", " ") == a.Outcome {
			return a.Outcome
		}
	}
	return lab.Invalid.Outcome
}
