package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab/postgres"
)

// A result is what one statement returned, values as text.
type result struct {
	tag     string
	columns []string
	rows    [][]*string // nil is NULL
	varies  [][]bool    // which values another rehearsal saw otherwise; nil: none
}

// A failure is the error that a message ended with.
type failure struct{ state, message string }

// A rehearsal plays a script on plain connections.
type rehearsal struct {
	observer *pgx.Conn
	dsn      string
	players  map[*terminal]*player
	before   map[string]string // what tables held, as a digest
}

// A player is one terminal's connection.
type player struct {
	conn    *pgconn.PgConn
	notices []string
	ended   chan outcome // of the line that it is busy with
}

type outcome struct {
	results []result
	err     error
}

func openRehearsal(ctx context.Context, dsn string) (*rehearsal, error) {
	cfg, err := postgres.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect for the rehearsal: %w", err)
	}
	return &rehearsal{observer: conn, dsn: dsn, players: map[*terminal]*player{}}, nil
}

func (r *rehearsal) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, p := range r.players {
		_ = r.hangUp(ctx, p)
	}
	_ = r.observer.Close(ctx)
}

// play plays all lines, each in its turn, and keeps what they returned in the script.
func (r *rehearsal) play(ctx context.Context, s *Script) (err error) {
	if r.before, err = r.digests(ctx); err != nil {
		return err
	}
	for i, l := range s.lines {
		if err = r.begin(ctx, l); err == nil {
			err = r.settle(ctx, s, i)
		}
		if err != nil && s.chosen(i) {
			return noScript("line %d frees several waiters, and PostgreSQL chooses who goes first (%w)",
				i+1, err)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	after, err := r.digests(ctx)
	if err != nil {
		return err
	}
	references, err := r.references(ctx)
	s.noteTouched(r.before, after, references)
	return err
}

// begin does what the line says, without waiting for its end.
func (r *rehearsal) begin(ctx context.Context, l *line) error {
	switch {
	case l.kills:
		for _, p := range r.players {
			if err := r.hangUp(ctx, p); err != nil {
				return err
			}
		}
		clear(r.players)
		return nil
	case l.quits:
		p := r.players[l.terminal]
		delete(r.players, l.terminal)
		if p == nil {
			return nil
		}
		return r.hangUp(ctx, p)
	}
	p, err := r.player(ctx, l.terminal)
	if err != nil {
		return err
	}
	if p.ended != nil {
		return fmt.Errorf("%s is still busy", l.terminal.name)
	}
	p.ended = make(chan outcome, 1)
	go func(ended chan<- outcome) {
		results, err := results(ctx, p.conn, strings.Join(l.sql, "; "))
		ended <- outcome{results, err}
	}(p.ended)
	return nil
}

// player is the terminal's connection, opened at its first line.
func (r *rehearsal) player(ctx context.Context, t *terminal) (*player, error) {
	if p := r.players[t]; p != nil {
		return p, nil
	}
	cfg, err := postgres.ParseConfig(r.dsn)
	if err != nil {
		return nil, err
	}
	p := &player{}
	cfg.RuntimeParams["client_min_messages"] = "warning" // as the isolation tester does
	for _, s := range t.settings {
		cfg.RuntimeParams[s.Name] = s.Value
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		p.notices = append(p.notices, n.Severity+":  "+n.Message)
	}
	if p.conn, err = pgconn.ConnectConfig(ctx, &cfg.Config); err != nil {
		return nil, fmt.Errorf("open %s: %w", t.name, err)
	}
	r.players[t] = p
	return p, nil
}

// hangUp ends a connection from the server's side and returns when its backend, with its locks, is
// gone.
func (r *rehearsal) hangUp(ctx context.Context, p *player) error {
	const end = `SELECT pg_terminate_backend($1, 5000)` // milliseconds
	_, err := r.observer.Exec(ctx, end, int32(p.conn.PID()))
	_ = p.conn.Conn().Close() // so that its line ends, whatever the server says
	if p.ended != nil {
		<-p.ended
	}
	_ = p.conn.Close(ctx)
	return err
}

// results reads all that one message returns.
func results(ctx context.Context, conn *pgconn.PgConn, sql string) (all []result, err error) {
	many := conn.Exec(ctx, sql)
	for many.NextResult() {
		one := many.ResultReader()
		var r result
		for _, f := range one.FieldDescriptions() {
			r.columns = append(r.columns, f.Name)
		}
		for one.NextRow() {
			r.rows = append(r.rows, texts(one.Values()))
		}
		tag, err := one.Close()
		if err == nil {
			r.tag = tag.String()
			all = append(all, r)
		}
	}
	return all, many.Close()
}

func texts(values [][]byte) []*string {
	row := make([]*string, len(values))
	for i, v := range values {
		if v != nil {
			text := string(v)
			row[i] = &text
		}
	}
	return row
}

// settle returns when every line up to the i-th is done or waits, as the trace has it.
func (r *rehearsal) settle(ctx context.Context, s *Script, i int) error {
	for n, l := range s.lines[:i+1] {
		p := r.players[l.terminal]
		if p == nil || p.ended == nil || n < i && l.until < i {
			continue
		}
		var err error
		switch {
		case l.until <= i:
			err = r.done(ctx, l, p)
		case len(l.waits) > 0:
			err = r.waiting(ctx, l, p, l.waitAfter(s.lines, i))
		}
		if err != nil {
			return fmt.Errorf("%s of %s (line %d): %w", l.label, l.terminal.name, n+1, err)
		}
	}
	return nil
}

// waitAfter are the sessions that the line was last seen to wait for before the line after the i-th
// began.
func (l *line) waitAfter(lines []*line, i int) []string {
	holders := l.waits[0].For
	for _, w := range l.waits {
		if i+1 == len(lines) || w.From < lines[i+1].at {
			holders = w.For
		}
	}
	return holders
}

// done takes the end of a line and holds it against the trace.
func (r *rehearsal) done(ctx context.Context, l *line, p *player) error {
	var o outcome
	select {
	case o = <-p.ended:
	case <-ctx.Done():
		return fmt.Errorf("it should be done, but is not: %w", ctx.Err())
	}
	p.ended = nil
	var failed *failure
	if pg := (*pgconn.PgError)(nil); errors.As(o.err, &pg) {
		failed = &failure{pg.Code, pg.Severity + ":  " + pg.Message}
	} else if o.err != nil {
		return o.err
	}
	if err := l.compare(o.results, failed); err != nil {
		return err
	}
	l.keep(o.results, failed, p.notices)
	p.notices = nil
	return nil
}

// stalePlan is the code of "cached plan must not change result type".
const stalePlan = "0A000"

// compare holds what plain SQL returned against what the run saw.
func (l *line) compare(got []result, failed *failure) error {
	if l.want == nil {
		if failed != nil && !l.lost {
			return fmt.Errorf("it failed: %s %s", failed.state, failed.message)
		}
		return nil
	}
	state, rows := "", 0
	var tags []string
	if failed != nil {
		state = failed.state
	}
	for _, r := range got {
		tags, rows = append(tags, r.tag), rows+len(r.rows)
	}
	if l.want.SQLState == stalePlan && state == "" {
		return noScript("the error belongs to a prepared statement, and plain SQL prepares none")
	}
	if state != l.want.SQLState || rows != l.want.Rows || !slices.Equal(tags, l.want.Tags) {
		return fmt.Errorf("the run saw %q, %d rows, error %q; in plain SQL it is %q, %d rows, error %q",
			l.want.Tags, l.want.Rows, l.want.SQLState, tags, rows, state)
	}
	return nil
}

// keep keeps what a line returned; in a second rehearsal, which of it was otherwise in the first.
func (l *line) keep(got []result, failed *failure, notices []string) {
	if l.kept {
		for i := range l.results {
			l.results[i].differ(got[i])
		}
		return
	}
	l.kept, l.results, l.failure, l.notices = true, got, failed, notices
}

func (r *result) differ(other result) {
	for j, row := range r.rows {
		for k, value := range row {
			again := other.rows[j][k]
			if value == again || value != nil && again != nil && *value == *again {
				continue
			}
			if r.varies == nil {
				r.varies = make([][]bool, len(r.rows))
				for n := range r.rows {
					r.varies[n] = make([]bool, len(r.columns))
				}
			}
			r.varies[j][k] = true
		}
	}
}
