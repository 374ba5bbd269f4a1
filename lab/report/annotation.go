package report

import (
	"fmt"
	"strings"
)

// annotations is how many of a kind GitHub shows of one step.
const annotations = 10

// Annotations are workflow commands of GitHub Actions, one a line, that put each failure beside the
// line of the repository where it was noticed.
func Annotations(r Run, p Places) string {
	var all []string
	for _, e := range Failures(r.Judged()) {
		title := fmt.Sprintf("%s %s: %s", e.Suite, e.Name, e.Verdict)
		all = append(all, annotation(p.of(e), title, Told(e, r.Seed)))
	}
	for _, name := range r.Silent() {
		test, _, _ := strings.Cut(name[strings.LastIndex(name, ".")+1:], "/")
		all = append(all, annotation(p.declared[test], name+" failed without a verdict",
			r.Outputs[name]))
	}
	if code, reason := r.ExitCode(); code != ExitHeld && len(all) == 0 {
		all = append(all, annotation(place{}, Headline(code), reason))
	}
	if more := len(all) - annotations + 1; more > 1 {
		all = append(all[:annotations-1], annotation(place{}, "and more",
			phrase(more, "failure", "failures")+" more: see the summary"))
	}
	return strings.Join(all, "")
}

func annotation(at place, title, message string) string {
	where := ""
	if at.File != "" {
		where = fmt.Sprintf("file=%s,line=%d,", propertyEscapes.Replace(at.File), at.Line)
	}
	return fmt.Sprintf("::error %stitle=%s::%s\n", where, propertyEscapes.Replace(title),
		dataEscapes.Replace(strings.TrimSpace(message)))
}

// The two encodings of workflow commands: of what stands after the last "::", and of properties.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A",
		":", "%3A", ",", "%2C")
)
