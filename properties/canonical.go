package properties

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical writes a JSON document in the one form that all spellings of its value share. Two
// documents have the same canonical text exactly when PostgreSQL's jsonb takes them for equal:
// numbers are exact decimals, the order of keys means nothing, of a repeated key the last one
// counts, and true is not 1.
//
// It fails on what is no JSON, and on what jsonb can't hold in a string: bad UTF-8, U+0000, half
// of a surrogate pair. How large a document or a number may be is not its question.
func Canonical(document []byte) (string, error) {
	if err := checkTexts(document); err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", fmt.Errorf("canonical form of a document of %d bytes: %w", len(document), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return "", errors.New("canonical form: something stands behind the end of the document")
	}
	var b strings.Builder
	err := writeCanonical(&b, value)
	return b.String(), err
}

func writeCanonical(b *strings.Builder, value any) error {
	switch v := value.(type) {
	case map[string]any:
		return writeObject(b, v)
	case []any:
		b.WriteByte('[')
		for _, element := range v {
			if err := writeCanonical(b, element); err != nil {
				return err
			}
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case json.Number:
		n, err := readDecimal(string(v))
		if err != nil {
			return err
		}
		b.WriteString(n.String())
	case string:
		b.WriteString(strconv.Quote(v))
	default: // true, false and nil
		fmt.Fprint(b, v)
	}
	return nil
}

func writeObject(b *strings.Builder, object map[string]any) error {
	b.WriteByte('{')
	for _, key := range slices.Sorted(maps.Keys(object)) {
		b.WriteString(strconv.Quote(key))
		b.WriteByte(':')
		if err := writeCanonical(b, object[key]); err != nil {
			return err
		}
		b.WriteByte(',')
	}
	b.WriteByte('}')
	return nil
}

// checkTexts refuses a document whose strings are more than text can hold. Go's decoder would turn
// them into U+FFFD, and two contents into one.
func checkTexts(document []byte) error {
	if !utf8.Valid(document) {
		return errors.New("canonical form: the document is not UTF-8")
	}
	for rest := document; ; {
		at := bytes.IndexByte(rest, '\\') // outside of strings JSON has no backslash
		if at < 0 {
			return nil
		}
		unit, width := readEscape(rest[at:])
		rest = rest[at+width:]
		switch {
		case unit == 0:
			return errors.New("canonical form: the document has a U+0000")
		case utf16.IsSurrogate(unit):
			low, width := readEscape(rest)
			if utf16.DecodeRune(unit, low) == utf8.RuneError {
				return errors.New("canonical form: the document has half a surrogate pair")
			}
			rest = rest[width:]
		}
	}
}

// readEscape gives the code unit of a \u sequence at the start of text and the sequence's length;
// -1 for any other sequence or none.
func readEscape(text []byte) (unit rune, width int) {
	if len(text) >= 6 && text[0] == '\\' && text[1] == 'u' {
		if code, err := strconv.ParseUint(string(text[2:6]), 16, 16); err == nil {
			return rune(code), 6
		}
	}
	return -1, min(2, len(text))
}
