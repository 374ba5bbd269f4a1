package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible writes what a reader could not see, or what could turn the text around it, as an escape:
// control characters, marks of direction, broken UTF-8. Line ends and tabs stay.
func visible(text string) string {
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unseen(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// brief is the first line of a text, of at most so many characters.
func brief(text string, most int) string {
	line, rest, cut := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(line)
	switch {
	case len(runes) > most:
		return string(runes[:most-1]) + "…"
	case cut && rest != "":
		return line + " …"
	}
	return line
}
