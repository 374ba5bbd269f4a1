package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A packager is a system's package manager and what it has to do for a PostgreSQL server.
type packager struct {
	program string
	steps   []step
	asUser  bool // refuses root
}

// step is one command. An optional one may fail: older or newer systems do without it.
type step struct {
	args     []string
	optional bool
}

// packagers are those that the lab knows, in the order in which they are looked for: Homebrew
// last, because it can be installed beside a system's own.
func packagers() []packager {
	return []packager{
		{program: "apt-get", steps: []step{
			{args: []string{"update"}, optional: true}, // one dead source is no reason to give up
			{args: []string{"install", "--yes", "--no-install-recommends", "postgresql"}},
		}},
		{program: "dnf", steps: []step{
			// Where there are modules, the default is too old.
			{args: []string{"module", "enable", "--assumeyes", "postgresql:16"}, optional: true},
			{args: []string{"install", "--assumeyes", "postgresql-server"}},
		}},
		{program: "apk", steps: []step{{args: []string{"add", "postgresql"}}}},
		{program: "brew", steps: []step{{args: []string{"install", "postgresql@17"}}}, asUser: true},
	}
}

// mayInstall tells whether Start may change the system unasked: a throw-away machine of a CI.
func mayInstall() bool { return os.Geteuid() == 0 && os.Getenv("CI") == "true" }

// Install installs a PostgreSQL server through apt, dnf, apk or brew, says each command through
// progress, and checks that the result is one that the lab accepts. It does nothing where one is
// there already. A server that the package starts by itself is none of ours and is never used.
func Install(ctx context.Context, progress func(line string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	found, err := findBinaries(ctx)
	if err == nil {
		progress("nothing to install: PostgreSQL " + found.version + " is in " + found.folder)
		return nil
	}
	for _, p := range packagers() {
		if _, err := exec.LookPath(p.program); err != nil {
			continue
		}
		if err := p.install(ctx, progress); err != nil {
			return err
		}
		if found, err = findBinaries(ctx); err != nil {
			return fmt.Errorf("install PostgreSQL: %s reports success, but: %w", p.program, err)
		}
		progress("installed PostgreSQL " + found.version + " in " + found.folder)
		return nil
	}
	return errors.New("install PostgreSQL: none of apt-get, dnf, apk and brew is here; install " +
		"a server of version 14 to 18 by hand and put postgres and initdb into PATH")
}

func (p packager) install(ctx context.Context, progress func(string)) error {
	for _, s := range p.steps {
		cmd, err := p.command(ctx, s.args)
		if err != nil {
			return err
		}
		line := strings.Join(cmd.Args, " ")
		progress("installing PostgreSQL: " + line)
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
		case s.optional && ctx.Err() == nil:
			progress("going on without that: " + err.Error())
		default:
			return fmt.Errorf("install PostgreSQL: %s: %w\n%s\nrun it by hand to see more",
				line, err, lastLines(string(out), 20))
		}
	}
	return nil
}

// command is the step as whoever may do it.
func (p packager) command(ctx context.Context, args []string) (*exec.Cmd, error) {
	line := append([]string{p.program}, args...)
	root := os.Geteuid() == 0
	switch {
	case root && p.asUser:
		return nil, fmt.Errorf("install PostgreSQL: %s refuses root; as another user: %s",
			p.program, strings.Join(line, " "))
	case !root && !p.asUser:
		if _, err := exec.LookPath("sudo"); err != nil {
			return nil, fmt.Errorf("install PostgreSQL: it takes root, and sudo is not here; "+
				"as root: %s", strings.Join(line, " "))
		}
		line = append([]string{"sudo"}, line...)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdin = os.Stdin // for sudo's question
	return cmd, nil
}
