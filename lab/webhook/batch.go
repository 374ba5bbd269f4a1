package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"
)

// MaxBatchItems bounds a batch, so that all of it can be decided before its sender's time-out.
const MaxBatchItems = 1000

// deliverBatch decides each event of an array by itself, so that none can spoil another: good ones
// are kept, bad ones written down with their reason. It is acknowledged when every event has come
// to such an end. Otherwise the sender brings all of them again, and what was kept is a duplicate.
func (h *handler) deliverBatch(
	ctx context.Context, w http.ResponseWriter, header http.Header, body []byte,
	route *Route, began time.Time,
) {
	bodies, err := splitBatch(body)
	if err == nil {
		err = checkMediaType(header)
	}
	if err != nil {
		h.answerOne(ctx, w, route, h.refuseEvent(ctx,
			result{event: Event{Source: route.Source, Raw: body}, err: err}), began)
		return
	}
	items, complete := make([]item, len(bodies)), true
	for i, body := range bodies {
		decided := h.decide(ctx, route, header, body)
		h.tell(ctx, route, decided)
		items[i].Index = i
		switch counted, name := decided.class(); counted {
		case classUnavailable:
			complete = false
		case classConflict, classInvalid:
			items[i].Refused = name
		default:
			items[i].Outcome = name
		}
	}
	if !complete {
		h.metrics.took(route, classUnavailable, time.Since(began))
		problem{Status: http.StatusServiceUnavailable, Code: "batch_incomplete"}.
			write(w, h.limits.RetryAfter)
		return
	}
	h.metrics.took(route, "batch", time.Since(began))
	writeJSON(w, http.StatusOK, "application/json", answer{Outcome: "batch", Items: items})
}

// splitBatch gives each item's own bytes.
func splitBatch(body []byte) ([]json.RawMessage, error) {
	var items []json.RawMessage
	switch {
	case !utf8.Valid(body):
		return nil, invalid("batch_not_utf8")
	case !json.Valid(body):
		return nil, invalid("batch_not_json")
	case bytes.TrimLeft(body, " \t\r\n")[0] != '[':
		return nil, invalid("batch_not_an_array")
	case json.Unmarshal(body, &items) != nil:
		return nil, invalid("batch_not_json")
	case len(items) == 0:
		return nil, invalid("batch_empty")
	case len(items) > MaxBatchItems:
		return nil, invalid("batch_too_long")
	}
	return items, nil
}
