package toxiproxy_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

const insert = "INSERT INTO entry (id, body) VALUES ($1, $2)"

// An open wire changes nothing: a client can't tell it from the server.
func TestOpenWirePasses(t *testing.T) {
	r := newRig(t)
	c := r.client()
	_, err := c.Exec(bounded(t), insert, 1, "one")
	require.NoError(t, err)
	var body string
	err = c.QueryRow(bounded(t), "SELECT body FROM entry WHERE id = $1", 1).Scan(&body)
	require.NoError(t, err)
	require.Equal(t, "one", body)
	require.Empty(t, r.Refused())
	require.Equal(t, 1, r.Connections())

	opened := r.await(toxiproxy.Opened, "")
	require.Equal(t, c.PgConn().PID(), opened.PID)
	sent := r.await(toxiproxy.Sent, "INSERT entry")
	answered := r.await(toxiproxy.Answered, "INSERT entry")
	require.Less(t, sent.Seq, answered.Seq)
	require.Equal(t, sent.Command.ID, answered.Command.ID)
	require.Equal(t, insert, sent.Command.SQL())
	require.Len(t, sent.Command.Statements[0].Args, 2)
	require.Equal(t, []string{"INSERT 0 1"}, answered.Answer.Tags)
	require.True(t, answered.Answer.Committed())
	require.Equal(t, 1, r.await(toxiproxy.Answered, "SELECT entry").Answer.Rows)
}

// A held command has not reached the server; what the others do meanwhile comes first.
func TestHoldDecidesTheOrder(t *testing.T) {
	r := newRig(t)
	first, second := r.client(), r.client()
	r.Gate(true)
	insertBy := func(c *pgx.Conn, body string) outcome {
		ctx := bounded(t)
		return start(func() error {
			_, err := c.Exec(ctx, insert+" ON CONFLICT DO NOTHING", 7, body)
			return err
		})
	}
	early := insertBy(first, "early")
	held := r.await(toxiproxy.Held, "INSERT entry")
	late := insertBy(second, "late")
	other := r.await(toxiproxy.Held, "INSERT entry")
	require.Empty(t, r.ids())

	require.NoError(t, r.Release(other.Command, nil))
	require.NoError(t, late.wait(t))
	require.NoError(t, r.Release(held.Command, nil))
	require.NoError(t, early.wait(t))
	require.Error(t, r.Release(held.Command, nil), "a command is released once")

	r.Gate(false)
	var body string
	require.NoError(t, first.QueryRow(bounded(t), "SELECT body FROM entry").Scan(&body))
	require.Equal(t, "late", body)
}

// Commands that only prepare pass a shut gate, and are told.
func TestLocalCommandsPassTheGate(t *testing.T) {
	r := newRig(t)
	c := r.client()
	r.Gate(true)
	ctx := bounded(t)
	for _, sql := range []string{"BEGIN", "SET LOCAL lock_timeout = '1s'", "SHOW lock_timeout",
		"-- ping", "", "BEGIN; SET LOCAL lock_timeout = '2s'"} {
		_, err := c.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	_, err := c.Prepare(ctx, "later", insert)
	require.NoError(t, err)
	require.NoError(t, c.Deallocate(ctx, "later"))
	require.Equal(t, byte('T'), r.await(toxiproxy.Answered, "BEGIN").Answer.TxStatus)
	for _, e := range r.all() {
		require.NotEqual(t, toxiproxy.Held, e.Kind)
	}
}

// Opening the gate lets go what is held.
func TestOpeningTheGateReleases(t *testing.T) {
	r := newRig(t)
	c := r.client()
	r.Gate(true)
	ctx := bounded(t)
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, nil); return err })
	require.Nil(t, r.await(toxiproxy.Held, "INSERT entry").Command.Statements[0].Args[1])
	r.Gate(false)
	require.NoError(t, done.wait(t))
	require.Equal(t, []int64{1}, r.ids())
}

// A client that leaves while its command is held takes the command with it.
func TestClientLeavesWhileHeld(t *testing.T) {
	r := newRig(t)
	c := r.client()
	r.Gate(true)
	ctx := bounded(t)
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, nil); return err })
	held := r.await(toxiproxy.Held, "")
	require.NoError(t, c.PgConn().Conn().Close())
	require.Error(t, done.wait(t))
	closed := r.await(toxiproxy.Closed, "")
	require.Contains(t, closed.Reason, "left while INSERT entry was held")
	require.Error(t, r.Release(held.Command, nil))
	r.gone(held.PID)
	require.Empty(t, r.ids())
}

// Ending a wire ends what is held on it.
func TestCloseWhileHeld(t *testing.T) {
	r := newRig(t)
	c := r.client()
	r.Gate(true)
	ctx := bounded(t)
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, nil); return err })
	held := r.await(toxiproxy.Held, "")
	require.NoError(t, r.Close())
	require.Error(t, done.wait(t))
	require.NoError(t, r.Close())
	r.gone(held.PID)
	require.Empty(t, r.ids())
	require.Zero(t, r.Connections())
	_, err := pgx.Connect(bounded(t), r.over())
	require.Error(t, err)
}

// A command of any size is held whole.
func TestLargeBindIsHeld(t *testing.T) {
	r := newRig(t)
	c := r.client()
	r.Gate(true)
	ctx := bounded(t)
	big := make([]byte, 2<<20)
	for i := range big {
		big[i] = 'a' + byte(i%26)
	}
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, string(big)); return err })
	held := r.await(toxiproxy.Held, "INSERT entry")
	require.Equal(t, big, held.Command.Statements[0].Args[1])
	require.NoError(t, r.Release(held.Command, nil))
	require.NoError(t, done.wait(t))
	r.Gate(false)
	var body string
	require.NoError(t, c.QueryRow(ctx, "SELECT body FROM entry").Scan(&body))
	require.True(t, body == string(big))
}

// Severing ends every connection; the wire takes new ones.
func TestSever(t *testing.T) {
	for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST} {
		t.Run(how.String(), func(t *testing.T) {
			r := newRig(t)
			a, b := r.client(), r.client()
			r.Gate(true)
			ctx := bounded(t)
			done := start(func() error { _, err := a.Exec(ctx, insert, 1, nil); return err })
			r.await(toxiproxy.Held, "")
			r.Sever(how)
			require.Error(t, done.wait(t))
			r.await(toxiproxy.Closed, "")
			r.await(toxiproxy.Closed, "")
			r.Gate(false)
			require.Zero(t, r.Connections())
			_, err := b.Exec(ctx, "SELECT 1")
			require.Error(t, err)
			_, err = r.client().Exec(ctx, insert, 2, nil)
			require.NoError(t, err)
			require.Equal(t, []int64{2}, r.ids())
		})
	}
}

// A wire to a server that is not there says so to its client.
func TestNoServer(t *testing.T) {
	p, err := toxiproxy.Open(toxiproxy.Config{Name: "nowhere", Upstream: "127.0.0.1:1"})
	require.NoError(t, err)
	defer p.Close()
	_, err = pgx.Connect(bounded(t), "postgres://user@"+p.Addr()+"/db?sslmode=disable")
	require.Equal(t, "08006", sqlState(err))
	require.ErrorContains(t, err, "wire nowhere: connect to the server at 127.0.0.1:1")
	require.Empty(t, p.Refused())
	require.False(t, errors.Is(err, pgx.ErrNoRows))
}
