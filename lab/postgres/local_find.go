package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// usualFolders are where packages put the server's binaries without touching PATH: Debian,
// RPM, Homebrew on both processors, Postgres.app, Alpine.
var usualFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/libexec/postgresql*",
	"/usr/local/pgsql/bin",
}

// binaries are one installation of the server.
type binaries struct {
	folder  string
	major   int
	version string // what `postgres -V` says
}

func (b binaries) postgres() string { return filepath.Join(b.folder, "postgres") }
func (b binaries) initdb() string   { return filepath.Join(b.folder, "initdb") }

// errNoBinaries says that no PostgreSQL server is installed where the lab looks.
var errNoBinaries = errors.New("no postgres and initdb found in PATH, " +
	strings.Join(usualFolders, ", ") + "; install a server: ./run_lab.sh --install")

// findBinaries is the installation in PATH, else the newest accepted one in the usual folders.
// Versions out of range are named in the error when nothing else is there.
func findBinaries(ctx context.Context) (binaries, error) {
	var best binaries
	var refused []string
	for i, folder := range candidates() {
		found, err := probe(ctx, folder)
		if err != nil {
			continue
		}
		if checkVersion(found.major*10000, found.version) != nil {
			refused = append(refused, fmt.Sprintf("%s in %s", found.version, folder))
			continue
		}
		if i == 0 && folder == inPath() {
			return found, nil
		}
		if found.major > best.major {
			best = found
		}
	}
	switch {
	case best.folder != "":
		return best, nil
	case len(refused) > 0:
		return best, fmt.Errorf("find PostgreSQL: %s refused: the lab accepts %d to %d; "+
			"install one of those",
			strings.Join(refused, ", "), oldest, newest)
	}
	return best, errNoBinaries
}

// candidates are the folders to look in, PATH's first.
func candidates() []string {
	var folders []string
	if folder := inPath(); folder != "" {
		folders = append(folders, folder)
	}
	for _, pattern := range usualFolders {
		matches, _ := filepath.Glob(pattern)
		folders = append(folders, matches...)
	}
	return folders
}

// inPath is the folder of the first postgres in PATH that has its initdb beside it, after
// following links: packages link single binaries into /usr/bin.
func inPath() string {
	found, err := exec.LookPath("postgres")
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(found)
	if err != nil {
		return ""
	}
	return filepath.Dir(real)
}

// probe asks the postgres in a folder for its version; initdb must be there too.
func probe(ctx context.Context, folder string) (binaries, error) {
	b := binaries{folder: folder}
	if _, err := exec.LookPath(b.initdb()); err != nil {
		return b, err
	}
	out, err := exec.CommandContext(ctx, b.postgres(), "-V").Output()
	if err != nil {
		return b, err
	}
	_, rest, known := strings.Cut(string(out), "(PostgreSQL) ")
	if !known {
		return b, fmt.Errorf("%s -V says %q", b.postgres(), out)
	}
	b.version, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	b.major = majorOf(b.version)
	return b, nil
}
