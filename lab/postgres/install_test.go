package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakePackager puts a package manager into an otherwise empty PATH that writes down how it is
// called and fails for arguments that contain a word.
func fakePackager(t *testing.T, program, failsAt string) (calls func() string) {
	t.Helper()
	folder := t.TempDir()
	script := "#!/bin/sh\necho \"$0 $*\" >> " + folder + "/calls\n" +
		"case \"$*\" in *" + failsAt + "*) echo no such package; exit 1;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, program), []byte(script), 0o700))
	t.Setenv("PATH", folder)
	return func() string {
		text, _ := os.ReadFile(folder + "/calls")
		return strings.ReplaceAll(string(text), folder+"/", "")
	}
}

func TestPackagersAreCalledAsTheirManualsSay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: the commands are those for root")
	}
	for program, want := range map[string]string{
		"apt-get": "apt-get update\napt-get install --yes --no-install-recommends postgresql\n",
		"dnf": "dnf module enable --assumeyes postgresql:16\n" +
			"dnf install --assumeyes postgresql-server\n",
		"apk": "apk add postgresql\n",
	} {
		for _, p := range packagers() {
			if p.program != program {
				continue
			}
			calls := fakePackager(t, program, "up[d]ate")
			require.NoError(t, p.install(bounded(t), func(string) {}))
			require.Equal(t, want, calls())
		}
	}
}

func TestFailedInstallShowsTheReasonAndTheCommand(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: the commands are those for root")
	}
	fakePackager(t, "apt-get", "install")
	err := packagers()[0].install(bounded(t), func(string) {})
	require.ErrorContains(t, err, "apt-get install --yes")
	require.ErrorContains(t, err, "no such package")

	brew := packagers()[3]
	_, err = brew.command(bounded(t), []string{"install"})
	require.ErrorContains(t, err, "brew refuses root")
}

func TestInstallDoesNothingWhereAServerIs(t *testing.T) {
	needLocal(t)
	calls := fakePackager(t, "apt-get", "never")
	var said []string
	require.NoError(t, Install(bounded(t), func(line string) { said = append(said, line) }))
	require.Empty(t, calls())
	require.Len(t, said, 1)
	require.Contains(t, said[0], "nothing to install: PostgreSQL ")
	require.NoError(t, Install(bounded(t), nil))
}
