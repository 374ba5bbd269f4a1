package properties_test

import (
	"fmt"

	"webhooklab/lab"
	"webhooklab/properties"
)

// A world is what may be the case: of two that claimed at once, nobody knows who has what.
type world struct {
	model  *properties.ReceiptModel
	leases [actors + 1]*properties.Lease // what each actor holds, the last one the healthy
}

func (w world) split() world {
	w.model = w.model.Clone()
	return w
}

// outcome is one thing that a call may come to, or the first half of it may.
type outcome struct {
	answer lab.Answer
	world
	rest *observed // what is left of the call
}

// explain gives every world that some order of the calls, and an outcome of each, comes to, if
// they agree with all answers and with what is stored.
func (m *receiptMachine) explain(seen []observed, stored string) (found []world) {
	known := map[string]bool{}
	for _, w := range m.worlds {
		m.order(w, seen, seen, func(after world) {
			if name := fmt.Sprint(after.leases); after.model.String() == stored && !known[name] {
				known[name] = true
				found = append(found, after)
			}
		})
	}
	return found
}

// order tries each of the calls that are left as the next one, and yields the worlds in which all
// are made.
func (m *receiptMachine) order(from world, all, left []observed, yield func(world)) {
	if len(left) == 0 {
		yield(from)
		return
	}
	for i, o := range left {
		others := append(append([]observed(nil), left[:i]...), left[i+1:]...)
		for _, may := range m.outcomes(from, o, all) {
			switch {
			case may.rest != nil:
				m.order(may.world, all, append(others, *may.rest), yield)
			case o.fits(may.answer):
				if o.answer == lab.Unknown {
					may.leases = from.leases // a claim that nobody heard of
				}
				m.order(may.world, all, others, yield)
			}
		}
	}
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

// outcomes are what a call, or the rest of one, may come to beside all these.
func (m *receiptMachine) outcomes(from world, o observed, beside []observed) []outcome {
	all := []outcome{m.soundly(from, o)}
	if o.change {
		m.storms = !m.storms
		all = append(all, m.soundly(from, o))
		m.storms = !m.storms
	}
	if o.claims() {
		// What was due, or was not, while it looked, may have changed when it had recovered.
		all = append(all, m.soundly(m.recovered(from), o))
	}
	if o.claims() || o.what == "recover" {
		all = append(all, m.skipping(from, o, beside)...)
	}
	if o.fired || o.broken {
		all = append(all, m.cut(from, o)...)
	}
	return all
}

// claims: the call begins with a claim.
func (o observed) claims() bool {
	return o.what == "claim" || o.what == "work" && o.begun == nil
}

func (m *receiptMachine) recovered(from world) world {
	to := from.split()
	to.model.Recover()
	return to
}

// skipping are the outcomes of a claim or recovery that skips what another call had locked before
// a fault undid it.
func (m *receiptMachine) skipping(from world, o observed, beside []observed) (all []outcome) {
	for _, other := range beside {
		if other.who == o.who || !other.fired && !other.broken {
			continue
		}
		var may outcome
		to := from.split()
		to.model.Skipping(other.locks(from), func() { may = m.goOn(to, o) })
		all = append(all, may)
	}
	return all
}

// locks are the rows that a call may lock and that others skip.
func (o observed) locks(in world) properties.Rows {
	switch {
	case o.claims():
		return append(in.model.Next(), in.model.Expired()...)
	case o.what == "recover":
		return in.model.Expired()
	case o.what == "deliver", o.what == "requeue", o.what == "work":
		return nil
	}
	return in.leases[o.who].Row()
}

// soundly is what comes of a call without a fault.
func (m *receiptMachine) soundly(from world, o observed) outcome {
	return m.goOn(from.split(), o)
}

// goOn makes a call in this very world. Work is left over after its claim.
func (m *receiptMachine) goOn(to world, o observed) outcome {
	if o.what != "work" || o.begun != nil {
		return outcome{answer: m.make(&to, o), world: to}
	}
	lease, answer := to.model.Claim()
	if lease == nil {
		return outcome{answer: answer, world: to}
	}
	o.begun = lease
	return outcome{world: to, rest: &o}
}

// make makes a call in this world and gives the answer.
func (m *receiptMachine) make(in *world, o observed) lab.Answer {
	lease := in.leases[o.who]
	d := o.delivery
	d.Source += m.suffix
	switch o.what {
	case "deliver":
		return in.model.Deliver(d)
	case "claim":
		l, answer := in.model.Claim()
		if l != nil {
			in.leases[o.who] = l
		}
		return answer
	case "work":
		return in.model.Complete(*o.begun)
	case "complete":
		return in.model.Complete(*lease)
	case "fail":
		return in.model.Fail(*lease)
	case "release":
		return in.model.Release(*lease)
	case "heartbeat":
		return in.model.Heartbeat(*lease)
	case "recover":
		return in.model.Recover()
	default:
		return in.model.Requeue(d.Source, d.EventID)
	}
}

// cut are the further outcomes of a call that a fault may have met: nothing, a change that failed
// over its connection, a lease that was given back over it.
func (m *receiptMachine) cut(from world, o observed) []outcome {
	all := []outcome{{answer: lab.Unknown, world: from}}
	switch {
	case o.claims():
		all = append(all, outcome{answer: lab.Unknown, world: m.recovered(from)})
	case o.what == "work":
		released := from.split()
		answer := released.model.Release(*o.begun)
		all = append(all, m.failing(from, o), outcome{answer: answer, world: released})
	case o.what == "complete":
		all = append(all, m.failing(from, o))
	case o.what == "deliver":
		all = append(all, m.failing(from, o))
		if answer := m.soundly(from, o).answer; !answer.Acked {
			all = append(all, outcome{answer: answer, world: from}) // it could not be recorded
		}
	}
	return all
}

// failing is the outcome of a call whose change can't be made.
func (m *receiptMachine) failing(from world, o observed) outcome {
	to := from.split()
	to.model.Says = func(kind string) properties.Saying {
		if says := m.says(kind); says != properties.Changes {
			return says
		}
		return properties.Fails
	}
	answer := m.make(&to, o)
	to.model.Says = m.says
	return outcome{answer: answer, world: to}
}
