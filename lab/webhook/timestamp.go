package webhook

import (
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far a signed time may lie from the receiver's clock, before or after it. A
// captured delivery can be replayed for that long, and does no harm: its event id is known.
const Tolerance = 5 * time.Minute

// maxTimestampDigits leads some 30,000 years ahead and stays far from any overflow.
const maxTimestampDigits = 12

// parseTimestamp reads seconds since 1970 written in the one way there is: digits, without sign,
// leading zeros or space.
func parseTimestamp(text string) (time.Time, bool) {
	if len(text) > maxTimestampDigits || len(text) > 1 && text[0] == '0' ||
		strings.Trim(text, "0123456789") != "" {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// checkTime is asked after the signature was found right, so that "stale" tells of a replay or of
// a clock and not of a forgery.
func checkTime(name string, signed, now time.Time) error {
	switch age := now.Sub(signed); {
	case age > Tolerance:
		return &SignatureError{name, "stale"}
	case age < -Tolerance:
		return &SignatureError{name, "early"}
	default:
		return nil
	}
}
