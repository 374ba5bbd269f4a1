package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatCantBeSeenIsWrittenOut(t *testing.T) {
	for text, want := range map[string]string{
		"plain – text, ünïcode, 🙂\n\tkept": "plain – text, ünïcode, 🙂\n\tkept",
		"a\x00b\x1b[31m\r":                 `a\u0000b\u001b[31m\u000d`,
		"over\u202eride\u2066\ufeff":       `over\u202eride\u2066\ufeff`,
		"broken \xff\xfe":                  `broken \xff\xfe`,
		"\ufffd":                           `\ufffd`,
		"\u2028\U000e0001":                 `\u2028\U000e0001`,
	} {
		require.Equal(t, want, visible(text))
	}
}

func TestBrief(t *testing.T) {
	require.Equal(t, "one", brief(" one ", 5))
	require.Equal(t, "one …", brief("one\ntwo", 5))
	require.Equal(t, "äöü…", brief("äöüäöü", 4))
}
