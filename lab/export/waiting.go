package export

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// waiting returns when the line is seen to wait for one of these sessions, and for nobody else.
func (r *rehearsal) waiting(ctx context.Context, l *line, p *player, holders []string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var seen []int32
	for ctx.Err() == nil {
		pids, err := r.blockers(ctx, p)
		switch {
		case err != nil && ctx.Err() == nil:
			return fmt.Errorf("it should wait for %q: %w", holders, err)
		case len(pids) > 0 && r.all(pids, holders):
			return nil
		case len(p.ended) > 0 && ctx.Err() == nil:
			o := <-p.ended
			p.ended = nil
			return fmt.Errorf("it should wait for %q, but is done (%v)", holders, o.err)
		case err == nil:
			seen = pids
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return fmt.Errorf("it should wait for %q, but waits for %q: %w", holders, r.names(seen), ctx.Err())
}

func (r *rehearsal) blockers(ctx context.Context, p *player) (pids []int32, err error) {
	err = r.observer.QueryRow(ctx, `SELECT pg_blocking_pids($1)`, int32(p.conn.PID())).Scan(&pids)
	return pids, err
}

// all tells whether these backends belong to these sessions.
func (r *rehearsal) all(pids []int32, sessions []string) bool {
	return !slices.ContainsFunc(r.names(pids), func(name string) bool {
		return !slices.Contains(sessions, name)
	})
}

// names are the sessions of these backends.
func (r *rehearsal) names(pids []int32) (sessions []string) {
	for _, pid := range pids {
		name := "an outsider"
		for t, p := range r.players {
			if int32(p.conn.PID()) == pid {
				name = t.session
			}
		}
		sessions = append(sessions, name)
	}
	return sessions
}
