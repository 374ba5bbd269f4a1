package properties

import (
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
)

// refused names a refusal as far as every receiver's State can show it. Of an invalid delivery the
// event id is left out: it may be what no table can hold.
type refused struct{ source, event, outcome string }

// RefusedOnce compares the refusals on record with the answers: every distinct delivery that was
// refused has one row, which counts how often it came. Two deliveries are distinct when any byte
// of them differs.
//
// With faults a refusal may have been recorded and its answer lost, or answered and its record
// lost; then only what was answered at least once without a fault beside it is sure, and the
// counters are a sender's lower bound: what is checked is that no refusal has two rows.
func RefusedOnce(ops []lab.Operation, rows []Refusal, faults bool) []string {
	want := map[refused][]int64{}
	for _, c := range countRefusals(ops) {
		want[c.refused] = append(want[c.refused], c.deliveries)
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
	for key, deliveries := range want {
		if problem := compareRows(deliveries, got[key], faults); problem != "" {
			offences = append(offences, fmt.Sprintf("%+v: %s", key, problem))
		}
		delete(got, key)
	}
	for key, deliveries := range got {
		offences = append(offences, fmt.Sprintf("%+v: %d rows of what was never refused",
			key, len(deliveries)))
	}
	slices.Sort(offences)
	return offences
}

func compareRows(want, got []int64, faults bool) string {
	slices.Sort(want)
	slices.Sort(got)
	if faults && len(got) == len(want) || slices.Equal(want, got) {
		return ""
	}
	return fmt.Sprintf("%d rows that count %v deliveries, want %d that count %v",
		len(got), got, len(want), want)
}

type countedRefusal struct {
	refused
	deliveries int64
}

// countRefusals counts the refused answers of each distinct delivery.
func countRefusals(ops []lab.Operation) map[string]countedRefusal {
	distinct := map[string]countedRefusal{}
	for _, op := range ops {
		if op.Answer.Acked || op.Answer == lab.Unknown {
			continue
		}
		d := op.Delivery
		key := refused{source: d.Source, outcome: op.Answer.Outcome}
		if e, sound := read(d); sound {
			key.event = e.id
		}
		name := fmt.Sprintf("%s %q %q %q %d %q %t %q", key.outcome, d.Source, d.EventID,
			d.ObjectID, d.Revision, d.Snapshot, d.Body == nil, d.Body)
		c := distinct[name]
		distinct[name] = countedRefusal{key, c.deliveries + 1}
	}
	return distinct
}

// outcomeOf is the answer that a reason on record stands for: reused_event_id, reused_revision, and
// any other is one of the many that make a delivery invalid.
func outcomeOf(reason string) string {
	for _, a := range []lab.Answer{lab.ReusedEventID, lab.ReusedRevision} {
		if strings.ReplaceAll(reason, "_", " ") == a.Outcome {
			return a.Outcome
		}
	}
	return lab.Invalid.Outcome
}
