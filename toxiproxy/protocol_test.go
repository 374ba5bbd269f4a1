package toxiproxy_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// COPY passes in both directions, its data past a shut gate.
func TestCopy(t *testing.T) {
	r := newRig(t)
	c := r.client()
	ctx := bounded(t)
	r.Gate(true)
	const rows = 20_000
	done := start(func() error {
		n, err := c.CopyFrom(ctx, pgx.Identifier{"entry"}, []string{"id", "body"},
			pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
				return []any{i, strings.Repeat("x", i%100)}, nil
			}))
		if n != rows {
			err = fmt.Errorf("copied %d rows: %w", n, err)
		}
		return err
	})
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "COPY entry").Command, nil))
	require.NoError(t, done.wait(t))
	require.Equal(t, []string{fmt.Sprintf("COPY %d", rows)},
		r.await(toxiproxy.Answered, "COPY entry").Answer.Tags)

	var out bytes.Buffer
	done = start(func() error {
		_, err := c.PgConn().CopyTo(ctx, &out, "COPY entry TO STDOUT")
		return err
	})
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "COPY entry").Command, nil))
	require.NoError(t, done.wait(t))
	require.Equal(t, rows, bytes.Count(out.Bytes(), []byte("\n")))
}

// A notification reaches its listener while the listener's next command is held.
func TestNotifyWhileHeld(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	c.send(query("LISTEN bell"))
	c.expect("CZ")
	require.Equal(t, "LISTEN", r.await(toxiproxy.Answered, "").Command.Label())
	r.Gate(true)
	c.send(query("INSERT INTO entry VALUES (1)"))
	held := r.await(toxiproxy.Held, "INSERT entry")
	_, err := r.observer.Exec(bounded(t), "NOTIFY bell, 'rings'")
	require.NoError(t, err)
	m, err := c.Frontend.Receive()
	require.NoError(t, err)
	require.Equal(t, "rings", m.(*pgproto3.NotificationResponse).Payload)
	require.NoError(t, r.Release(held.Command, nil))
	c.expect("CZ")
}

// A CancelRequest goes through the wire, whatever is held on it, and is no connection.
func TestCancelRequest(t *testing.T) {
	r := newRig(t)
	c, other := r.client(), r.client()
	ctx := bounded(t)
	sleeps := start(func() error { _, err := c.Exec(ctx, "SELECT pg_sleep(600)"); return err })
	r.await(toxiproxy.Sent, "SELECT")
	r.Gate(true)
	waits := start(func() error { _, err := other.Exec(ctx, insert, 1, nil); return err })
	r.await(toxiproxy.Held, "")
	for len(sleeps) == 0 { // one that comes before the query is forgotten by the server
		require.NoError(t, c.PgConn().CancelRequest(ctx))
	}
	require.Equal(t, "57014", sqlState(sleeps.wait(t)))
	require.Equal(t, "57014", r.await(toxiproxy.Answered, "SELECT").Answer.SQLState)
	r.Gate(false)
	require.NoError(t, waits.wait(t))
	require.Equal(t, 2, r.Connections())
	require.Empty(t, r.Refused())
}

// A client that asks for the newest protocol gets what the server speaks: from PostgreSQL 18 on
// that is 3.2, with longer keys to cancel by. The wire carries bargain, key and fault.
func TestNewestProtocol(t *testing.T) {
	r := newRig(t)
	c := connect(t, r.over()+"&max_protocol_version=latest")
	ctx := bounded(t)
	var release int
	err := r.observer.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&release)
	require.NoError(t, err)
	require.Equal(t, release >= 180000, len(c.PgConn().SecretKey()) > 4)

	sleeps := start(func() error { _, err := c.Exec(ctx, "SELECT pg_sleep(600)"); return err })
	sent := r.await(toxiproxy.Sent, "SELECT")
	require.Equal(t, c.PgConn().PID(), sent.PID)
	for len(sleeps) == 0 { // one that comes before the query is forgotten by the server
		require.NoError(t, c.PgConn().CancelRequest(ctx))
	}
	require.Equal(t, "57014", sqlState(sleeps.wait(t)))

	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand}
	r.Arm(f)
	_, err = c.Exec(ctx, insert, 1, nil)
	requireLost(t, err, toxiproxy.FIN)
	require.Equal(t, 1, f.Fired())
	require.Equal(t, []int64{1}, r.ids())
	require.Empty(t, r.Refused())
}

// A client that insists on TLS is refused; one that only prefers it gets plain text, in which
// faults fire.
func TestTLS(t *testing.T) {
	r := newRig(t)
	insists := strings.Replace(r.over(), "sslmode=disable", "sslmode=require", 1)
	_, err := pgx.Connect(bounded(t), insists)
	require.ErrorContains(t, err, "server refused TLS connection")
	require.Contains(t, r.await(toxiproxy.Refused, "").Reason, "asked for TLS and left")
	require.Len(t, r.Refused(), 1)

	prefers := strings.Replace(r.over(), "sslmode=disable", "sslmode=prefer", 1)
	c := connect(t, prefers)
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand}
	r.Arm(f)
	_, err = c.Exec(bounded(t), insert, 1, nil)
	requireLost(t, err, toxiproxy.FIN)
	require.Equal(t, 1, f.Fired())
	require.Equal(t, []int64{1}, r.ids())
}

