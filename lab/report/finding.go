package report

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"webhooklab/lab"
)

// A Finding is one fault as it is known again in later runs.
type Finding struct {
	Fingerprint string      `json:"fingerprint"`
	Suite       string      `json:"suite"`
	Name        string      `json:"name"`
	Verdict     lab.Verdict `json:"verdict"`
	Law         string      `json:"law,omitempty"`
	Offence     string      `json:"offence"`         // its first line, as this run told it
	Since       string      `json:"since,omitempty"` // the folder of the run that saw it first
}

// Test is the suite of findings that a failed test left without a verdict.
const Test = "test"

// Findings are what this run found, each once: one for each kind of offence of an entry that did
// not hold, and one for each failed test that no entry explains.
func Findings(r Run) (all []Finding) {
	known := map[string]bool{}
	add := func(f Finding) {
		if f.Fingerprint = f.fingerprint(); !known[f.Fingerprint] {
			known[f.Fingerprint] = true
			all = append(all, f)
		}
	}
	for _, e := range Failures(r.Judged()) {
		found := Finding{Suite: e.Suite, Name: e.Name, Verdict: e.Verdict, Law: e.Law}
		if e.Suite == Replay {
			found.Suite = Scenario // it plays the same story
		}
		for _, o := range e.telling() {
			found.Verdict, found.Offence = o.Verdict, firstLine(o.Text)
			if found.Law = e.Law; o.Law != "" {
				found.Law = o.Law
			}
			add(found)
		}
		if len(e.Offences) == 0 {
			found.Offence = firstLine(e.because())
			add(found)
		}
	}
	for _, name := range r.Silent() {
		add(Finding{Suite: Test, Name: name, Verdict: lab.VerdictUnknown,
			Offence: "the test failed, and no verdict says why"})
	}
	return all
}

// telling are the offences that make findings. A law over drawn sequences has one, the worst: which
// others the draw has met along the way is chance.
func (e Entry) telling() []lab.Offence {
	if e.Suite == Law && len(e.Offences) > 0 {
		return e.Offences[e.worst():][:1]
	}
	return e.Offences
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// fingerprint names the fault by what stays the same when it is met again.
func (f Finding) fingerprint() string {
	offence := unvaried(f.Offence)
	if f.Suite == Law && f.Verdict == lab.VerdictInvalid {
		offence = "" // the draw decides how the law is seen to be broken
	}
	parts := []string{f.Suite, f.Name, f.Verdict.String(), f.Law, offence}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

var (
	// brokenLaw: what follows it are rows and counts, which differ with the draw.
	brokenLaw = regexp.MustCompile(`^(loop \d+: )?law \S+ is broken`)
	// varying are numbers, with letters and dots that hang on to them, such as ids and durations,
	// and folders. An SQLSTATE is no such number.
	varying = regexp.MustCompile(`SQLSTATE \w{5}|/(?:[\w.+@-]+/)+|` +
		`\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d[\w.µ]*`)
)

func unvaried(text string) string {
	if law := brokenLaw.FindString(text); law != "" {
		text = law
	}
	return varying.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.HasPrefix(s, "SQLSTATE "):
			return s
		case s[0] == '/':
			return ""
		}
		return "#"
	})
}
