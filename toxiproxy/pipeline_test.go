package toxiproxy_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// raw speaks the protocol message by message.
type raw struct {
	*rig
	*pgconn.HijackedConn
}

// raw connects through the wire and leaves the rest to the test.
func (r *rig) raw() raw {
	r.Helper()
	conn, err := pgconn.Connect(bounded(r), r.over())
	require.NoError(r, err)
	hijacked, err := conn.Hijack()
	require.NoError(r, err)
	require.NoError(r, hijacked.Conn.SetDeadline(time.Now().Add(patience)))
	r.Cleanup(func() { _ = hijacked.Conn.Close() })
	return raw{r, hijacked}
}

func (r raw) send(messages ...pgproto3.FrontendMessage) {
	r.Helper()
	require.NoError(r, r.write(messages...))
}

func (r raw) write(messages ...pgproto3.FrontendMessage) error {
	for _, m := range messages {
		r.Frontend.Send(m)
	}
	return r.Frontend.Flush()
}

// expect reads as many messages as kinds has letters, and compares their types.
func (r raw) expect(kinds string) {
	r.Helper()
	got := ""
	for range kinds {
		m, err := r.Frontend.Receive()
		require.NoError(r, err, "wanted %s, got %s", kinds, got)
		encoded, err := m.Encode(nil)
		require.NoError(r, err)
		got += string(encoded[0])
	}
	require.Equal(r, kinds, got)
}

// expectEnd demands that nothing more comes.
func (r raw) expectEnd() {
	r.Helper()
	_, err := r.Frontend.Receive()
	require.ErrorIs(r, err, io.ErrUnexpectedEOF)
}

func query(sql string) *pgproto3.Query { return &pgproto3.Query{String: sql} }

// execute is one statement of an extended cycle.
func execute(sql string) []pgproto3.FrontendMessage {
	return []pgproto3.FrontendMessage{
		&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Execute{}}
}

// Each cycle of a pipeline is a command of its own; one is held while the one before is under way.
func TestPipelineIsHeldCycleByCycle(t *testing.T) {
	r := newRig(t)
	c := r.client()
	ctx := bounded(t)
	_, err := r.observer.Exec(ctx, "SELECT pg_advisory_lock(1)")
	require.NoError(t, err)
	r.Gate(true)
	p := c.PgConn().StartPipeline(ctx)
	for _, sql := range []string{"SELECT pg_advisory_lock(1)", "INSERT INTO entry VALUES (1)",
		"INSERT INTO other VALUES (1)"} {
		p.SendQueryParams(sql, nil, nil, nil, nil)
		require.NoError(t, p.Sync())
	}
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "SELECT").Command, nil))
	second := r.await(toxiproxy.Held, "INSERT entry")
	for _, e := range r.all() {
		require.False(t, e.Kind == toxiproxy.Answered && e.Command.Label() == "SELECT")
	}
	_, err = r.observer.Exec(ctx, "SELECT pg_advisory_unlock(1)")
	require.NoError(t, err)
	require.Less(t, second.Seq, r.await(toxiproxy.Answered, "SELECT").Seq)
	require.Empty(t, r.ids())
	require.NoError(t, r.Release(second.Command, nil))
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "INSERT other").Command, nil))
	r.drain(p)
	require.NoError(t, p.Close())
	require.Equal(t, []int64{1}, r.ids())
}

// drain reads a pipeline of three cycles to its end.
func (r *rig) drain(p *pgconn.Pipeline) {
	for syncs := 0; syncs < 3; {
		result, err := p.GetResults()
		require.NoError(r, err)
		switch result := result.(type) {
		case *pgconn.ResultReader:
			_, err := result.Close()
			require.NoError(r, err)
		case *pgconn.PipelineSync:
			syncs++
		}
	}
}

// In a pipeline the commands before a dropped acknowledgement are answered, those behind it never
// reach the server.
func TestDropInAPipeline(t *testing.T) {
	for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.Hang} {
		t.Run(how.String(), func(t *testing.T) {
			r := newRig(t)
			c := r.raw()
			f := &toxiproxy.Fault{At: toxiproxy.AfterCommand, Close: how, Skip: 1}
			r.Arm(f)
			r.Gate(true)
			for _, id := range []string{"1", "2", "3"} {
				c.send(append(execute("INSERT INTO entry VALUES ("+id+")"), &pgproto3.Sync{})...)
			}
			require.NoError(t, r.Release(r.await(toxiproxy.Held, "").Command, nil))
			require.NoError(t, r.Release(r.await(toxiproxy.Held, "").Command, nil))
			fired := r.await(toxiproxy.Fired, "INSERT entry")
			c.expect("12CZ")
			if how == toxiproxy.Hang {
				require.NoError(t, c.Conn.Close())
			} else {
				c.expectEnd()
			}
			r.await(toxiproxy.Closed, "")
			r.gone(fired.PID)
			require.Equal(t, []int64{1, 2}, r.ids())
			require.Zero(t, f.Leaked())
		})
	}
}

