package scenarios

import (
	"fmt"

	"webhooklab/lab"
	"webhooklab/properties"
)

// says is what Change comes to, while it storms or not.
func says(storms *bool) func(kind string) properties.Saying {
	return func(kind string) properties.Saying {
		switch {
		case kind == "order.unpayable":
			return properties.Rejects
		case kind == "order.viewed":
			return properties.Ignores
		case kind == "order.flaky" && *storms:
			return properties.Fails
		}
		return properties.Changes
	}
}

// atomic delivers orders of every kind in any weather.
func (d *draw) atomic() {
	storms := false
	m := &properties.ReceiptModel{Atomic: true, MaxAttempts: 3, Says: says(&storms)}
	for range 2 + d.IntN(mostDrawn) {
		d.weather(&storms)
		e := d.order()
		d.delivers(e, m.Deliver(e))
	}
	calm(d.Lab)
}

// weather changes now and then.
func (d *draw) weather(storms *bool) {
	if d.IntN(4) > 0 {
		return
	}
	calm(d.Lab)
	if *storms = !*storms; *storms {
		storm(d.Lab)
	}
}

// order is one of a few events; a broken sender says something else under its id, or nothing sound.
func (d *draw) order() lab.Delivery {
	kinds := []string{"paid", "flaky", "viewed", "unpayable"}
	n := d.IntN(len(kinds))
	e := order(fmt.Sprintf("evt_%d", n+1), kinds[n])
	switch d.IntN(12) {
	case 0:
		e.Payload = []byte(` {"order" : 7.0}`)
	case 1:
		e.Payload = []byte(`{"order": 8}`)
	case 2:
		e.Type = one(d, "order.viewed", "order.paid")
	case 3:
		e.Payload = []byte(one(d, `{`, ``, `{"order": "\u0000"}`))
	}
	return e
}

// A holder is a worker with the lease that it claimed.
type holder struct {
	*lab.Session
	lease *properties.Lease
}

// leased has two workers do everything that workers can do, while leases expire and backoffs end.
func (d *draw) leased() {
	storms := false
	m := &properties.ReceiptModel{MaxAttempts: 3, Says: says(&storms)}
	workers := []*holder{{Session: d.Session("one")}, {Session: d.Session("other")}}
	for range 2 * mostDrawn {
		d.weather(&storms)
		w := one(d, workers...)
		switch d.IntN(5) {
		case 0:
			e := d.order()
			d.delivers(e, m.Deliver(e))
		case 1:
			d.expires(m)
		case 2:
			d.recovers(w, m)
		default:
			d.works(w, m)
		}
	}
	calm(d.Lab)
	drained(d.Lab)
}

// works claims a receipt, or does something with the one that is held.
func (d *draw) works(w *holder, m *properties.ReceiptModel) {
	if w.lease == nil {
		lease, want := m.Claim()
		w.lease = lease
		d.expects(w.Name+" claims, which", want, w.Does("claim", clerk(Clerk.Claim)))
		return
	}
	lease := *w.lease
	if d.IntN(3) == 0 {
		d.expects("a heartbeat", m.Heartbeat(lease), w.Does("heartbeat", clerk(Clerk.Heartbeat)))
		return
	}
	w.lease = nil
	switch d.IntN(4) {
	case 0:
		d.expects("a failure", m.Fail(lease), w.Does("fail", clerk(Clerk.Fail)))
	case 1:
		d.expects("a release", m.Release(lease), w.Does("release", clerk(Clerk.Release)))
	default:
		d.expects("a completion", m.Complete(lease), w.Does("complete", clerk(Clerk.Complete)))
	}
}

func (d *draw) recovers(w *holder, m *properties.ReceiptModel) {
	d.expects("a recovery", m.Recover(), w.Does("recover", clerk(Clerk.Recover)))
}

// expires ends every lease, or the backoff of every receipt, each at a time of its own.
func (d *draw) expires(m *properties.ReceiptModel) {
	leases := d.IntN(2) == 0
	for n := range 4 {
		id := fmt.Sprintf("evt_%d", n+1)
		if leases {
			m.Expire("shop", id)
			d.Quietly(`UPDATE webhook_receipt SET lease_expires_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND status = 'processing'`, d.Source("shop"), id)
			continue
		}
		m.Due("shop", id)
		d.Quietly(`UPDATE webhook_receipt SET next_attempt_at = clock_timestamp()
 WHERE source = $1 AND event_id = $2 AND next_attempt_at > clock_timestamp()`, d.Source("shop"), id)
	}
}

// outbox makes changes, sends, loses leases and sends again. The laws know what must come of it.
func (d *draw) outbox() {
	for range mostDrawn {
		s := d.Session(one(d, "one", "other"))
		switch d.IntN(4) {
		case 0:
			e := order(fmt.Sprintf("evt_%d", 1+d.IntN(4)), one(d, "paid", "cancelled"))
			s.Send(e)
		case 1:
			expireMail(d.Lab)
			s.Does("recover", poster(Poster.Recover))
		default:
			s.Does("dispatch", poster(Poster.Dispatch))
		}
		dueMail(d.Lab)
	}
	posted(d.Lab)
}

// emails delivers, corrects and adds the message, in any order. The laws know the set's state.
func (d *draw) emails() {
	kinds := []string{"sent", "deferred", "delivered", "bounced", "complained", "opened", "clicked"}
	s := d.Session("sender")
	for range mostDrawn {
		switch d.IntN(8) {
		case 0:
			s.Does("add message", addMessageOf(d.Lab))
		case 1:
			voided(s, d.Lab, one(d, kinds...)).Ends()
		default:
			d.expects("an email event", lab.Answer{Outcome: "acknowledged"},
				acknowledged(s.Send(d.email(kinds))))
		}
	}
	s.Does("add message", addMessageOf(d.Lab))
}

// email is an event with the provider's time, which is the same whenever it comes.
func (d *draw) email(kinds []string) lab.Delivery {
	n := d.IntN(len(kinds))
	return timed(kinds[n], fmt.Sprintf("12:0%d", (n*5)%3))
}

// acknowledged is what any positive answer comes to.
func acknowledged(a lab.Answer) lab.Answer {
	if a.Acked {
		a.Outcome = "acknowledged"
	}
	return a
}
