package scenarios_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// Each public fault happens here by the schedule that is on record for it, to the letter of its
// transcript; and the right thing happens where the fault is mended.
func TestTrackRecord(t *testing.T) {
	chosen(t, scenarios.Suite{})
	if !wantsAll() {
		t.Skip("it builds modules of their own: LAB_ALL=1 asks for it")
	}
	build := builder(t)
	for _, fault := range scenarios.TrackRecord {
		shown := "flawed/" + fault.Sin
		if fault.Code != "" {
			shown = "track/" + strings.ReplaceAll(fault.Code, " ", "_")
		}
		t.Run(filepath.Base(shown), func(t *testing.T) {
			scenario, _, _ := strings.Cut(fault.Replay, "@")
			suite, sc := inTrackRecord(t, scenario)
			wrong, right := scenarios.Options{}, scenarios.Options{Seed: 1}
			if fault.Sin != "" {
				wrong = mistaken(t, fault.Sin)
			} else {
				wrong = build(t, "go.mod", fault.Code)
				right = build(t, "fixed.mod", orElse(mended[fault.Code], fault.Code))
			}

			r := trackBench(t, suite, wrong).Run(t.Context(), sc)
			require.Equal(t, lab.VerdictInvalid, r.Verdict, r.String())
			golden(t, shown, r.Transcript)
			require.Equal(t, fault.Replay, r.Schedule)

			r = trackBench(t, suite, right).Run(t.Context(), sc)
			require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
			if fault.Code != "" {
				golden(t, shown+"_mended", r.Transcript)
			}
		})
	}
}

// mended says what does right where a project doesn't. No release of lib/pq does.
var mended = map[string]string{"driver_repeats pq_exec": "driver_repeats pgx_exec"}

func inTrackRecord(t *testing.T, scenario string) (scenarios.Suite, lab.Scenario) {
	t.Helper()
	for _, suite := range []scenarios.Suite{scenarios.DriverSuite, scenarios.RiverSuite} {
		for _, sc := range suite.Scenarios {
			if sc.Name == scenario {
				return suite, sc
			}
		}
	}
	suite, sc, err := scenarios.Named(scenario)
	require.NoError(t, err)
	return suite, sc
}

// mistaken is the receiver of lab/flawed that makes the same mistake.
func mistaken(t *testing.T, name string) scenarios.Options {
	t.Helper()
	for _, sinner := range scenarios.Sinners {
		if sinner.Name == name {
			o := sinner.Options()
			o.Seed = 1
			return o
		}
	}
	require.Fail(t, "there is no such sin", name)
	return scenarios.Options{}
}

// builder builds a program of lab/flawed on what a module file pins, once for each, and makes
// receivers of it. Where the modules can't be had, the test is not run; CI must have them.
func builder(t *testing.T) func(t *testing.T, modfile, code string) scenarios.Options {
	dir := t.TempDir()
	return func(t *testing.T, modfile, code string) scenarios.Options {
		t.Helper()
		words := strings.Fields(code)
		program := filepath.Join(dir, words[0]+"_"+modfile)
		if _, err := os.Stat(program); err != nil {
			buildProgram(t, words[0], modfile, program)
		}
		o := scenarios.Options{
			Receiver: scenarios.AsProcess(append([]string{program}, words[1:]...)...), Seed: 1,
		}
		if words[0] == "river_rescue" {
			schema, err := exec.Command(program, "schema").Output()
			require.NoError(t, err)
			o.Schema = string(schema)
		}
		return o
	}
}

func buildProgram(t *testing.T, folder, modfile, program string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // where no network answers
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join("..", "lab", "flawed", folder),
		"-modfile", modfile, "-o", program, ".")
	out, err := cmd.CombinedOutput()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("not run: %s can't be built on %s: %v\n%s", folder, modfile, err, out)
	}
	require.NoError(t, err, string(out))
}

func trackBench(t *testing.T, suite scenarios.Suite, o scenarios.Options) *scenarios.Bench {
	t.Helper()
	b := bench(t, postgres.Fast, suite, o)
	if suite.Name == scenarios.DriverSuite.Name {
		usualVerifier(t, b)
	}
	return b
}

// usualVerifier stretches the password as often as PostgreSQL does by itself. The lab's own servers
// don't, to connect faster; lib/pq refuses that.
func usualVerifier(t *testing.T, b *scenarios.Bench) {
	t.Helper()
	u, err := url.Parse(b.Database.DSN())
	require.NoError(t, err)
	password, _ := u.User.Password()
	require.NoError(t, b.Exec(t.Context(), fmt.Sprintf(`
DO $$ BEGIN
	IF NOT has_table_privilege('pg_authid', 'SELECT') THEN
		RETURN; -- a server that was given to us, and to whose passwords we are nobody
	END IF;
	IF EXISTS (SELECT FROM pg_authid
	            WHERE rolname = current_user AND rolpassword LIKE 'SCRAM-SHA-256$1:%%') THEN
		ALTER ROLE CURRENT_USER PASSWORD '%s';
	END IF;
END $$`, password)))
}
