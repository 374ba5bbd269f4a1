package properties

import (
	"cmp"
	"maps"

	"webhooklab/lab"
)

// ReceiptModel decides what every call on receipts must answer, and what it must leave behind, when
// calls come one after the other. It knows nothing of PostgreSQL. It is not safe for concurrent
// use.
type ReceiptModel struct {
	// Atomic: the transaction that accepts an event processes it. Otherwise workers do, under
	// leases.
	Atomic bool
	// MaxAttempts is how often workers may try a receipt before somebody requeues it.
	MaxAttempts int
	// Says is what the business change comes to for an event of this type, if it is made now.
	Says func(eventType string) Saying

	clock    int64 // stands for the database's: it grows whenever a time is taken
	receipts map[eventKey]receipt
	counted  map[counting]int
}

// Saying is what a business change comes to.
type Saying int

const (
	Changes Saying = iota
	Ignores
	Fails   // and may succeed another time
	Rejects // and always will
)

// receipt is a row, as the contract sees it. Times are of the model's clock or of the database's,
// and only ever compared.
type receipt struct {
	kind, payload, status string
	attempts, most        int
	token                 int64
	came, due             int64 // due is 0 where no worker may claim it
	backing               bool  // due is yet to come
	expired               bool  // another may take it from whoever holds it
}

// counting tells a source's deliveries by what they were: new, duplicate, conflict, invalid.
type counting struct{ source, as string }

// Clone is a model that goes its own way from here.
func (m *ReceiptModel) Clone() *ReceiptModel {
	c := *m
	c.receipts, c.counted = maps.Clone(m.receipts), maps.Clone(m.counted)
	return &c
}

func ack(outcome string) lab.Answer { return lab.Answer{Outcome: outcome, Acked: true} }

// Deliver says what a delivery must be answered, [lab.Unknown] where its change fails, and does
// what it does.
func (m *ReceiptModel) Deliver(d lab.Delivery) lab.Answer {
	payload, sound := readPayload(d)
	if !sound {
		m.count(d.Source, "invalid")
		return lab.Invalid
	}
	key := eventKey{d.Source, d.EventID}
	r, known := m.receipts[key]
	switch {
	case !known:
		m.count(d.Source, "new")
	case r.kind != d.Type || r.payload != payload:
		m.count(d.Source, "conflict")
		return lab.ReusedEventID
	default:
		m.count(d.Source, "duplicate")
	}
	if known && (!m.Atomic || r.status != "failed") {
		return lab.Duplicate
	}
	if !known {
		r = receipt{kind: d.Type, payload: payload, came: m.tick()}
	}
	answer := m.accept(&r)
	m.set(key, r)
	return answer
}

// accept stores a new receipt, or makes the attempt of an atomic one.
func (m *ReceiptModel) accept(r *receipt) lab.Answer {
	if !m.Atomic {
		r.status, r.most, r.due = "pending", m.MaxAttempts, r.came
		return ack("accepted")
	}
	r.attempts++
	if answer := m.process(r); r.status != "failed" {
		return answer
	}
	return lab.Unknown
}

// process ends an attempt by what the change comes to, but for the attempts that are left.
func (m *ReceiptModel) process(r *receipt) lab.Answer {
	switch m.Says(r.kind) {
	case Rejects:
		r.status = "rejected"
		return ack("rejected")
	case Fails:
		r.status = "failed"
		return ack("failed")
	case Ignores:
		r.status = "processed"
		return ack("ignored")
	default:
		r.status = "processed"
		return ack("processed")
	}
}

// readPayload gives the identity of a delivery's payload; false when the delivery breaks the shape.
func readPayload(d lab.Delivery) (string, bool) {
	if !isText(d.Source, maxSource) || !isText(d.EventID, maxText) || !isText(d.Type, maxText) {
		return "", false
	}
	identity, err := Canonical(d.Payload)
	return identity, err == nil
}

// Counts is how many of a source's deliveries left a row, told apart by what they were.
func (m *ReceiptModel) Counts(source string) map[string]int {
	of := map[string]int{}
	for c, n := range m.counted {
		if c.source == source {
			of[c.as] = n
		}
	}
	return of
}

// Unfinished is how many receipts are not in a status that ends them: processed, rejected, dead.
func (m *ReceiptModel) Unfinished() (n int) {
	for _, r := range m.receipts {
		switch r.status {
		case "processed", "rejected", "dead":
		default:
			n++
		}
	}
	return n
}

func (m *ReceiptModel) count(source, as string) {
	if m.counted == nil {
		m.counted = map[counting]int{}
	}
	m.counted[counting{source, as}]++
}

func (m *ReceiptModel) set(key eventKey, r receipt) {
	if m.receipts == nil {
		m.receipts = map[eventKey]receipt{}
	}
	m.receipts[key] = r
}

func (m *ReceiptModel) tick() int64 {
	m.clock++
	return m.clock
}

func (k eventKey) compare(o eventKey) int {
	return cmp.Or(cmp.Compare(k.source, o.source), cmp.Compare(k.event, o.event))
}
