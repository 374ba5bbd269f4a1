package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
	"webhooklab/properties"
	"webhooklab/scenarios"
)

// readmes are the files whose blocks the code writes.
var readmes = []string{"../README.md", "README.md"}

// shownBlock is a block of the README that the code writes: a mark that says what, and an end.
var shownBlock = regexp.MustCompile("(?s)<!-- ([a-z]+) ?([a-z_/.]*) -->\n(.*?)<!-- end -->")

// What the README shows is what the code does today. -update writes it anew.
func TestReadmeShowsWhatTheCodeDoes(t *testing.T) {
	for _, readme := range readmes {
		t.Run(readme, func(t *testing.T) { showsWhatTheCodeDoes(t, readme) })
	}
}

func showsWhatTheCodeDoes(t *testing.T, readme string) {
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	want := shownBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		m := shownBlock.FindStringSubmatch(block)
		require.NotContains(t, m[3], "<!--", "the block before has no end")
		mark, _, _ := strings.Cut(block, "\n")
		return mark + "\n" + strings.TrimSpace(shown(t, m[1], m[2])) + "\n<!-- end -->"
	})
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "run the tests with -update, and read what it wrote")
}

func shown(t *testing.T, kind, argument string) string {
	switch kind {
	case "scenario":
		return fence("go", after(t, argument+".go", "\n\n", 2))
	case "transcript":
		return fence("", read(t, "testdata/"+argument+".txt"))
	case "file":
		language := map[string]string{".sh": "sh", ".yaml": "yaml"}[filepath.Ext(argument)]
		return fence(language, read(t, "../"+argument))
	case "matrix":
		return matrix()
	case "sins":
		return sins()
	case "kills":
		return survivors(t) + "\n\n<details><summary>The whole matrix</summary>\n\n" +
			strings.TrimSpace(report.KillsMarkdown(recorded(t))) + "\n\n</details>"
	case "laws":
		return laws()
	case "track":
		return trackRecord()
	case "own":
		return fence("go", between(t, "own_receiver_test.go", "func TestOwnReceiver", "func (own) accept"))
	case "options":
		out, err := exec.Command("../run_lab.sh", "--help").CombinedOutput()
		require.NoError(t, err, string(out))
		return fence("", string(out))
	}
	require.Fail(t, "the README asks for what the test can't show", "%s %s", kind, argument)
	return ""
}

func matrix() string {
	var b strings.Builder
	for _, suite := range scenarios.Suites {
		fmt.Fprintf(&b, "\n**%s**\n\n| scenario | what it proves |\n|---|---|\n", suite.Title)
		for _, law := range byLaw(suite) {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(law.scenarios, ", "), law.law)
		}
	}
	return strings.TrimSpace(b.String())
}

type proof struct {
	law       string
	scenarios []string
}

// byLaw gathers the scenarios that prove the same law.
func byLaw(suite scenarios.Suite) (all []proof) {
	for _, sc := range suite.Scenarios {
		name := "`" + sc.Name + "`"
		if n := len(all); n > 0 && all[n-1].law == sc.Law {
			all[n-1].scenarios = append(all[n-1].scenarios, name)
		} else {
			all = append(all, proof{sc.Law, []string{name}})
		}
	}
	return all
}

func sins() string {
	var b strings.Builder
	b.WriteString("| broken receiver | what comes of it | caught by |\n|---|---|---|\n")
	for _, sinner := range scenarios.Sinners {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", sinner.Name, sinner.Harm, sinner.Scenario)
	}
	return b.String()
}

func laws() string {
	var b strings.Builder
	b.WriteString("| law | says |\n|---|---|\n")
	for _, law := range slices.Concat(properties.Audited, properties.Emails,
		properties.Receipts, properties.Outbox) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", law.Name, law.Law)
	}
	return b.String()
}

func trackRecord() string {
	var b strings.Builder
	for _, fault := range scenarios.TrackRecord {
		shown := "the same mistake, `" + fault.Sin + "`"
		if fault.Code != "" {
			shown = "the project's own code, `" + fault.Code + "`"
		}
		fmt.Fprintf(&b, "- [%s](%s): %s.\n  Right: %s. Shown by %s:\n  `%s`\n",
			fault.Project, fault.Address, fault.Happens, fault.Right, shown, fault.Replay)
	}
	return b.String()
}

// survivors says in a sentence what the usual tests miss.
func survivors(t *testing.T) string {
	missed, flawed := 0, 0
	for _, k := range recorded(t) {
		if k.Reference {
			continue
		}
		flawed++
		if k.Cell(report.InTurn).Ruling != report.Caught &&
			k.Cell(report.InLoops).Ruling != report.Caught {
			missed++
		}
	}
	return fmt.Sprintf("**%d of %d broken receivers survive both usual tests. None survives the lab.**",
		missed, flawed)
}

func fence(language, text string) string {
	return "```" + language + "\n" + strings.TrimSpace(text) + "\n```"
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// after is a file without its first n parts.
func after(t *testing.T, file, separator string, n int) string {
	parts := strings.SplitN(read(t, file), separator, n+1)
	return parts[len(parts)-1]
}

func between(t *testing.T, file, from, to string) string {
	_, rest, found := strings.Cut(read(t, file), from)
	require.True(t, found, from)
	body, _, found := strings.Cut(rest, to)
	require.True(t, found, to)
	return from + body
}
