package properties

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"webhooklab/lab"
)

// What the contract lets a delivery be. They are said here again, and not taken from the receiver:
// a judge that reads its limits in the code it judges would follow any mistake in them.
const (
	maxSource    = 255     // bytes
	maxText      = 1024    // bytes of an event id or object id
	maxSnapshot  = 1 << 20 // bytes
	maxBody      = 2 << 20 // bytes
	maxDepth     = 512     // of a snapshot, its outermost object being one
	maxWhole     = 131072  // digits of a number before the point
	maxDecimals  = 16383   // digits behind it
	maxAllDigits = 4 << 20 // of all numbers of a snapshot, written without exponents
)

// event is a delivery of a sound shape, its snapshot reduced to its identity.
type event struct {
	source, id, object string
	revision           int64
	snapshot           string
}

// read gives the event that a delivery carries; false when it breaks the shape.
func read(d lab.Delivery) (event, bool) {
	if d.Body != nil {
		var ok bool
		if d, ok = readBody(d.Source, d.Body); !ok {
			return event{}, false
		}
	}
	if !isText(d.Source, maxSource) || !isText(d.EventID, maxText) ||
		!isText(d.ObjectID, maxText) || d.Revision < 1 || !isSnapshot(d.Snapshot) {
		return event{}, false
	}
	identity, err := Canonical(d.Snapshot)
	return event{d.Source, d.EventID, d.ObjectID, d.Revision, identity}, err == nil
}

func isText(s string, limit int) bool {
	return s != "" && len(s) <= limit && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

func isSnapshot(document []byte) bool {
	if len(document) > maxSnapshot || !isObject(document) {
		return false
	}
	m, ok := measure(document)
	return ok && m.depth <= maxDepth && m.digits <= maxAllDigits
}

func isObject(document []byte) bool {
	return json.Valid(document) && bytes.TrimLeft(document, " \t\r\n")[0] == '{'
}

// measures of a document: how deep it nests, and the digits of its numbers without exponents.
type measures struct{ depth, digits int }

// measure reads every token, those of keys that are overruled later as well. It reports false when
// a number is more than numeric can hold.
func measure(document []byte) (m measures, inRange bool) {
	inRange = true
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	for depth := 0; ; {
		token, err := d.Token()
		if err == io.EOF {
			return m, inRange
		}
		if err != nil {
			return m, false
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
				m.depth = max(m.depth, depth)
			} else {
				depth--
			}
		case json.Number:
			n, err := readDecimal(string(v))
			inRange = inRange && err == nil && n.whole() <= maxWhole && n.scale <= maxDecimals
			m.digits += n.whole() + n.scale
		}
	}
}

// readBody takes the four fields out of a request body. Each stands there once; others mean
// nothing, whatever they are called.
func readBody(source string, body []byte) (lab.Delivery, bool) {
	none := lab.Delivery{}
	if len(body) > maxBody || !utf8.Valid(body) || !isObject(body) {
		return none, false
	}
	if m, _ := measure(body); m.depth > maxDepth+1 {
		return none, false
	}
	fields, ok := fieldsOf(body)
	if !ok {
		return none, false
	}
	d := lab.Delivery{Source: source, Snapshot: fields["snapshot"]}
	var okEvent, okObject, okRevision bool
	d.EventID, okEvent = readText(fields["event_id"])
	d.ObjectID, okObject = readText(fields["object_id"])
	d.Revision, okRevision = readInteger(fields["revision"])
	return d, okEvent && okObject && okRevision
}

func fieldsOf(body []byte) (map[string]json.RawMessage, bool) {
	fields := map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(body))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, false
		}
		key, _ := name.(string)
		_, repeated := fields[key]
		known := key == "event_id" || key == "object_id" || key == "revision" || key == "snapshot"
		if known && repeated {
			return nil, false
		}
		fields[key] = value
	}
	return fields, true
}

func readText(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || checkTexts(raw) != nil {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// readInteger takes digits only: what else means a whole number to some, does not to others.
func readInteger(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}
