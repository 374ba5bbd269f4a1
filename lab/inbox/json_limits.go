package inbox

import (
	"bytes"
	"strconv"
	"unicode/utf16"
)

// What a snapshot may be, so that the server's own limits are never met: jsonb itself takes far
// larger documents, and about 6,000 levels with the default max_stack_depth.
const (
	// MaxSnapshotBytes bounds the text of a snapshot.
	MaxSnapshotBytes = 1 << 20
	// MaxSnapshotDepth bounds how deep objects and arrays nest, the outermost being one.
	MaxSnapshotDepth = 512
)

// The limits of PostgreSQL's numeric, which holds jsonb's numbers: decimal digits before and after
// the point, as the number would be written without an exponent.
const (
	maxWholeDigits    = 131072
	maxFractionDigits = 16383
	// No number of a bounded document that fits the two above has a larger exponent.
	maxExponent = 2 * MaxSnapshotBytes
	// jsonb gives numbers back without exponents: 1e131071 is 8 bytes in and 131,072 out, and a
	// document full of them is stored but can be neither read nor dumped.
	maxWrittenDigits = 4 << 20
)

// nesting is the depth of a document that need not be valid.
func nesting(document []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(document); i++ {
		switch document[i] {
		case '"':
			i += stringLength(document[i:]) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// stringLength counts the bytes of the JSON string at the start of text, its quotes included.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// jsonbProblem tells what in a valid JSON document jsonb refuses or could not give back, or "".
func jsonbProblem(document []byte) string {
	written := 0
	for i := 0; i < len(document); {
		switch c := document[i]; {
		case c == '"':
			length := stringLength(document[i:])
			if problem := stringProblem(document[i : i+length]); problem != "" {
				return problem
			}
			i += length
		case c == '-' || '0' <= c && c <= '9':
			length := numberLength(document[i:])
			digits, ok := writtenDigits(document[i : i+length])
			if !ok {
				return "number_out_of_range"
			}
			if written += digits; written > maxWrittenDigits {
				return "numbers_too_long"
			}
			i += length
		default:
			i++
		}
	}
	return ""
}

// stringProblem looks at the escapes of a valid JSON string: text holds neither U+0000 nor half
// of a surrogate pair.
func stringProblem(text []byte) string {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' {
			continue
		}
		unit := codeUnit(text[i+1:])
		i += 4
		switch {
		case unit == 0:
			return "has_nul"
		case !utf16.IsSurrogate(unit):
		case bytes.HasPrefix(text[i+1:], []byte(`\u`)) && isPair(unit, codeUnit(text[i+3:])):
			i += 6
		default:
			return "has_lone_surrogate"
		}
	}
	return ""
}

func isPair(high, low rune) bool {
	return high < 0xDC00 && 0xDC00 <= low && low <= 0xDFFF
}

// codeUnit reads the four hexadecimal digits that a valid document has after \u.
func codeUnit(text []byte) rune {
	unit, _ := strconv.ParseUint(string(text[:4]), 16, 16)
	return rune(unit)
}

func numberLength(text []byte) int {
	return len(text) - len(bytes.TrimLeft(text, "-+.0123456789eE"))
}

// writtenDigits counts the digits of a valid JSON number written without exponent, and reports
// whether numeric can hold it.
func writtenDigits(number []byte) (int, bool) {
	mantissa, exponent := number, 0
	if at := bytes.IndexAny(number, "eE"); at >= 0 {
		var err error
		exponent, err = strconv.Atoi(string(number[at+1:]))
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return 0, false
		}
		mantissa = number[:at]
	}
	whole, fraction, _ := bytes.Cut(bytes.TrimPrefix(mantissa, []byte("-")), []byte("."))

	wholeDigits := 1
	if significant := bytes.TrimLeft(whole, "0"); len(significant) > 0 {
		wholeDigits = max(1, len(significant)+exponent)
	} else if significant := bytes.TrimLeft(fraction, "0"); len(significant) > 0 {
		wholeDigits = max(1, len(significant)-len(fraction)+exponent)
	}
	fractionDigits := max(0, len(fraction)-exponent)
	return wholeDigits + fractionDigits,
		wholeDigits <= maxWholeDigits && fractionDigits <= maxFractionDigits
}
