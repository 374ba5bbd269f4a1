package toxiproxy_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// Many connections, a gate that opens and shuts, faults and severings of every kind: whatever
// was acknowledged is stored, what was cut in front of the server is not, no byte leaks, each
// connection's events stand in order, and the wire closes.
func TestStress(t *testing.T) {
	r := newRig(t)
	const clients, each = 6, 12
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	var acked sync.Map
	var working sync.WaitGroup
	for n := range clients {
		working.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 7))
			var c *pgx.Conn
			for i := range each {
				if c == nil || c.IsClosed() {
					c, _ = pgx.Connect(ctx, r.over())
				}
				if c == nil {
					continue
				}
				id := int64(100*n + i)
				if store(ctx, c, random.IntN(3), id) == nil {
					acked.Store(id, true)
				}
			}
			if c != nil {
				_ = c.PgConn().Conn().Close()
			}
		})
	}
	stop := make(chan struct{})
	meddled := start(func() error { return r.meddle(stop) })
	finished := make(chan struct{})
	go func() { working.Wait(); close(finished) }()
	<-finished
	close(stop)
	require.NoError(t, meddled.wait(t))
	require.NoError(t, r.Close())

	stored := map[int64]bool{}
	for _, id := range r.ids() {
		stored[id] = true
	}
	acked.Range(func(id, _ any) bool {
		require.True(t, stored[id.(int64)], "%d was acknowledged", id)
		return true
	})
	r.requireOrder(stored)
}

// store writes one row in one of the ways that receivers use.
func store(ctx context.Context, c *pgx.Conn, way int, id int64) error {
	switch way {
	case 0:
		_, err := c.Exec(ctx, insert, id, fmt.Sprint(id))
		return err
	case 1:
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, insert, id, fmt.Sprint(id))
			return err
		})
	default:
		b := &pgx.Batch{}
		b.Queue(insert, id, fmt.Sprint(id))
		b.Queue("SELECT 1")
		return c.SendBatch(ctx, b).Close()
	}
}

// meddle opens and shuts the gate, and lays out faults, until it is stopped.
func (r *rig) meddle(stop chan struct{}) error {
	random := rand.New(rand.NewPCG(1, 1))
	closes := []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST}
	var faults []*toxiproxy.Fault
	for {
		select {
		case <-stop:
			r.Gate(false)
			for _, f := range faults {
				if f.Leaked() != 0 {
					return fmt.Errorf("%d bytes leaked", f.Leaked())
				}
			}
			return nil
		default:
		}
		switch random.IntN(4) {
		case 0:
			r.Gate(true)
		case 1:
			f := &toxiproxy.Fault{At: toxiproxy.Place(random.IntN(2)),
				Close: closes[random.IntN(2)], Skip: random.IntN(3)}
			faults = append(faults, f)
			r.Arm(f)
		case 2:
			for _, e := range r.all() {
				_ = r.Release(e.Command, nil) // most are not held any more
			}
		default:
			if random.IntN(20) == 0 {
				r.Sever(closes[random.IntN(2)])
			}
		}
		r.Gate(random.IntN(3) == 0)
	}
}

// requireOrder reads the whole story: of each connection, no event of a command before the one
// that must precede it, nothing behind Closed, nothing stored that was cut off from the server.
func (r *rig) requireOrder(stored map[int64]bool) {
	closed := map[int]bool{}
	open := map[int]uint64{} // the command under way on each connection
	for _, e := range r.all() {
		require.False(r, closed[e.Conn], "an event behind Closed: %+v", e)
		switch e.Kind {
		case toxiproxy.Held:
			require.Zero(r, open[e.Conn], "held before the last was answered")
		case toxiproxy.Sent:
			require.Zero(r, open[e.Conn])
			open[e.Conn] = e.Command.ID
		case toxiproxy.Answered:
			require.Equal(r, e.Command.ID, open[e.Conn])
			open[e.Conn] = 0
		case toxiproxy.Fired:
			if e.Fault.At == toxiproxy.AfterCommand {
				require.Equal(r, e.Command.ID, open[e.Conn])
			} else if id, ok := inserted(e.Command); ok {
				require.False(r, stored[id], "%d never reached the server", id)
			}
		case toxiproxy.Closed:
			closed[e.Conn] = true
		}
	}
}

// inserted is the id that a command of store would insert.
func inserted(c toxiproxy.Command) (id int64, ok bool) {
	for _, s := range c.Statements {
		if s.SQL == insert && s.Formats[0] == 1 {
			return int64(binary.BigEndian.Uint64(s.Args[0])), true
		}
	}
	return 0, false
}
