package webhook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// document is a body that was found to be one valid JSON object in UTF-8. Its fields are read
// strictly: a name counts as it is spelled, once, and no text is altered on the way.
type document []byte

// parseDocument bounds nesting by encoding/json's own limit of 10,000; receivers set a lower one.
func parseDocument(body []byte) (document, error) {
	switch {
	case len(body) == 0:
		return nil, invalid("body_empty")
	case !utf8.Valid(body):
		return nil, invalid("body_not_utf8")
	case !json.Valid(body):
		return nil, invalid("body_not_json")
	case bytes.TrimLeft(body, " \t\r\n")[0] != '{':
		return nil, invalid("body_not_an_object")
	}
	return body, nil
}

// find gives the value under a path of names, nil if there is none.
func (d document) find(path ...string) (json.RawMessage, error) {
	value := json.RawMessage(d)
	for depth, name := range path {
		if value[0] != '{' && depth > 0 {
			return nil, nil
		}
		inner, err := fieldOf(value, name, reason(path[:depth+1]))
		if err != nil || inner == nil {
			return nil, err
		}
		value = inner
	}
	return value, nil
}

// fieldOf gives the value of one name of an object, nil if it isn't there.
func fieldOf(object json.RawMessage, name, called string) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	_, _ = decoder.Token() // the opening brace
	var found json.RawMessage
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, invalid("body_not_json")
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, invalid("body_not_json")
		}
		if key != name {
			continue
		}
		if found != nil {
			return nil, invalid(called + "_repeated")
		}
		found = value
	}
	return found, nil
}

// reason turns a path into the start of a reason's name.
func reason(path []string) string { return strings.Join(path, "_") }

// text reads a string, "" if it isn't there. One that no text can hold is given as it is spelled.
func (d document) text(path ...string) (string, error) {
	raw, err := d.find(path...)
	switch {
	case err != nil || raw == nil:
		return "", err
	case raw[0] != '"':
		return "", invalid(reason(path) + "_not_a_string")
	case hasLoneSurrogate(raw):
		// Decoding would make U+FFFD of it, and one id of two.
		return string(raw[1 : len(raw)-1]), invalid(reason(path) + "_has_lone_surrogate")
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", invalid(reason(path) + "_not_a_string")
	}
	return text, nil
}

// needed reads a string that must be there.
func (d document) needed(path ...string) (string, error) {
	text, err := d.text(path...)
	if err == nil && text == "" {
		err = invalid(reason(path) + "_missing")
	}
	return text, err
}

// integer reads digits, 0 if they aren't there: 1.0, 1e0 and "1" are other things to other readers.
func (d document) integer(path ...string) (int64, error) {
	raw, err := d.find(path...)
	switch {
	case err != nil || raw == nil:
		return 0, err
	case len(bytes.Trim(raw, "-0123456789")) > 0:
		return 0, invalid(reason(path) + "_not_an_integer")
	}
	value, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, invalid(reason(path) + "_out_of_range")
	}
	return value, nil
}

// time reads a moment as RFC 3339 writes it, the zero time if it isn't there.
func (d document) time(path ...string) (time.Time, error) {
	text, err := d.text(path...)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, invalid(reason(path) + "_not_rfc3339")
	}
	return at, nil
}

// hasLoneSurrogate looks for half of a pair among the escapes of a valid JSON string.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		first := codeUnit(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		rest := raw[i+1:]
		if !bytes.HasPrefix(rest, []byte(`\u`)) ||
			utf16.DecodeRune(first, codeUnit(rest[2:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// codeUnit reads the four hexadecimal digits that a valid document has after \u.
func codeUnit(text []byte) rune {
	unit, _ := strconv.ParseUint(string(text[:4]), 16, 16)
	return rune(unit)
}