// A cut in a pipeline leaves what was answered before it to the client.
func TestCutInAPipeline(t *testing.T) {
	for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST} {
		t.Run(how.String(), func(t *testing.T) {
			r := newRig(t)
			c := r.raw()
			r.Gate(true)
			for _, id := range []string{"1", "2", "3"} {
				c.send(append(execute("INSERT INTO entry VALUES ("+id+")"), &pgproto3.Sync{})...)
			}
			require.NoError(t, r.Release(r.await(toxiproxy.Held, "").Command, nil))
			second := r.await(toxiproxy.Held, "").Command
			r.await(toxiproxy.Answered, "INSERT entry")
			f := &toxiproxy.Fault{At: toxiproxy.BeforeCommand, Close: how}
			require.NoError(t, r.Release(second, f))
			c.expect("12CZ")
			_, err := c.Frontend.Receive()
			require.Error(t, err)
			require.Equal(t, how == toxiproxy.RST, errors.Is(err, syscall.ECONNRESET))
			r.await(toxiproxy.Closed, "")
			r.gone(second.PID)
			require.Equal(t, []int64{1}, r.ids())
			require.Equal(t, 1, f.Fired())
			require.Zero(t, f.Leaked())
		})
	}
}

// What a cycle executes up to a Flush is held as a command; its Sync is only its tail.
func TestFlushedCycle(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	r.Gate(true)
	c.send(&pgproto3.Parse{Query: "INSERT INTO entry VALUES (1)"}, &pgproto3.Flush{})
	c.expect("1")
	c.send(&pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{})
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "INSERT entry").Command, nil))
	c.expect("2C")
	c.send(append(execute("INSERT INTO other VALUES (2)"), &pgproto3.Flush{})...)
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "INSERT other").Command, nil))
	c.expect("12C")
	require.Empty(t, r.ids())
	c.send(&pgproto3.Sync{})
	c.expect("Z")
	require.True(t, r.await(toxiproxy.Answered, "INSERT entry").Answer.Committed())
	require.True(t, r.await(toxiproxy.Answered, "INSERT other").Answer.Committed())
	require.Equal(t, []int64{1}, r.ids())

	c.send(append(execute("SELECT 1/(id-1) FROM entry"), &pgproto3.Flush{})...)
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "SELECT entry").Command, nil))
	c.expect("12E")
	c.send(append(execute("INSERT INTO entry VALUES (2)"), &pgproto3.Sync{})...)
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "INSERT entry").Command, nil))
	c.expect("Z")
	require.Equal(t, "22012", r.await(toxiproxy.Answered, "SELECT entry").Answer.SQLState)
	require.Equal(t, "22012", r.await(toxiproxy.Answered, "INSERT entry").Answer.SQLState)
	require.Equal(t, []int64{1}, r.ids())
	for _, e := range r.all() {
		require.False(t, e.Command.ID != 0 && e.Command.Label() == "SYNC")
	}
}

// A flushed part that loses its acknowledgement was executed; its cycle never sees a Sync.
func TestDropOfAFlushedPart(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand}
	r.Arm(f)
	c.send(append(execute("INSERT INTO entry VALUES (1)"), &pgproto3.Flush{})...)
	fired := r.await(toxiproxy.Fired, "INSERT entry")
	c.expectEnd()
	require.Equal(t, []string{"INSERT 0 1"}, f.Executed().Tags)
	require.False(t, f.Executed().Committed())
	r.gone(fired.PID)
	require.Empty(t, r.ids())
	require.Zero(t, f.Leaked())
}

// The server loses a Sync that comes before the data of a COPY; the flight does too.
func TestExtendedCopy(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	c.send(append(execute("COPY entry FROM STDIN"), &pgproto3.Sync{})...)
	c.expect("12G")
	c.send(&pgproto3.CopyData{Data: []byte("1\tx\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})
	c.expect("CZ")
	require.Equal(t, []string{"COPY 1"}, r.await(toxiproxy.Answered, "COPY entry").Answer.Tags)
	c.send(query("INSERT INTO entry VALUES (2)"))
	c.expect("CZ")
	answer := r.await(toxiproxy.Answered, "INSERT entry").Answer
	require.Equal(t, []string{"INSERT 0 1"}, answer.Tags)

	c.send(query("COPY entry FROM STDIN"))
	c.expect("G")
	c.send(&pgproto3.CopyFail{Message: "no more"})
	c.expect("EZ")
	require.Equal(t, "57014", r.await(toxiproxy.Answered, "COPY entry").Answer.SQLState)
	require.Equal(t, []int64{1, 2}, r.ids())
	require.Empty(t, r.Refused())
}

// A batch is one command, with one statement each, and commits at its Sync.
func TestBatchIsOneCommand(t *testing.T) {
	r := newRig(t)
	c := r.client()
	ctx := bounded(t)
	r.Gate(true)
	b := &pgx.Batch{}
	for id := range 3 {
		b.Queue(insert, id, "x")
	}
	done := start(func() error { return c.SendBatch(ctx, b).Close() })
	held := r.await(toxiproxy.Held, "BATCH INSERT entry ×3").Command
	require.Len(t, held.Statements, 3)
	require.Equal(t, strings.Join([]string{insert, insert, insert}, "; "), held.SQL())
	require.NoError(t, r.Release(held, nil))
	require.NoError(t, done.wait(t))
	answer := r.await(toxiproxy.Answered, "BATCH INSERT entry ×3").Answer
	require.Equal(t, []string{"INSERT 0 1", "INSERT 0 1", "INSERT 0 1"}, answer.Tags)
	require.True(t, answer.Committed())
}
