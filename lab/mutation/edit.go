package mutation

import (
	"fmt"
	"strings"
)

// An Edit replaces one part of the statements that it is meant for.
type Edit struct {
	In  string // what such a statement holds beside Old; "" where Old says enough
	Old string // stands there once
	New string
}

// apply gives the edited text, and whether it was a text that the edit is meant for.
func (e Edit) apply(text string) (string, bool) {
	if e.Old == "" || !strings.Contains(text, e.In) || strings.Count(text, e.Old) != 1 {
		return text, false
	}
	return strings.Replace(text, e.Old, e.New, 1), true
}

func (e Edit) String() string {
	if e.New == "" {
		return fmt.Sprintf("without «%s»", oneLine(e.Old))
	}
	return fmt.Sprintf("«%s» for «%s»", oneLine(e.New), oneLine(e.Old))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
