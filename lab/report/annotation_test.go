package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

func TestAnnotationsPointAtTheLine(t *testing.T) {
	got := strings.Split(strings.TrimSpace(report.Annotations(mixed(), project(t))), "\n")
	require.Len(t, got, 4)
	require.Equal(t, "::error file=sub%2C 50%25/scenarios/deadlock.go,line=4,"+
		"title=scenario deadlock%3A invalid::law: a deadlock is retried inside%0Aoffence: first was "+
		"answered \"unknown\", <want> \"applied\" & 100 %25, it's\x00%0A    the scene is kept in "+
		"/tmp/x/scenes/deadlock%0A  at deadlock.go:4%0A"+
		"schedule: deadlock@42 first/UPDATE second/UPDATE%0A"+
		"again: ./run_lab.sh --replay 'deadlock@42 first/UPDATE second/UPDATE'", got[0])
	require.True(t, strings.HasPrefix(got[1], "::error title=explored old_new%3A invalid::"), got[1])
	require.True(t, strings.HasPrefix(got[2],
		"::error file=sub%2C 50%25/properties/order_test.go,line=3,title=law TestShuffled%3A unknown::"),
		got[2])
	require.Contains(t, got[3], "title=webhook.TestBatch/one failed without a verdict::batch_test.go:7")
}

// GitHub shows ten of a kind, and would drop the rest without a word.
func TestMoreAnnotationsThanAreShownAreCounted(t *testing.T) {
	var entries []report.Entry
	for i := range 11 {
		entries = append(entries, report.Entry{Name: fmt.Sprint("n", i), Verdict: lab.VerdictInvalid})
	}
	require.Equal(t, 10, strings.Count(report.Annotations(gate(entries[:10]...), report.Places{}), "\n"))
	got := report.Annotations(gate(entries...), report.Places{})
	require.Equal(t, 10, strings.Count(got, "\n"))
	require.Contains(t, got, "2 failures more")
}

func TestARunThatHeldIsNotAnnotated(t *testing.T) {
	require.Empty(t, report.Annotations(gate(clean...), report.Places{}))
	require.Contains(t, report.Annotations(report.Run{Trouble: "no server"}, report.Places{}),
		"::error title=UNKNOWN::no server")
}
