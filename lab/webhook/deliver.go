package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"webhooklab/lab/inbox"
)

// deliver takes one request through its stages: read, verify, map, store, answer.
//
// The work doesn't end with the sender's connection. Nothing would be lost if it did, but a sender
// whose time-out is shorter than a busy database's answer would cancel each of its attempts just
// before COMMIT and never get an event through; and a cancelled statement costs its connection.
// So the work has a bound of its own, and the next attempt of such a sender is a duplicate. A
// server's Shutdown waits for it.
func (h *handler) deliver(w http.ResponseWriter, r *http.Request, route *Route) {
	began := time.Now()
	body, refused := h.readBody(w, r)
	if refused != nil {
		h.refuse(w, route, *refused)
		return
	}
	if err := h.verify(route, r.Header, body); err != nil {
		h.refuseSignature(w, route, err)
		return
	}
	ctx, cancel := context.WithTimeout(
		context.WithoutCancel(r.Context()), h.limits.WorkTimeout)
	defer cancel()
	if route.Batch {
		h.deliverBatch(ctx, w, r.Header, body, route, began)
		return
	}
	h.answerOne(ctx, w, route, h.decide(ctx, route, r.Header, body), began)
}

// answerOne tells everybody what came of one delivery.
func (h *handler) answerOne(
	ctx context.Context, w http.ResponseWriter, route *Route, decided result, began time.Time,
) {
	h.tell(ctx, route, decided)
	counted, name := decided.class()
	h.metrics.took(route, counted, time.Since(began))
	status := counted.status(name)
	if status == http.StatusOK {
		writeJSON(w, status, "application/json", answer{Outcome: name})
		return
	}
	problem{Status: status, Code: name}.write(w, h.limits.RetryAfter)
}

// decide maps and stores one event.
func (h *handler) decide(
	ctx context.Context, route *Route, header http.Header, body []byte,
) result {
	e, err := h.read(route, header, body)
	e.Source, e.Raw = route.Source, body
	if err != nil {
		return h.refuseEvent(ctx, result{event: e, err: err})
	}
	outcome, err := h.receive(ctx, route, e)
	var missing *entryError
	if errors.As(err, &missing) {
		h.metrics.unrecorded(route)
		h.log.ErrorContext(ctx, "a delivery has no row in webhook_delivery",
			"route", route.Path, "event_id", shown(e.ID), "error", missing.Error())
		if outcome != "" {
			err = nil // what is accepted stays acknowledged
		}
	}
	return result{e, outcome, err}
}

// refuseEvent writes down what no receiver saw. It is refused for good only if that worked.
func (h *handler) refuseEvent(ctx context.Context, refused result) result {
	counted, _ := refused.class()
	if counted == classUnavailable {
		return refused
	}
	if err := h.ledger.refusal(ctx, refused); err != nil {
		return result{event: refused.event, err: errors.Join(inbox.ErrUnavailable, err)}
	}
	return refused
}

// verify takes a verifier that panics for one that refuses.
func (h *handler) verify(route *Route, header http.Header, body []byte) (err error) {
	defer h.recovered(route, "verify", &err)
	return route.Verifier.Verify(header, body, time.Now())
}

// read gives the event of a request, or why there is none.
func (h *handler) read(
	route *Route, header http.Header, body []byte,
) (e Event, err error) {
	defer h.recovered(route, "map", &err)
	if err := checkMediaType(header); err != nil {
		return Event{}, err
	}
	e, err = route.Mapping(header, body)
	if err == nil && e.ID == "" {
		err = invalid("event_id_missing")
	}
	return e, err
}

// receive gives what the receiver says, or why it said nothing.
func (h *handler) receive(
	ctx context.Context, route *Route, e Event,
) (outcome inbox.Outcome, err error) {
	defer h.recovered(route, "receive", &err)
	return route.Receiver.Receive(ctx, e)
}

// recovered turns a panic into a failure that the sender may retry. What was said in the panic may
// quote an event, so only the place where it arose is kept.
func (h *handler) recovered(route *Route, step string, err *error) {
	if said := recover(); said != nil {
		h.logPanic(route, said)
		*err = &inbox.Error{Step: step, Kind: inbox.ErrUnavailable, Reason: "panic"}
	}
}

// refuse answers a request that no sender has been made sure of.
func (h *handler) refuse(w http.ResponseWriter, route *Route, p problem) {
	h.metrics.turnedAway(route, p.Status)
	p.write(w, h.limits.RetryAfter)
}

// refuseSignature tells the operator why, and whoever sent it nothing that helps to forge.
func (h *handler) refuseSignature(w http.ResponseWriter, route *Route, err error) {
	if !errors.Is(err, ErrSignature) {
		h.log.Error("a signature could not be verified", "route", route.Path,
			"error", safeText(err))
		h.refuse(w, route, problem{Status: http.StatusServiceUnavailable, Code: "unavailable"})
		return
	}
	reason := "other"
	var failure *SignatureError
	if errors.As(err, &failure) {
		reason = failure.Reason
	}
	h.metrics.badSignature(route, reason)
	h.log.Warn("a signature was refused",
		"route", route.Path, "source", route.Source, "reason", reason)
	problem{Status: http.StatusUnauthorized, Code: "signature"}.write(w, h.limits.RetryAfter)
}
