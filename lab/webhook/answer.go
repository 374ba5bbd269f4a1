package webhook

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// answer is the body of a success.
type answer struct {
	// Outcome is a receiver's word, or "batch".
	Outcome string `json:"outcome"`
	// Items are a batch's, in its order.
	Items []item `json:"items,omitempty"`
}

// item is what came of one event of a batch: an outcome, or the reason of a refusal.
type item struct {
	Index   int    `json:"index"`
	Outcome string `json:"outcome,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// problem is the body of every failure, in the media type application/problem+json (RFC 9457). Its
// fields are always these, and hold nothing that the request said.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code is a stable name in snake case.
	Code string `json:"code"`
	// Retry says whether the same request may succeed later.
	Retry  bool   `json:"retry"`
	Detail string `json:"detail"`
}

var problemDetail = map[int]string{
	http.StatusBadRequest:       "The delivery breaks the agreed shape. Do not send it as it is.",
	http.StatusUnauthorized:     "The signature is missing, wrong or out of time. Sign it anew.",
	http.StatusNotFound:         "Nothing is received here. Compare the URL with the agreed one.",
	http.StatusMethodNotAllowed: "Use the method in the header Allow.",
	http.StatusRequestTimeout:   "The body did not arrive in time.",
	http.StatusConflict: "The identity was used before for something else. Do not send it again, " +
		"investigate.",
	http.StatusRequestEntityTooLarge: "The body is too large. Do not send it again as it is.",
	http.StatusUnsupportedMediaType:  "Send JSON in UTF-8, not compressed.",
	http.StatusServiceUnavailable:    "It was not accepted. Send it again later.",
}

// write completes the problem and sends it.
func (p problem) write(w http.ResponseWriter, retryAfter time.Duration) {
	p.Type = "about:blank"
	p.Title = http.StatusText(p.Status)
	p.Detail = problemDetail[p.Status]
	switch p.Status {
	case http.StatusServiceUnavailable:
		p.Retry = true
		seconds := int64(math.Ceil(retryAfter.Seconds()))
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Signature realm="webhook"`)
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close") // the rest of the body may come yet
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

// writeJSON can't fail in a way that its caller could mend: the sender may have left.
func writeJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	text, _ := json.Marshal(body) // of strings and numbers: can't fail
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// status is the code that a class of deliveries is answered by. None is one at which senders give
// up for good (403, 406, 410), none hides a fault that the next attempt may not meet.
func (c class) status(reason string) int {
	switch {
	case c == classNew, c == classDuplicate:
		return http.StatusOK
	case c == classConflict:
		return http.StatusConflict
	case c == classInvalid && (reason == "media_type" || reason == "content_encoding"):
		return http.StatusUnsupportedMediaType
	case c == classInvalid:
		return http.StatusBadRequest
	default:
		return http.StatusServiceUnavailable
	}
}
