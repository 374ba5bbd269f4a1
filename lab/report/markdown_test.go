package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func TestMarkdown(t *testing.T) {
	r := mixed()
	r.Compared = report.Compare(r, "20260101T000000Z-1", []report.Finding{{
		Fingerprint: "0123456789ab", Suite: report.Scenario, Name: "first_delivery",
		Offence: "no | row <b>", Since: "20251231T000000Z-9",
	}})
	golden(t, "summary_failed.md", report.Markdown(r))
	golden(t, "summary_held.md", report.Markdown(gate(clean...)))
}

// GitHub takes a megabyte, and nothing that a receiver says may become markup.
func TestMarkdownIsBoundedAndEscaped(t *testing.T) {
	hostile := strings.Repeat("````\n<script>| @all\n", 40_000)
	var entries []report.Entry
	for range 200 {
		entries = append(entries, report.Entry{Name: "a|b`<i>", Verdict: lab.VerdictInvalid,
			Law: hostile, Offences: []lab.Offence{{Verdict: lab.VerdictInvalid, Text: hostile}}})
	}
	got := report.Markdown(gate(entries...))
	require.Less(t, len(got), 1<<20)
	require.Contains(t, got, "a\\|b\\`&lt;i&gt;")
	require.Contains(t, got, "160 failures more")
	outside := true
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "`````") {
			outside = !outside
		}
		require.False(t, outside && strings.Contains(line, "<script>"), line)
	}
}
