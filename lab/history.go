package lab

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// An Operation is one delivery as its sender saw it: an interval and what was learned.
// Call and Return are nanoseconds since the history began; Return is 0 while it is open.
type Operation struct {
	Session  string   `json:"session"`
	Delivery Delivery `json:"delivery"`
	Call     int64    `json:"call_ns"`
	Return   int64    `json:"return_ns"`
	Answer   Answer   `json:"answer"`
	Error    string   `json:"error,omitempty"`
}

// A Note is something else that happened at its time: a fault that fired, a wait that was seen.
type Note struct {
	At      int64  `json:"at_ns"`
	Session string `json:"session"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
}

// A History is the append-only record of one run. It is safe for concurrent use.
type History struct {
	mu    sync.Mutex
	began time.Time
	ops   []Operation
	notes []Note
}

// NewHistory begins a history now.
func NewHistory() *History { return &History{began: time.Now()} }

func (h *History) now() int64 { return max(1, int64(time.Since(h.began))) }

func (h *History) call(session string, d Delivery) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, Operation{Session: session, Delivery: d, Call: h.now(), Answer: Unknown})
	return len(h.ops) - 1
}

func (h *History) returned(i int, a Answer, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := &h.ops[i]
	op.Return, op.Answer = h.now(), a
	if err != nil {
		op.Answer, op.Error = Unknown, err.Error()
	}
}

// Note adds what happened to a session beside its operations.
func (h *History) Note(session, kind, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, Note{At: h.now(), Session: session, Kind: kind, Text: text})
}

// Operations is a copy of what was recorded so far, in the order of the calls.
func (h *History) Operations() []Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Operation(nil), h.ops...)
}

// Notes is a copy of the notes so far.
func (h *History) Notes() []Note {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Note(nil), h.notes...)
}

// WriteTo writes the history as JSON lines: operations first, then notes.
func (h *History) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	enc := json.NewEncoder(c)
	for _, op := range h.Operations() {
		if err := enc.Encode(op); err != nil {
			return c.n, err
		}
	}
	for _, n := range h.Notes() {
		if err := enc.Encode(n); err != nil {
			return c.n, err
		}
	}
	return c.n, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Record puts a receiver behind the recording door: the only way deliveries reach it in the lab.
func (h *History) Record(session string, r Receiver) Receiver {
	return recorded{h: h, session: session, r: r}
}

type recorded struct {
	h       *History
	session string
	r       Receiver
}

func (d recorded) Receive(ctx context.Context, dl Delivery) (Answer, error) {
	i := d.h.call(d.session, dl)
	a, err := d.r.Receive(ctx, dl)
	d.h.returned(i, a, err)
	return a, err
}
