package lab

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab/postgres"
)

//go:embed gates.sql
var gatesSQL string

// gateClass begins the key of every gate: gateClass or gateClass+1, by its side, and the backend's
// pid.
const gateClass = 1734440036

// gates hold backends inside their statements, before each row that they write: races that live in
// one statement are invisible between commands.
//
// Each backend has a gate of its own, an advisory lock that these gates hold on a connection of
// their own and that a trigger wants. It is an ordinary wait to PostgreSQL, so that a deadlock
// among receivers is found as ever; the holder itself waits for nobody but one that passes.
type gates struct {
	conn   *pgx.Conn
	pid    uint32 // of the holder
	wanted bool   // by the exploration in progress
	shut   bool   // backends are stopped at their gates now
	used   int    // how often one was, in this run
}

// placeGates puts triggers on the receiver's tables at the first call that wants gates. Without
// being shut they hold nobody.
func (l *Lab) placeGates(ctx context.Context, wanted bool) error {
	if l.gates == nil && !wanted {
		return nil
	}
	if l.gates == nil {
		if err := l.reconnect(ctx); err != nil {
			return err
		}
		l.gates = &gates{}
		if err := l.installGates(ctx); err != nil {
			l.gates = nil
			return fmt.Errorf("lab: place gates: %w", err)
		}
	}
	l.gates.wanted = wanted
	return l.gates.connect(ctx, l.cfg)
}

// again goes back to what was wanted before a replay.
func (g *gates) again(wanted bool) {
	if g != nil {
		g.wanted = wanted
	}
}

// installGates is done once for a database, also if other labs work on it.
func (l *Lab) installGates(ctx context.Context) error {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	return pgx.BeginFunc(ctx, l.observer.conn, func(tx pgx.Tx) error {
		var there bool
		err := tx.QueryRow(ctx, `
SELECT to_regprocedure('lab_gate.pass()') IS NOT NULL
  FROM pg_advisory_xact_lock($1)`, gateClass).Scan(&there)
		if err == nil && !there {
			_, err = tx.Exec(ctx, gatesSQL)
		}
		return err
	})
}

// connect opens the holder's connection, anew if it was lost with its server.
func (g *gates) connect(ctx context.Context, c Config) error {
	if g.conn != nil && !g.conn.IsClosed() {
		return nil
	}
	cfg, err := postgres.ParseConfig(c.DSN)
	if err != nil {
		return err
	}
	c.Server.Near(cfg)
	cfg.RuntimeParams["application_name"] = "webhooklab gates"
	cfg.RuntimeParams["lock_timeout"] = fmt.Sprint(c.Bound.Milliseconds())
	if g.conn, err = pgx.ConnectConfig(ctx, cfg); err != nil {
		return err
	}
	g.pid = g.conn.PgConn().PID()
	return nil
}

func (g *gates) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if g.conn != nil {
		_ = g.conn.Close(ctx)
	}
}

// gated says whether statements are stopped at gates in this run.
func (l *Lab) gated() bool { return l.gates != nil && l.gates.wanted }

// shutting says whether they are right now.
func (l *Lab) shutting() bool { return l.gates != nil && l.gates.shut }

// shutGates shuts the gates of all connections there are. Those that open later find theirs shut
// before their first command is released.
func (l *Lab) shutGates() {
	if !l.gated() {
		return
	}
	l.gates.shut = true
	var pids []uint32
	for _, s := range l.sessions {
		for _, ln := range s.lanes {
			if !ln.dying {
				pids = append(pids, ln.pid)
			}
		}
	}
	l.shutGatesOf(pids...)
}

func (l *Lab) shutGatesOf(pids ...uint32) {
	if !l.shutting() || len(pids) == 0 {
		return
	}
	_, err := l.gates.conn.Exec(l.ctx, `
SELECT pg_advisory_lock($1::int, pid), pg_advisory_lock($1::int + 1, pid)
  FROM unnest($2::int[]) AS pid`, gateClass, pids)
	if err != nil {
		l.give(VerdictUnknown, "shut the gates of backends %v: %v", pids, err)
	}
}

// leaveOpen opens the gate of a backend whose client is gone: nobody else would let it go on.
func (l *Lab) leaveOpen(pid uint32) {
	if !l.shutting() {
		return
	}
	l.gates.letGo(`
SELECT pg_advisory_unlock($1::int, $2::int), pg_advisory_unlock($1::int + 1, $2::int)`,
		gateClass, pid)
}

// openGates opens them all, for what is played unstepped and when a run has been stopped.
func (l *Lab) openGates() {
	if l.shutting() {
		l.gates.shut = false
		l.gates.letGo(`SELECT pg_advisory_unlock_all()`)
	}
}

// letGo gives locks back, come what may: with its connection the holder loses them as well.
func (g *gates) letGo(sql string, args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := g.conn.Exec(ctx, sql, args...); err != nil {
		_ = g.conn.Close(ctx)
	}
}

// pass lets the backend through one side of its gate, and returns when that is shut again. The
// other side stops it before its next row, so that nothing depends on who is faster.
func (g *gates) pass(ctx context.Context, class, pid uint32) error {
	var open bool
	err := g.conn.QueryRow(ctx, `
SELECT pg_advisory_unlock($1::int, $2::int), pg_advisory_lock($1::int, $2::int)`,
		class, pid).Scan(&open, nil)
	if err == nil && !open {
		err = fmt.Errorf("it was not shut")
	}
	return err
}

// holds says whether a wait is that of a backend at its own gate.
func (g *gates) holds(w Wait) bool {
	return g != nil && g.shut && w.LockType == "advisory" && w.subID == 2 && w.objID == w.PID &&
		(w.classID == gateClass || w.classID == gateClass+1) && slices.Contains(w.Blockers, g.pid)
}
