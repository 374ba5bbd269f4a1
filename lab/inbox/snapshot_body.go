package inbox

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// MaxBodyBytes bounds a body: a snapshot of full size, its envelope and room for unknown fields.
const MaxBodyBytes = 2 * MaxSnapshotBytes

// ParseSnapshotEvent reads {"event_id": …, "object_id": …, "revision": …, "snapshot": …} and checks
// the event as [Snapshots.Receive] would. Each of the four stands there once, spelled exactly so;
// the revision is written as an integer and loses no digit. Other fields have no effect, a
// "source" neither. The error is an [*Error] of kind [ErrInvalid].
func ParseSnapshotEvent(source string, body []byte) (SnapshotEvent, error) {
	e, failure := parseSnapshotEvent(source, body)
	if failure != nil {
		return SnapshotEvent{}, failure
	}
	return e, nil
}

// parseSnapshotEvent gives, beside the error, what it could read, for the refusal.
func parseSnapshotEvent(source string, body []byte) (SnapshotEvent, *Error) {
	e := SnapshotEvent{Source: source}
	fields, failure := envelope(body)
	if failure != nil {
		return e, failure
	}
	if e.EventID, failure = textField(fields, "event_id"); failure != nil {
		return e, failure
	}
	if e.ObjectID, failure = textField(fields, "object_id"); failure != nil {
		return e, failure
	}
	if e.Revision, failure = integerField(fields, "revision"); failure != nil {
		return e, failure
	}
	e.Snapshot = fields["snapshot"]
	if e.Snapshot == nil {
		return e, invalid("snapshot_missing")
	}
	return e, e.check()
}

// envelope splits the body's outermost object into its known fields.
func envelope(body []byte) (map[string]json.RawMessage, *Error) {
	switch {
	case len(body) > MaxBodyBytes:
		return nil, invalid("body_too_large")
	case !utf8.Valid(body):
		return nil, invalid("body_not_utf8")
	case nesting(body) > MaxSnapshotDepth+1:
		return nil, invalid("body_too_deep")
	case !json.Valid(body):
		return nil, invalid("body_not_json")
	case bytes.TrimLeft(body, " \t\r\n")[0] != '{':
		return nil, invalid("body_not_an_object")
	}
	return knownFields(json.NewDecoder(bytes.NewReader(body)))
}

// knownFields reads a body that is known to be a valid JSON object.
func knownFields(body *json.Decoder) (map[string]json.RawMessage, *Error) {
	fields := make(map[string]json.RawMessage, 4)
	_, _ = body.Token() // the opening brace
	for body.More() {
		name, err := body.Token()
		if err != nil {
			return nil, invalid("body_not_json")
		}
		var value json.RawMessage
		if err := body.Decode(&value); err != nil {
			return nil, invalid("body_not_json")
		}
		switch name {
		case "event_id", "object_id", "revision", "snapshot":
			if fields[name.(string)] != nil {
				return nil, invalid(name.(string) + "_repeated")
			}
			fields[name.(string)] = value
		}
	}
	return fields, nil
}

// textField gives an id that no text can hold as it stood in the body, escapes and all.
func textField(fields map[string]json.RawMessage, name string) (string, *Error) {
	raw := fields[name]
	if raw == nil {
		return "", invalid(name + "_missing")
	}
	if raw[0] != '"' {
		return "", invalid(name + "_not_a_string")
	}
	// Decoding would turn half a surrogate pair into U+FFFD, and two ids into one.
	if problem := stringProblem(raw); problem != "" {
		return string(raw[1 : len(raw)-1]), invalid(name + "_" + problem)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", invalid(name + "_not_a_string")
	}
	return text, nil
}

// integerField takes digits only: 1.0, 1e0 and "1" are other things to other readers.
func integerField(fields map[string]json.RawMessage, name string) (int64, *Error) {
	raw := fields[name]
	if raw == nil {
		return 0, invalid(name + "_missing")
	}
	if len(bytes.Trim(raw, "-0123456789")) > 0 {
		return 0, invalid(name + "_not_an_integer")
	}
	value, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, invalid(name + "_out_of_range")
	}
	return value, nil
}
