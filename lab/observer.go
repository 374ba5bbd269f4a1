package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/postgres"
)

//go:embed blocking.sql
var blockingSQL string

// A Wait is one observation of a session that waits: who holds it up, by which lock.
type Wait struct {
	PID      uint32    `json:"pid"`
	Blockers []uint32  `json:"blockers"` // backend pids; 0 is a prepared transaction
	LockType string    `json:"lock_type"`
	Mode     string    `json:"mode"`
	Relation string    `json:"relation,omitempty"` // none in the row of a transaction wait
	XID      string    `json:"xid,omitempty"`
	Holder   uint32    `json:"holder,omitempty"` // pid that holds XID
	Since    time.Time `json:"since,omitzero"`

	classID, objID uint32 // of an advisory lock
	subID          int16
}

// String is the lock as transcripts show it: "ShareLock on transactionid".
func (w Wait) String() string {
	if w.Relation != "" {
		return fmt.Sprintf("%s on %s %s", w.Mode, w.LockType, w.Relation)
	}
	return fmt.Sprintf("%s on %s", w.Mode, w.LockType)
}

// proved says whether this one observation shows a wait: blockers, the ungranted lock row, and,
// where the row names a transaction, that its holder is one of the blockers.
func (w Wait) proved() bool {
	if len(w.Blockers) == 0 || w.LockType == "" {
		return false
	}
	if w.LockType != "transactionid" {
		return true
	}
	for _, b := range w.Blockers {
		if b == w.Holder || b == 0 {
			return true
		}
	}
	return false
}

// An observer asks the server, on a direct connection of its own, what the wire cannot tell.
type observer struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

func openObserver(ctx context.Context, c Config) (*observer, error) {
	cfg, err := postgres.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("lab: observer: %w", err)
	}
	c.Server.Near(cfg)
	cfg.RuntimeParams["application_name"] = "webhooklab observer"
	// The same few questions again and again: none is worth being planned twice.
	cfg.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	// Nobody analyzes the tables, and their rows become many: laws find those of their runs by index.
	cfg.RuntimeParams["enable_seqscan"] = "off"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("lab: observer: %w", err)
	}
	return &observer{conn: conn}, nil
}

func (o *observer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = o.conn.Close(ctx)
}

// blocked asks whether any of these backends has somebody in its way.
func (o *observer) blocked(ctx context.Context, pids []uint32) (any bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const q = `
SELECT coalesce(bool_or(cardinality(pg_blocking_pids(pid)) > 0), false)
  FROM unnest($1::int4[]) AS pid`
	if err := o.conn.QueryRow(ctx, q, pids).Scan(&any); err != nil {
		return false, fmt.Errorf("lab: ask who is blocked: %w", err)
	}
	return any, nil
}

// asleep asks whether all of these backends that are there sleep until a lock of the lock table is
// theirs.
func (o *observer) asleep(ctx context.Context, pids []uint32) (all bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const q = `
SELECT coalesce(bool_and(wait_event_type IS NOT DISTINCT FROM 'Lock'), true)
  FROM pg_stat_get_activity(NULL) -- not the view: it joins tables, and so takes locks
 WHERE pid = ANY ($1::int4[])`
	if err := o.conn.QueryRow(ctx, q, pids).Scan(&all); err != nil {
		return false, fmt.Errorf("lab: ask who sleeps: %w", err)
	}
	return all, nil
}

// waits asks for all these backends in one question.
func (o *observer) waits(ctx context.Context, pids []uint32) (map[uint32]Wait, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rows, err := o.conn.Query(ctx, blockingSQL, pids)
	if err != nil {
		return nil, fmt.Errorf("lab: ask who waits: %w", err)
	}
	defer rows.Close()
	seen, holders := map[uint32]Wait{}, map[string]uint32{}
	for rows.Next() {
		r, err := lockRowOf(rows)
		if err != nil {
			return nil, fmt.Errorf("lab: read who waits: %w", err)
		}
		w := seen[r.PID]
		switch {
		case r.granted == nil:
			w.PID, w.Blockers = r.PID, r.Blockers
			seen[r.PID] = w
		case *r.granted:
			holders[r.XID] = r.PID // 0: a prepared transaction, which no backend serves
		case w.LockType == "":
			r.Wait.Blockers = w.Blockers
			seen[r.PID] = r.Wait
		}
	}
	for pid, w := range seen {
		if w.LockType == "transactionid" {
			w.Holder = holders[w.XID]
			seen[pid] = w
		}
	}
	return seen, rows.Err()
}

