package properties

import (
	"fmt"

	"webhooklab/lab"
)

// A Lease is what a worker holds of a receipt: the token that it got with it.
type Lease struct {
	key   eventKey
	token int64
}

func (l Lease) String() string {
	return fmt.Sprintf("%s %s by token %d", l.key.source, l.key.event, l.token)
}

// Row is the receipt that it is on.
func (l Lease) Row() Rows { return Rows{l.key} }

func leaseLost() lab.Answer { return lab.Answer{Outcome: "lease lost"} }

// Claim takes the receipt that has been due for longest. If none is due, expired leases are
// recovered first.
func (m *ReceiptModel) Claim() (*Lease, lab.Answer) {
	next := m.Next()
	if len(next) == 0 {
		m.Recover() // what returns by that backs off
		return nil, ack("idle")
	}
	r := m.receipts[next[0]]
	r.status, r.due, r.expired = "processing", 0, false
	r.attempts++
	r.token++
	m.set(next[0], r)
	return &Lease{next[0], r.token}, ack("claimed")
}

// Rows are receipts that a call may lock.
type Rows []eventKey

// Next is the receipt that a claim takes, if there is one.
func (m *ReceiptModel) Next() (next Rows) {
	for key, r := range m.receipts {
		if r.due == 0 || r.backing {
			continue
		}
		if next == nil || r.due < m.receipts[next[0]].due {
			next = Rows{key}
		}
	}
	return next
}

// Expired are the receipts that a recovery takes.
func (m *ReceiptModel) Expired() (expired Rows) {
	for key, r := range m.receipts {
		if r.expired {
			expired = append(expired, key)
		}
	}
	return expired
}

// Skipping makes a claim or a recovery while these are locked by somebody else.
func (m *ReceiptModel) Skipping(locked Rows, do func()) {
	aside := map[eventKey]receipt{}
	for _, key := range locked {
		if r, there := m.receipts[key]; there {
			aside[key] = r
			delete(m.receipts, key)
		}
	}
	do()
	for key, r := range aside {
		m.set(key, r)
	}
}

// Complete makes the change and ends the attempt.
func (m *ReceiptModel) Complete(l Lease) lab.Answer {
	return m.fenced(l, func(r *receipt) lab.Answer {
		answer := m.process(r)
		if r.status == "failed" {
			return r.fail()
		}
		return answer
	})
}

// Fail ends the attempt for a passing reason.
func (m *ReceiptModel) Fail(l Lease) lab.Answer { return m.fenced(l, (*receipt).fail) }

func (r *receipt) fail() lab.Answer {
	r.status = "failed"
	r.backOff()
	return ack(r.status)
}

// backOff makes it wait for its next attempt, if it has one.
func (r *receipt) backOff() {
	r.due, r.backing = 1, true
	if r.attempts == r.most {
		r.status, r.due, r.backing = "dead", 0, false
	}
}

// Heartbeat makes the lease as long as a new one.
func (m *ReceiptModel) Heartbeat(l Lease) lab.Answer {
	return m.fenced(l, func(*receipt) lab.Answer { return ack("heartbeat") })
}

// Release gives the receipt back into its place in the order received.
func (m *ReceiptModel) Release(l Lease) lab.Answer {
	return m.fenced(l, func(r *receipt) lab.Answer {
		r.status, r.due = "pending", r.came
		r.most++
		return ack("released")
	})
}

// fenced does something to the receipt for whoever holds its current token.
func (m *ReceiptModel) fenced(l Lease, do func(*receipt) lab.Answer) lab.Answer {
	r := m.receipts[l.key]
	if r.status != "processing" || r.token != l.token {
		return leaseLost()
	}
	r.expired = false
	answer := do(&r)
	m.set(l.key, r)
	return answer
}

// Recover takes every receipt whose lease has expired away from its holder.
func (m *ReceiptModel) Recover() lab.Answer {
	n := 0
	for key, r := range m.receipts {
		if !r.expired {
			continue
		}
		n++
		r.status, r.expired = "pending", false
		r.backOff()
		m.set(key, r)
	}
	return ack(fmt.Sprintf("recovered %d", n))
}

// Requeue gives a dead receipt five more attempts, the first at once.
func (m *ReceiptModel) Requeue(source, event string) lab.Answer {
	key := eventKey{source, event}
	r := m.receipts[key]
	if r.status != "dead" {
		return lab.Invalid
	}
	r.status, r.most, r.due = "pending", r.attempts+5, m.tick()
	m.set(key, r)
	return ack("requeued")
}

// Expire ends the lease on a receipt, if there is one.
func (m *ReceiptModel) Expire(source, event string) {
	key := eventKey{source, event}
	if r := m.receipts[key]; r.status == "processing" {
		r.expired = true
		m.set(key, r)
	}
}

// Due ends the backoff of a receipt, if there is one.
func (m *ReceiptModel) Due(source, event string) {
	key := eventKey{source, event}
	if r := m.receipts[key]; r.backing {
		r.due, r.backing = m.tick(), false
		m.set(key, r)
	}
}

// Bound leaves a receipt that has not come to an end with one more attempt, or with the one that
// is under way.
func (m *ReceiptModel) Bound(source, event string) {
	key := eventKey{source, event}
	r := m.receipts[key]
	switch r.status {
	case "pending", "failed":
		r.most = r.attempts + 1
	case "processing":
		r.most = r.attempts
	default:
		return
	}
	m.set(key, r)
}

// Status is that of an event's receipt, "" if there is none.
func (m *ReceiptModel) Status(source, event string) string {
	return m.receipts[eventKey{source, event}].status
}
