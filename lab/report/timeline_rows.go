package report

import (
	"fmt"
	"slices"
	"strings"

	"webhooklab/lab"
)

// mostChanges is how many changed rows one commit shows; the transcript has the final ones.
const mostChanges = 8

// changes are the rows that came and went since they were read last, a line each.
func (t *timeline) changes(i int) (lines []string) {
	before := map[string][]string{}
	if i > 0 {
		for _, table := range t.trace.Rows[i-1].Tables {
			before[table.Name] = table.Rows
		}
	}
	for _, table := range t.trace.Rows[i].Tables {
		for _, row := range without(before[table.Name], table.Rows) {
			lines = append(lines, "− "+table.Name+"  "+row)
		}
		for _, row := range without(table.Rows, before[table.Name]) {
			lines = append(lines, "+ "+table.Name+"  "+row)
		}
	}
	if more := len(lines) - mostChanges; more > 0 {
		lines = append(lines[:mostChanges], fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// without is a list without the elements of another, each taken away once.
func without(list, taken []string) (rest []string) {
	taken = slices.Clone(taken)
	for _, s := range list {
		if i := slices.Index(taken, s); i >= 0 {
			taken = slices.Delete(taken, i, i+1)
			continue
		}
		rest = append(rest, s)
	}
	return rest
}

// counted says how many rows each table has.
func counted(r lab.TracedRows) string {
	var all []string
	for _, table := range r.Tables {
		all = append(all, fmt.Sprintf("%s %d", table.Name, len(table.Rows)))
	}
	return strings.Join(all, " · ")
}