// What the wire can't read is turned away by name.
func TestRefused(t *testing.T) {
	startup := func(parameters ...string) []byte {
		m := pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30,
			Parameters: map[string]string{"user": "u"}}
		for i := 0; i < len(parameters); i += 2 {
			m.Parameters[parameters[i]] = parameters[i+1]
		}
		b, err := m.Encode(nil)
		require.NoError(t, err)
		return b
	}
	tlsRequest := []byte{0, 0, 0, 8, 4, 210, 22, 47}
	gssRequest := []byte{0, 0, 0, 8, 4, 210, 22, 48}
	for name, c := range map[string]struct {
		sent   []byte
		reason string
	}{
		"replication": {startup("replication", "database"), "replication"},
		"protocol 2":  {[]byte{0, 0, 0, 8, 0, 2, 0, 0}, "protocol 2.0"},
		"http":        {[]byte("GET / HTTP/1.1\r\n\r\n"), "no PostgreSQL start-up"},
		"direct TLS":  {[]byte{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0}, "speaks TLS"},
		"TLS anyway":  {append(bytes.Clone(tlsRequest), 0x16, 3, 1, 0, 5, 1, 0), "speaks TLS"},
		"TLS for ever": {bytes.Join([][]byte{gssRequest, tlsRequest, gssRequest, tlsRequest}, nil),
			"again and again"},
		"half a packet": {startup()[:11], "middle of its start-up"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			conn, err := net.Dial("tcp", r.Addr())
			require.NoError(t, err)
			defer conn.Close()
			_, err = conn.Write(c.sent)
			require.NoError(t, err)
			_ = conn.(*net.TCPConn).CloseWrite() // the wire may have closed before
			_, _ = io.ReadAll(conn)
			require.Contains(t, r.await(toxiproxy.Refused, "").Reason, c.reason)
			r.await(toxiproxy.Closed, "")
			require.Len(t, r.Refused(), 1)
			require.Contains(t, r.Refused()[0], c.reason)
		})
	}
}

// A refused replication client reads why in the error it gets.
func TestReplicationIsToldWhy(t *testing.T) {
	r := newRig(t)
	config, err := pgconn.ParseConfig(r.over())
	require.NoError(t, err)
	config.RuntimeParams["replication"] = "database"
	_, err = pgconn.ConnectConfig(bounded(t), config)
	require.Equal(t, "0A000", sqlState(err))
	require.ErrorContains(t, err, "wire "+t.Name())
	config.RuntimeParams["replication"] = "off"
	conn, err := pgconn.ConnectConfig(bounded(t), config)
	require.NoError(t, err)
	require.NoError(t, conn.Close(bounded(t)))
}

// A real TLS handshake ends with an error, not with a hang or a stream that nobody reads.
func TestTLSHandshakeEnds(t *testing.T) {
	r := newRig(t)
	conn, err := net.Dial("tcp", r.Addr())
	require.NoError(t, err)
	defer conn.Close()
	require.Error(t, tls.Client(conn, &tls.Config{ServerName: "x"}).HandshakeContext(bounded(t)))
	require.Contains(t, r.await(toxiproxy.Refused, "").Reason, "speaks TLS")
}

// A connection on which something unknown is said ends there and then.
func TestGarbageInTheStream(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	c.send(query("INSERT INTO entry VALUES (1)"))
	c.expect("CZ")
	_, err := c.Conn.Write([]byte("z\x00\x00\x00\x04"))
	require.NoError(t, err)
	c.expectEnd()
	require.Contains(t, r.await(toxiproxy.Refused, "").Reason, `message type 'z'`)
	r.await(toxiproxy.Closed, "")
	require.Equal(t, []int64{1}, r.ids())
}

// A port probe, which says nothing, is refused for nothing.
func TestProbe(t *testing.T) {
	r := newRig(t)
	conn, err := net.Dial("tcp", r.Addr())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	r.await(toxiproxy.Closed, "")
	require.Empty(t, r.Refused())
}

// The server's end of a connection may die under a doomed command: the fault then never fired.
func TestServerDiesBeforeTheFault(t *testing.T) {
	r := newRig(t)
	c := r.client()
	ctx := bounded(t)
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand}
	r.Arm(f)
	done := start(func() error { _, err := c.Exec(ctx, "SELECT pg_sleep(600)"); return err })
	sent := r.await(toxiproxy.Sent, "SELECT")
	_, err := r.observer.Exec(ctx, "SELECT pg_terminate_backend($1)", int32(sent.PID))
	require.NoError(t, err)
	require.Error(t, done.wait(t))
	require.Contains(t, r.await(toxiproxy.Closed, "").Reason, "server left")
	require.Zero(t, f.Fired())
	require.Zero(t, f.Leaked())
}

// An answer of any size can be dropped, also while the server is still sending it.
func TestLargeAnswerDropped(t *testing.T) {
	r := newRig(t)
	c := r.client()
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand, Close: toxiproxy.RST}
	r.Arm(f)
	_, err := c.Exec(bounded(t), "SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
	requireLost(t, err, toxiproxy.RST)
	require.Equal(t, 20_000, f.Executed().Rows)
	require.Zero(t, f.Leaked())
}

// A client that does not read, a server that does not stop: the wire still ends.
func TestCloseUnderABlockedClient(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	c.send(query("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)"))
	pid := r.await(toxiproxy.Sent, "SELECT generate_series").PID
	for stuck := false; !stuck; { // until its socket takes no more
		err := r.observer.QueryRow(bounded(t), `SELECT coalesce(wait_event = 'ClientWrite', false)
			FROM pg_stat_activity WHERE pid = $1`, int32(pid)).Scan(&stuck)
		require.NoError(t, err)
	}
	require.NoError(t, r.Close())
	r.gone(pid)
}
