// Package export tells a run again in plain SQL, for those who don't want to believe the lab: as a
// script for psql, and as a specification for PostgreSQL's own isolation tester.
package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"webhooklab/lab"
)

// A Script is one run told again in plain SQL. Neither the lab nor the receiver is needed to play
// it: people type it into psql, PostgreSQL's own isolation tester runs it.
type Script struct {
	Name   string
	Law    string
	Broken []string // what the judge had to say against the run; none if it held

	terminals []*terminal
	lines     []*line
	touched   []string // tables that were empty before the run, and are not after it
	unfit     string   // why the isolation tester can't play it; "" if it can
}

// A Database is one of its own for each rehearsal, in the state in which the run began.
type Database interface {
	DSN() string
	Drop(context.Context) error
}

// ErrNoScript says that a run can't be told again in plain SQL, and why.
var ErrNoScript = errors.New("no script")

func noScript(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNoScript}, args...)...)
}

// rehearsals is how often a script is played before it is given away. Values that differ between
// two times are nobody's to expect.
const rehearsals = 2

// rehearsalBound is what one of them may take. It is only ever used up by a script that is wrong.
const rehearsalBound = time.Minute

// Of makes the script of any run, also of one that broke a law, and rehearses it: plain
// connections play it on fresh databases, and must see the results and the waits that the trace
// shows. What they see besides, rows and error messages, becomes part of the script.
func Of(
	ctx context.Context, r lab.Report, fresh func(context.Context) (Database, error),
) (*Script, error) {
	if r.Trace == nil || len(r.Trace.Commands) == 0 {
		return nil, noScript("nothing of it went over a wire")
	}
	s := &Script{Name: r.Scenario, Law: r.Law}
	for _, o := range r.Offences {
		s.Broken = append(s.Broken, r.Trace.Plain(o.Text))
	}
	for n := range rehearsals {
		d, err := fresh(ctx)
		if err != nil {
			return nil, fmt.Errorf("export: a database for the rehearsal: %w", err)
		}
		err = s.prove(ctx, d.DSN(), r.Trace, n == 0)
		if err = errors.Join(err, d.Drop(context.WithoutCancel(ctx))); err != nil {
			return nil, fmt.Errorf("export: %s: %w", r.Scenario, err)
		}
	}
	return s, nil
}

// prove rehearses the script once; the first time it is written before that, with the literals
// that this database makes of the trace's arguments.
func (s *Script) prove(ctx context.Context, dsn string, t *lab.Trace, first bool) error {
	ctx, cancel := context.WithTimeout(ctx, rehearsalBound)
	defer cancel()
	stage, err := openRehearsal(ctx, dsn)
	if err != nil {
		return err
	}
	defer stage.close()
	if first {
		if err := s.write(ctx, t, literals{stage.observer, t}); err != nil {
			return err
		}
	}
	return stage.play(ctx, s)
}
