package scenarios_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

// Each public fault happens here by the schedule that is on record for it, to the letter of its
// transcript; and the right thing happens where the fault is mended.
func TestTrackRecord(t *testing.T) {
	chosen(t, scenarios.Suite{})
	build := builder(t)
	for _, fault := range scenarios.TrackRecord {
		t.Run(fault.Driver+fault.Sin, func(t *testing.T) {
			scenario, _, _ := strings.Cut(fault.Replay, "@")
			suite, sc := inTrackRecord(t, scenario)
			wrong, right := scenarios.Options{Seed: 1}, scenarios.Options{Seed: 1}
			shown := "flawed/" + fault.Sin
			if fault.Driver == "" {
				wrong = mistaken(t, fault.Sin)
			} else {
				shown = "track/" + fault.Driver
				wrong.Receiver = lab.Process(build(t, "go.mod"), fault.Driver)
				right.Receiver = lab.Process(build(t, "fixed.mod"), mended[fault.Driver])
			}

			r := trackBench(t, suite, wrong).Run(t.Context(), sc)
			require.Equal(t, lab.VerdictInvalid, r.Verdict, r.String())
			golden(t, shown, r.Transcript)
			require.Equal(t, fault.Replay, r.Schedule)

			r = trackBench(t, suite, right).Run(t.Context(), sc)
			require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
			if fault.Driver != "" {
				golden(t, shown+"_mended", r.Transcript)
			}
		})
	}
}

// mended says what does right where a driver doesn't. No release of lib/pq does.
var mended = map[string]string{
	"pgx_exec": "pgx_exec", "pgx_commit": "pgx_commit", "pq_exec": "pgx_exec",
}

func inTrackRecord(t *testing.T, scenario string) (scenarios.Suite, lab.Scenario) {
	t.Helper()
	for _, sc := range scenarios.DriverSuite.Scenarios {
		if sc.Name == scenario {
			return scenarios.DriverSuite, sc
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

// builder builds the receiver with the drivers that a module file pins, once for each. Where they
// can't be had, the test is not run; CI must have them.
func builder(t *testing.T) func(t *testing.T, modfile string) string {
	dir := t.TempDir()
	return func(t *testing.T, modfile string) string {
		t.Helper()
		program := filepath.Join(dir, modfile+".program")
		if _, err := os.Stat(program); err == nil {
			return program
		}
		cmd := exec.Command("go", "build", "-C", "../lab/flawed/driver_repeats",
			"-modfile", modfile, "-o", program, ".")
		out, err := cmd.CombinedOutput()
		if err != nil && os.Getenv("CI") != "true" {
			t.Skipf("not run: the drivers of %s can't be built: %v\n%s", modfile, err, out)
		}
		require.NoError(t, err, string(out))
		return program
	}
}

func trackBench(t *testing.T, suite scenarios.Suite, o scenarios.Options) *scenarios.Bench {
	t.Helper()
	b := bench(t, postgres.Fast, suite, o)
	if o.Receiver != nil {
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
	IF EXISTS (SELECT FROM pg_authid
	            WHERE rolname = current_user AND rolpassword LIKE 'SCRAM-SHA-256$1:%%') THEN
		ALTER ROLE CURRENT_USER PASSWORD '%s';
	END IF;
END $$`, password)))
}