// A lockRow is one row of either kind: of a backend, with its blockers, or of the lock table.
type lockRow struct {
	Wait
	granted *bool // nil: it is a backend's
}

func lockRowOf(rows pgx.Rows) (r lockRow, err error) {
	var pid *uint32
	var locktype, mode, relation, xid *string
	var since *time.Time
	var class, obj *uint32
	var sub *int16
	err = rows.Scan(&pid, &r.Blockers, &r.granted, &locktype, &mode, &relation, &xid, &since,
		&class, &obj, &sub)
	r.PID, r.Since = or(pid), or(since)
	r.LockType, r.Mode, r.Relation, r.XID = or(locktype), or(mode), or(relation), or(xid)
	r.classID, r.objID, r.subID = or(class), or(obj), or(sub)
	return r, err
}

// or is the value behind the pointer, the zero value without one.
func or[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// xid is the transaction id of a backend, "" before its first write.
func (o *observer) xid(ctx context.Context, pid uint32) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const q = `
SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
       backend_xid::text::bigint
  FROM pg_stat_activity
 WHERE pid = $1
   AND backend_xid IS NOT NULL`
	var newest uint64
	var xid uint32
	err := o.conn.QueryRow(ctx, q, pid).Scan(&newest, &xid)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return strconv.FormatUint(widened(xid, newest), 10), err
}

// widened adds the epoch to a transaction id of 32 bits: it lies nearer than half a turn before or
// behind newest. A running transaction may well be younger than what a snapshot calls the end.
func widened(xid uint32, newest uint64) uint64 {
	return newest + uint64(int64(int32(xid-uint32(newest))))
}

// status is what became of a transaction: committed, aborted or in progress.
func (o *observer) status(ctx context.Context, xid string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var s string
	err := o.conn.QueryRow(ctx, `SELECT pg_xact_status($1::xid8)`, xid).Scan(&s)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "22023" {
		return "aborted", nil // never written to the log: no such transaction
	}
	return s, err
}

// locked are the relations outside the system's schemas that a backend has locked, and whether for
// more than reading.
func (o *observer) locked(ctx context.Context, pid uint32) (map[string]bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rows, err := o.conn.Query(ctx, `
SELECT n.nspname || '.' || c.relname,
       bool_or(l.mode <> 'AccessShareLock')
  FROM pg_locks AS l
  JOIN pg_class AS c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE l.pid = $1
   AND l.locktype = 'relation'
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
 GROUP BY 1`, pid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]bool{}
	for rows.Next() {
		var name string
		var write bool
		if err := rows.Scan(&name, &write); err != nil {
			return nil, err
		}
		all[name] = write
	}
	return all, rows.Err()
}

// present says whether a backend still exists.
func (o *observer) present(ctx context.Context, pid uint32) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var there bool
	err := o.conn.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)`, pid).Scan(&there)
	return there, err
}

// describe names a backend that belongs to no session of ours.
func (o *observer) describe(ctx context.Context, pid uint32) string {
	if pid == 0 {
		return "a prepared transaction"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var what string
	err := o.conn.QueryRow(ctx, `
SELECT format('backend %s (%s %s): %s', pid, backend_type, application_name, left(query, 80))
  FROM pg_stat_activity
 WHERE pid = $1`, pid).Scan(&what)
	if err != nil {
		return fmt.Sprintf("backend %d (gone)", pid)
	}
	return what
}
