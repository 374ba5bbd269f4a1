package properties

import (
	"fmt"
	"strconv"
	"strings"
)

// decimal is an exact number: ±digits × 10^exponent, with no zero at either end of the digits.
// Zero has no digits, no sign and no exponent.
type decimal struct {
	negative bool
	digits   string
	exponent int
	scale    int // decimals as it was spelled, 1.0 has one; no part of its value
}

// maxExponent is the largest exponent, either way, that the contract lets a number be spelled
// with.
const maxExponent = 2 << 20

// readDecimal reads a number as JSON spells it. It fails on an exponent that nobody could mean.
func readDecimal(spelled string) (decimal, error) {
	mantissa, power := spelled, 0
	if at := strings.IndexAny(spelled, "eE"); at >= 0 {
		var err error
		power, err = strconv.Atoi(spelled[at+1:])
		if err != nil || power < -maxExponent || power > maxExponent {
			return decimal{}, fmt.Errorf("number %.40s: its exponent is out of range", spelled)
		}
		mantissa = spelled[:at]
	}
	unsigned := strings.TrimPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	n := decimal{
		negative: unsigned != mantissa,
		exponent: power - len(fraction),
		scale:    max(0, len(fraction)-power),
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	n.digits = strings.TrimRight(digits, "0")
	n.exponent += len(digits) - len(n.digits)
	if n.digits == "" {
		n.negative, n.exponent = false, 0
	}
	return n, nil
}

// whole counts the digits before the point, written without an exponent; at least one.
func (n decimal) whole() int { return max(1, len(n.digits)+n.exponent) }

// String is the same for every spelling of the number.
func (n decimal) String() string {
	sign := ""
	if n.negative {
		sign = "-"
	}
	return fmt.Sprintf("%s%se%d", sign, n.digits, n.exponent)
}
