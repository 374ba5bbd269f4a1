package inbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	maxSourceBytes = 255
	maxTextBytes   = 1024
)

// Validate fails with an [*Error] of kind [ErrInvalid] where Receive would refuse the event for its
// shape. It asks no database.
func (e SnapshotEvent) Validate() error {
	if failure := e.check(); failure != nil {
		return failure
	}
	return nil
}

// check tells what of the event's shape is wrong, without a server. What passes can be stored.
func (e SnapshotEvent) check() *Error {
	if failure := checkTexts(
		boundedText{"source", e.Source, maxSourceBytes},
		boundedText{"event_id", e.EventID, maxTextBytes},
		boundedText{"object_id", e.ObjectID, maxTextBytes},
	); failure != nil {
		return failure
	}
	if e.Revision <= 0 {
		return invalid("revision_not_positive")
	}
	if problem := snapshotProblem(e.Snapshot); problem != "" {
		return invalid("snapshot_" + problem)
	}
	return nil
}

// boundedText is a named field, limited to so many bytes.
type boundedText struct {
	name, value string
	limit       int
}

// checkTexts gives the problem of the first field that has one.
func checkTexts(texts ...boundedText) *Error {
	for _, text := range texts {
		if problem := textProblem(text.value, text.limit); problem != "" {
			return invalid(text.name + "_" + problem)
		}
	}
	return nil
}

// textProblem tells why a bounded text column can't hold s as an identity, or "".
func textProblem(s string, limit int) string {
	switch {
	case s == "":
		return "empty"
	case len(s) > limit:
		return "too_long"
	case !utf8.ValidString(s):
		return "not_utf8"
	case strings.ContainsRune(s, 0):
		return "has_nul"
	default:
		return ""
	}
}

// snapshotProblem tells why the column snapshot can't hold the document, or "".
func snapshotProblem(document json.RawMessage) string {
	if problem := jsonProblem(document); problem != "" {
		return problem
	}
	if bytes.TrimLeft(document, " \t\r\n")[0] != '{' {
		return "not_an_object"
	}
	return jsonbProblem(document)
}

// jsonProblem tells why the document isn't JSON of bounded size and depth, or "".
func jsonProblem(document json.RawMessage) string {
	switch {
	case len(document) == 0:
		return "empty"
	case len(document) > MaxSnapshotBytes:
		return "too_large"
	case !utf8.Valid(document):
		return "not_utf8"
	case nesting(document) > MaxSnapshotDepth:
		return "too_deep"
	case !json.Valid(document):
		return "not_json"
	default:
		return ""
	}
}
