package properties_test

import (
	"webhooklab/lab"
	"webhooklab/properties"
)

// outcome is one thing that a call may come to.
type outcome struct {
	answer lab.Answer
	after  *properties.ReceiptModel
	lease  *properties.Lease // a new one
}

// explain looks for an order of the calls, and outcomes of each, that explain every answer and all
// that is stored. It makes that the model's state.
func (m *receiptMachine) explain(seen []observed, stored string) bool {
	leases := append([]*properties.Lease(nil), m.leases...)
	after := m.order(m.model, seen, leases, stored)
	if after == nil {
		return false
	}
	m.model, m.leases = after, leases
	return true
}

// order tries each of the calls as the next one.
func (m *receiptMachine) order(
	from *properties.ReceiptModel, seen []observed, leases []*properties.Lease, stored string,
) *properties.ReceiptModel {
	if len(seen) == 0 {
		if from.String() == stored {
			return from
		}
		return nil
	}
	for i, o := range seen {
		rest := append(append([]observed(nil), seen[:i]...), seen[i+1:]...)
		for _, may := range m.outcomes(from, o, m.leases[o.who]) {
			if !o.fits(may.answer) {
				continue
			}
			if after := m.order(may.after, rest, leases, stored); after != nil {
				if may.lease != nil && o.answer == may.answer && o.what == "claim" {
					leases[o.who] = may.lease
				}
				return after
			}
		}
	}
	return nil
}

// fits: a fault may keep an answer from its caller, and one who gives up over it may find that he
// has nothing any more to give back.
func (o observed) fits(answer lab.Answer) bool {
	if o.answer == answer {
		return true
	}
	if o.answer == lab.Unknown {
		return o.fired || o.broken
	}
	return o.fired && o.answer.Outcome == "lease lost" && o.what != "deliver"
}

// outcomes are what a call may come to. The first is what it must come to if it is alone and no
// fault is about.
func (m *receiptMachine) outcomes(
	from *properties.ReceiptModel, o observed, lease *properties.Lease,
) []outcome {
	all := []outcome{m.soundly(from, o.act, lease)}
	if o.what == "claim" {
		// What was due, or was not, while it looked, may have changed when it had recovered.
		recovered := from.Clone()
		recovered.Recover()
		all = append(all, m.soundly(recovered, o.act, lease))
	}
	if !o.fired && o.err == nil {
		return all
	}
	return append(all, m.cut(from, o.act, lease)...)
}

// soundly is the one outcome of a call without a fault.
func (m *receiptMachine) soundly(
	from *properties.ReceiptModel, a act, lease *properties.Lease,
) (may outcome) {
	after := from.Clone()
	may.after = after
	d := a.delivery
	d.Source += m.suffix
	switch a.what {
	case "deliver":
		may.answer = after.Deliver(d)
	case "claim":
		may.lease, may.answer = after.Claim()
	case "work":
		var l *properties.Lease
		if l, may.answer = after.Claim(); l != nil {
			may.answer = after.Complete(*l)
		}
	case "complete":
		may.answer = after.Complete(*lease)
	case "fail":
		may.answer = after.Fail(*lease)
	case "release":
		may.answer = after.Release(*lease)
	case "heartbeat":
		may.answer = after.Heartbeat(*lease)
	case "recover":
		may.answer = after.Recover()
	default:
		may.answer = after.Requeue(d.Source, d.EventID)
	}
	return may
}

// cut are the further outcomes of a call that a fault may have met: nothing, each transaction
// that it had made before, and a change that failed over its connection.
func (m *receiptMachine) cut(
	from *properties.ReceiptModel, a act, lease *properties.Lease,
) (all []outcome) {
	then := func(do func(after *properties.ReceiptModel) lab.Answer) {
		after := from.Clone()
		answer := do(after)
		after.Says = m.says
		all = append(all, outcome{answer: answer, after: after})
	}
	failing := func(kind string) properties.Saying {
		if says := m.says(kind); says != properties.Changes {
			return says
		}
		return properties.Fails
	}
	then(func(*properties.ReceiptModel) lab.Answer { return lab.Unknown })
	switch a.what {
	case "deliver":
		d := a.delivery
		d.Source += m.suffix
		then(func(after *properties.ReceiptModel) lab.Answer {
			after.Says = failing
			return after.Deliver(d)
		})
		if answer := from.Clone().Deliver(d); !answer.Acked {
			all = append(all, outcome{answer: answer, after: from}) // it could not be recorded
		}
	case "claim":
		then(func(after *properties.ReceiptModel) lab.Answer {
			after.Recover()
			return lab.Unknown
		})
	case "complete":
		then(func(after *properties.ReceiptModel) lab.Answer {
			after.Says = failing
			return after.Complete(*lease)
		})
	case "work":
		then(func(after *properties.ReceiptModel) lab.Answer {
			after.Recover()
			return lab.Unknown
		})
		for _, end := range []func(*properties.ReceiptModel, properties.Lease) lab.Answer{
			func(*properties.ReceiptModel, properties.Lease) lab.Answer { return lab.Unknown },
			(*properties.ReceiptModel).Complete,
			(*properties.ReceiptModel).Release,
		} {
			then(func(after *properties.ReceiptModel) lab.Answer {
				l, answer := after.Claim()
				if l != nil {
					after.Says = failing
					answer = end(after, *l)
				}
				return answer
			})
		}
	}
	return all
}
