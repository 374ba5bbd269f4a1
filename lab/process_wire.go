package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"
)

// request and reply are the lines of the protocol that Process describes.
type request struct {
	ID       int           `json:"id"`
	Do       string        `json:"do"`
	Args     []text        `json:"args,omitempty"`
	Delivery *wireDelivery `json:"delivery,omitempty"`
}

type reply struct {
	ID      int    `json:"id"`
	Outcome string `json:"outcome,omitempty"`
	Acked   bool   `json:"acked,omitempty"`
	Error   string `json:"error,omitempty"`
}

func (r reply) answer() (Answer, error) {
	if r.Error != "" {
		return Unknown, errors.New(r.Error)
	}
	return Answer{Outcome: r.Outcome, Acked: r.Acked}, nil
}

// wireDelivery is a delivery with every byte of it kept.
type wireDelivery Delivery

type deliveryFields struct {
	Source   text  `json:"source"`
	EventID  text  `json:"event_id"`
	ObjectID text  `json:"object_id"`
	Revision int64 `json:"revision"`
	Snapshot *text `json:"snapshot"`
	Type     text  `json:"type"`
	Payload  *text `json:"payload"`
	Body     *text `json:"body"`
}

func (d *wireDelivery) MarshalJSON() ([]byte, error) {
	return json.Marshal(deliveryFields{
		Source: text(d.Source), EventID: text(d.EventID), ObjectID: text(d.ObjectID),
		Revision: d.Revision, Snapshot: textOf(d.Snapshot),
		Type: text(d.Type), Payload: textOf(d.Payload), Body: textOf(d.Body),
	})
}

func (d *wireDelivery) UnmarshalJSON(line []byte) error {
	var f deliveryFields
	if err := json.Unmarshal(line, &f); err != nil {
		return err
	}
	*d = wireDelivery{
		Source: string(f.Source), EventID: string(f.EventID), ObjectID: string(f.ObjectID),
		Revision: f.Revision, Snapshot: f.Snapshot.bytes(),
		Type: string(f.Type), Payload: f.Payload.bytes(), Body: f.Body.bytes(),
	}
	return nil
}

// text is a JSON string, or {"base64": …} where its bytes are not UTF-8: JSON would change them.
type text string

type encoded struct {
	Base64 []byte `json:"base64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encoded{[]byte(t)})
}

func (t *text) UnmarshalJSON(value []byte) error {
	if !bytes.HasPrefix(value, []byte("{")) {
		return json.Unmarshal(value, (*string)(t))
	}
	var e encoded
	err := json.Unmarshal(value, &e)
	*t = text(e.Base64)
	return err
}

func textOf(b []byte) *text {
	if b == nil {
		return nil
	}
	t := text(b)
	return &t
}

func (t *text) bytes() []byte {
	if t == nil {
		return nil
	}
	return []byte(*t)
}

// maxLine bounds one answer.
const maxLine = 1 << 20

// lines cuts what a program writes into lines.
type lines struct {
	hear func(line []byte) error
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole && len(l.rest) <= maxLine {
			return len(b), nil
		}
		if err := l.hear(line); err != nil {
			return 0, fmt.Errorf("a receiver's answer: %w", err)
		}
		l.rest = rest
	}
}

// tail keeps the last words of a program.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if more := len(t.text) - maxTail; more > 0 {
		t.text = append([]byte(nil), t.text[more:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
