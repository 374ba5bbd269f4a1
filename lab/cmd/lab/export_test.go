package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// What is exported is alike every time, and on every machine.
func TestExportedFilesAreAsTheyWereRead(t *testing.T) {
	for _, name := range []string{"retry_during_commit", "older_waits_for_newer"} {
		dir := t.TempDir()
		code, out, errs := runExport("--scenario", name, "-o", dir)
		require.Zero(t, code, errs)
		for _, extension := range []string{".sql", ".spec", ".out"} {
			file := filepath.Join(dir, name+extension)
			require.Contains(t, out, file+"\n")
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			goldenExport(t, name+extension, string(got))
		}
		require.FileExists(t, filepath.Join(dir, "snapshots.schema.sql"))
	}
}

func goldenExport(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "export", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the tests with -update, and read what it wrote")
	require.Equal(t, string(want), got)
}

func runExport(args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	code := command(append([]string{"export"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestExportOfABrokenReceiver(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := runExport("--receiver", "check_then_insert", "--format", "psql", "-o", dir)
	require.Zero(t, code, errs)
	text, err := os.ReadFile(filepath.Join(dir, "retry_during_commit.check_then_insert.sql"))
	require.NoError(t, err)
	require.Contains(t, string(text), "-- The receiver whose commands these are does not keep it:")
	require.Contains(t, string(text), "-- => ERROR:  duplicate key value violates unique constraint")
	specs, err := filepath.Glob(filepath.Join(dir, "*.spec"))
	require.NoError(t, err)
	require.Empty(t, specs)
}

func TestExportOfASchedule(t *testing.T) {
	dir := t.TempDir()
	line := "outside_writer@1 receiver:SELECT+webhook_inbox writer:UPDATE+object_state " +
		"writer:INSERT+webhook_inbox receiver:INSERT+webhook_inbox writer:COMMIT receiver:ROLLBACK"
	code, _, errs := runExport("--receiver", "check_then_insert", "--replay", line, "-o", dir)
	require.Zero(t, code, errs)
	require.FileExists(t, filepath.Join(dir, "outside_writer.check_then_insert.spec"))
	text, err := os.ReadFile(filepath.Join(dir, "outside_writer.check_then_insert.sql"))
	require.NoError(t, err)
	require.Contains(t, string(text), "receiver, waits for writer (ShareLock on transactionid)")

	code, _, errs = runExport("--replay", line, "-o", dir)
	require.Equal(t, report.ExitUnjudged, code)
	require.Contains(t, errs, "no longer fits")
}

func TestWhatExportDoesNotTake(t *testing.T) {
	for text, args := range map[string][]string{
		"name what to export":      {},
		"there is no scenario":     {"--scenario", "nowhere"},
		"no receiver is broken by": {"--receiver", "nobody"},
		`--format "html"`:          {"--scenario", "all", "--format", "html"},
		`unexpected argument "x"`:  {"--scenario", "all", "x"},
	} {
		code, out, errs := runExport(args...)
		require.Equal(t, report.ExitUnjudged, code)
		require.Empty(t, out)
		require.Contains(t, errs, text)
	}
	code, out, _ := runExport("--help")
	require.Zero(t, code)
	require.Equal(t, exportHelp, out)
}

func TestARunWithoutAScheduleIsToldApart(t *testing.T) {
	code, _, errs := runExport("--scenario", "copies_released_together", "-o", t.TempDir())
	require.Equal(t, report.ExitUnjudged, code)
	require.Contains(t, errs, "its sessions ran freely")
}

// A rehearsal that sees something else than the trace shows gives no script: what the trace says is
// put wrong here in one place each time.
func TestARehearsalSeesWhatIsWrong(t *testing.T) {
	stage := openStage(t)
	cases, err := exportOptions{scenario: "retry_during_commit"}.cases()
	require.NoError(t, err)
	b := benchOf(t, stage, cases[0])
	require.Equal(t, lab.VerdictValid, b.Run(t.Context(), cases[0].play).Verdict)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for text, spoil := range map[string]func(trace *lab.Trace){
		`the run saw ["INSERT 0 2"], 1 rows`: func(trace *lab.Trace) {
			find(trace, "first", "INSERT webhook_inbox").Answer.Tags = []string{"INSERT 0 2"}
		},
		`the run saw ["INSERT 0 1"], 7 rows`: func(trace *lab.Trace) {
			find(trace, "first", "INSERT webhook_inbox").Answer.Rows = 7
		},
		`error "23505"; in plain SQL`: func(trace *lab.Trace) {
			find(trace, "retry", "INSERT webhook_inbox").Answer.SQLState = "23505"
		},
		`it should wait for ["somebody"], but waits for ["first"]`: func(trace *lab.Trace) {
			trace.Waits[0].For = []string{"somebody"}
		},
		`waits for somebody who is no session`: func(trace *lab.Trace) {
			trace.Waits[0].For = []string{"an outsider"}
		},
		`were under way at once`: func(trace *lab.Trace) { trace.Waits = nil },
		`it should wait for ["first"], but is done`: func(trace *lab.Trace) {
			find(trace, "retry", "INSERT webhook_inbox").Statements[0].SQL =
				"SELECT $1::text, $2::text, $3::text, $4::int8, $5::jsonb"
		},
		`it should be done, but is not`: func(trace *lab.Trace) {
			c := find(trace, "retry", "INSERT webhook_inbox")
			c.Answered, trace.Waits = c.Sent+1, nil
		},
	} {
		t.Run(text, func(t *testing.T) {
			r := b.Run(t.Context(), cases[0].play)
			require.Equal(t, lab.VerdictValid, r.Verdict)
			spoil(r.Trace)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel() // what is waited for in vain takes all of it
			_, err := b.Export(ctx, r)
			require.ErrorContains(t, err, text)
		})
	}
}

func find(trace *lab.Trace, session, label string) *lab.TracedCommand {
	for i := range trace.Commands {
		if c := &trace.Commands[i]; c.Session == session && strings.HasPrefix(c.Label, label) {
			return c
		}
	}
	return nil
}
