package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/scenarios"
)

// A psql for each terminal, fed with what the script says and with nothing else, answers what the
// script says, and waits where it says so.
func TestPsqlScriptsCanBeFollowed(t *testing.T) {
	program := findPsql(t)
	stage := openStage(t)
	for _, name := range []string{
		"retry_during_commit", "older_waits_for_newer", "deadlock_receiver_retries",
		"commit_request_lost_fin", "commit_ack_lost_in_flight", "email_while_message_is_added",
		"leased_workers_share_nothing", "leased_crash_after_claim",
	} {
		t.Run(name, func(t *testing.T) {
			cases, err := exportOptions{scenario: name}.cases()
			require.NoError(t, err)
			b := benchOf(t, stage, cases[0])
			script, _, err := cases[0].script(t.Context(), b)
			require.NoError(t, err)
			follow(t, program, b, script.Psql(cases[0].schema))
		})
	}
}

// A hand types a script into its terminals.
type hand struct {
	t        *testing.T
	program  string
	dsn      string
	observer *pgx.Conn
	psqls    map[string]*psql
}

type psql struct {
	in    io.WriteCloser
	lines <-chan string
	pid   int32
}

func follow(t *testing.T, program string, b *scenarios.Bench, script string) {
	d, err := b.Fresh(t.Context())
	require.NoError(t, err)
	h := &hand{t: t, program: program, dsn: d.DSN(), psqls: map[string]*psql{}}
	h.observer, err = pgx.Connect(t.Context(), d.DSN())
	require.NoError(t, err)
	defer func() {
		require.NoError(t, h.observer.Close(context.Background()))
		for _, p := range h.psqls {
			p.in.Close()
			for range p.lines {
			}
		}
		require.NoError(t, d.Drop(context.Background()))
	}()
	for _, block := range strings.Split(script, "\n\n")[1:] {
		h.types(block)
	}
}

var (
	heading = regexp.MustCompile(`(?m)^-- (\d+) (\w+)(?:, waits for (\w+) \(.*\))?(?:, here .*)?$`)
	state   = regexp.MustCompile(` \([0-9A-Z]{5}\)$`)
	wakes   = regexp.MustCompile(`^-- and now line (\d+) returns, in (\w+):$`)
)

// types types one numbered line and demands what stands below it.
func (h *hand) types(block string) {
	found := heading.FindStringSubmatch(block)
	require.NotNil(h.t, found, block)
	number, name, holder := found[1], found[2], found[3]
	p := h.psql(name)
	if strings.Contains(block, "\n\\q") {
		p.in.Close()
		for range p.lines {
		}
		delete(h.psqls, name)
		h.gone(p.pid)
		return
	}
	_, err := fmt.Fprintf(p.in, "%s\n\\warn done %s\n", block, number)
	require.NoError(h.t, err)
	own, woken := h.expected(block)
	if holder != "" {
		require.Equal(h.t, []string{"nothing yet"}, own, block)
		h.waits(p.pid, h.psql(holder).pid)
	} else {
		h.answers(p, number, own)
	}
	for _, w := range woken {
		h.answers(h.psqls[w.name], w.number, w.answer)
	}
}

type wokenLine struct {
	name, number string
	answer       []string
}

// expected is what a block says of its own line's answer, and of those of the lines that it wakes.
func (h *hand) expected(block string) (own []string, woken []wokenLine) {
	to := &own
	for _, text := range strings.Split(block, "\n") {
		if w := wakes.FindStringSubmatch(text); w != nil {
			woken = append(woken, wokenLine{name: w[2], number: w[1]})
			to = &woken[len(woken)-1].answer
		}
		if answer, is := strings.CutPrefix(text, "-- => "); is && !strings.HasPrefix(answer, "SELECT ") {
			*to = append(*to, answer)
		}
	}
	return own, woken
}

// answers reads what a psql prints up to the end of a line.
func (h *hand) answers(p *psql, number string, want []string) {
	var got, record []string
	flush := func() {
		if len(record) > 0 {
			got = append(got, strings.Join(record, ", "))
		}
		record = nil
	}
	for {
		text := h.read(p)
		switch {
		case text == "done "+number:
			flush()
			require.Len(h.t, got, len(want), "line %s: %q, want %q", number, got, want)
			for i := range want { // psql doesn't print an error's code
				require.Equal(h.t, state.ReplaceAllString(want[i], ""), got[i], "line %s", number)
			}
			return
		case text == "":
			flush()
		case strings.Contains(text, ": ") && !strings.HasPrefix(text, "ERROR"):
			record = append(record, text)
		default:
			flush()
			got = append(got, text)
		}
	}
}

func (h *hand) read(p *psql) string {
	select {
	case text, open := <-p.lines:
		require.True(h.t, open, "psql is gone")
		return text
	case <-time.After(30 * time.Second):
		h.t.Fatal("psql does not answer")
		return ""
	}
}

// waits returns when one backend waits for the other and for nobody else.
func (h *hand) waits(pid, holder int32) {
	h.eventually(func() bool {
		var blockers []int32
		err := h.observer.QueryRow(h.t.Context(), `SELECT pg_blocking_pids($1)`, pid).Scan(&blockers)
		require.NoError(h.t, err)
		return slices.Equal(blockers, []int32{holder})
	}, "the line waits for the other terminal")
}

func (h *hand) gone(pid int32) {
	h.eventually(func() bool {
		var there bool
		err := h.observer.QueryRow(h.t.Context(),
			`SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)`, pid).Scan(&there)
		require.NoError(h.t, err)
		return !there
	}, "the connection is gone")
}

func (h *hand) eventually(holds func() bool, what string) {
	h.t.Helper()
	require.Eventually(h.t, holds, 30*time.Second, 2*time.Millisecond, what)
}

// psql is the one in this terminal, started at its first line.
func (h *hand) psql(name string) *psql {
	if p := h.psqls[name]; p != nil {
		return p
	}
	cmd := exec.CommandContext(h.t.Context(), h.program, "-X", "-t", "-A", "-x", "-F", ": ",
		"-P", "null=null", "-v", "VERBOSITY=terse", "-d", h.dsn)
	in, err := cmd.StdinPipe()
	require.NoError(h.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(h.t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(h.t, cmd.Start())
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		cmd.Wait()
	}()
	p := &psql{in: in, lines: lines}
	_, err = io.WriteString(in, "SELECT pg_backend_pid() AS pid;\n\\warn ready\n")
	require.NoError(h.t, err)
	for text := h.read(p); text != "ready"; text = h.read(p) {
		fmt.Sscanf(text, "pid: %d", &p.pid)
	}
	require.NotZero(h.t, p.pid)
	h.psqls[name] = p
	return p
}

func findPsql(t *testing.T) string {
	path, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("psql is not installed")
	}
	return path
}
