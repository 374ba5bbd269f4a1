package scenarios_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

const recordedMatrix = "testdata/matrix.json"

// needsAStory are the flawed receivers that no list of inputs finds, whatever the order and the
// cut, and why.
var needsAStory = map[string]string{}

// The references are clean to every judge. Every flawed receiver is caught by the law that names
// its sin, and from inputs alone but for those that say why not. And it is what was recorded.
func TestMatrix(t *testing.T) {
	if !wantsAll() && os.Getenv("LAB_RECEIVER") == "" && !*update {
		t.Skip("the whole matrix takes minutes: LAB_ALL=1 asks for it, LAB_RECEIVER for one receiver")
	}
	if testing.Short() {
		t.Skip("the whole matrix is left out under -short")
	}
	ofTheLab(t)
	began := time.Now()
	rows, err := scenarios.Matrix(t.Context(), stage, scenarios.MatrixOptions{
		Receiver: os.Getenv("LAB_RECEIVER"), Seed: 1,
		Told: func(k report.Kill) { t.Log("\n" + k.Text()) },
	})
	require.NoError(t, err)
	for _, k := range rows {
		t.Run(k.Receiver, func(t *testing.T) { asItMustBe(t, k) })
	}
	t.Logf("in %v\n%s", time.Since(began), report.KillsSummary(rows))
	asRecorded(t, rows)
}

func asItMustBe(t *testing.T, k report.Kill) {
	require.Empty(t, k.Wrong())
	why, excused := needsAStory[k.Receiver]
	if k.Reference {
		return
	}
	if excused {
		require.Empty(t, k.CaughtBy(report.Generic), "no excuse is needed any more: %s", why)
		return
	}
	require.NotEmpty(t, k.CaughtBy(report.Generic),
		"neither exploration nor gates nor sweep catch it: add an input to its programs")
}

// asRecorded holds the matrix against the one that the README shows: which judge caught whom, by
// what, and which law was broken. What depends on the machine or on chance is not compared.
func asRecorded(t *testing.T, rows []report.Kill) {
	t.Helper()
	if *update {
		text, err := json.MarshalIndent(merged(recorded(t), lasting(rows)), "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(recordedMatrix, append(text, '\n'), 0o644))
	}
	was := map[string]report.Kill{}
	for _, k := range recorded(t) {
		was[k.Receiver] = k
	}
	if os.Getenv("LAB_RECEIVER") == "" {
		require.Len(t, was, len(rows), "run the test with -update")
	}
	for _, k := range rows {
		for _, judge := range report.Judges {
			now, then := k.Cell(judge), was[k.Receiver].Cell(judge)
			if report.Strong(judge) && (then.Named || k.Reference) {
				require.Equal(t, essence(then), essence(now),
					"%s of %s: run the test with -update, and read what it wrote", judge, k.Receiver)
			}
		}
	}
}

// merged are the rows with what was recorded of the receivers that were left out now.
func merged(was, rows []report.Kill) []report.Kill {
	if os.Getenv("LAB_RECEIVER") == "" {
		return rows
	}
	for _, k := range rows {
		i := slices.IndexFunc(was, func(w report.Kill) bool { return w.Receiver == k.Receiver })
		if i >= 0 {
			was[i] = k
		} else {
			was = append(was, k)
		}
	}
	return was
}

// recorded is the matrix as the README shows it.
func recorded(t *testing.T) (rows []report.Kill) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(read(t, recordedMatrix)), &rows))
	return rows
}

// essence is what of a cell is the same on every machine, if the law that names the sin caught it.
// Another law that complains first may be another one each time.
func essence(c report.Cell) report.Cell {
	return report.Cell{Judge: c.Judge, Ruling: c.Ruling, Law: c.Law, Named: c.Named}
}

// lasting are the rows without what is different each time.
func lasting(rows []report.Kill) []report.Kill {
	var all []report.Kill
	for _, k := range rows {
		cells := k.Cells
		k.Cells = nil
		for _, c := range cells {
			c.ElapsedMS, c.FoundMS, c.Text, c.Line = 0, 0, "", ""
			k.Cells = append(k.Cells, c)
		}
		all = append(all, k)
	}
	return all
}
