package toxiproxy_test

import (
	"crypto/md5"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// sliced cuts both directions into pieces of the size, in bytes.
func sliced(size int) []toxiproxy.Toxic {
	attributes := map[string]any{"average_size": size, "size_variation": 0, "delay": 0}
	return []toxiproxy.Toxic{
		{Type: "slicer", Stream: "upstream", Attributes: attributes},
		{Type: "slicer", Stream: "downstream", Attributes: attributes},
	}
}

// Faults hit the same byte in a stream that arrives in pieces of one byte.
func TestFaultsInSlicedStreams(t *testing.T) {
	for _, w := range works() {
		for _, at := range []toxiproxy.Place{toxiproxy.BeforeCommand, toxiproxy.AfterCommand} {
			t.Run(fmt.Sprintf("%s/%v", w.name, at), func(t *testing.T) {
				testFault(t, w, at, toxiproxy.FIN, true, sliced(1)...)
				testFault(t, w, at, toxiproxy.RST, false, sliced(3)...)
			})
		}
	}
}

// However the stream is sliced, it arrives as it was sent.
func TestSlicedStreamIsIdentical(t *testing.T) {
	for _, size := range []int{1, 2, 7, 1000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := newRig(t, sliced(size)...)
			c := r.client()
			ctx := bounded(t)
			big := strings.Repeat("0123456789abcdef", 500)
			_, err := c.Exec(ctx, insert, 1, big)
			require.NoError(t, err)
			var sum, body string
			row := c.QueryRow(ctx, "SELECT md5(body), body FROM entry")
			require.NoError(t, row.Scan(&sum, &body))
			require.Equal(t, fmt.Sprintf("%x", md5.Sum([]byte(big))), sum)
			require.Equal(t, big, body)
			require.Empty(t, r.Refused())
		})
	}
}

// Two megabytes go through, held, late and in slices.
func TestLargeLateAndSliced(t *testing.T) {
	late := map[string]any{"latency": 5}
	r := newRig(t, append(sliced(4096),
		toxiproxy.Toxic{Type: "latency", Stream: "upstream", Attributes: late},
		toxiproxy.Toxic{Type: "latency", Stream: "downstream", Attributes: late})...)
	c := r.client()
	ctx := bounded(t)
	r.Gate(true)
	big := strings.Repeat("0123456789abcdef", 128<<10)
	done := start(func() error { _, err := c.Exec(ctx, insert, 1, big); return err })
	require.NoError(t, r.Release(r.await(toxiproxy.Held, "INSERT entry").Command, nil))
	require.NoError(t, done.wait(t))
	r.Gate(false)
	var body string
	require.NoError(t, c.QueryRow(ctx, "SELECT body FROM entry").Scan(&body))
	require.True(t, big == body)
}

// Units longer than the buffers of Toxiproxy's links arrive whole, also one behind the other.
func TestLongUnitsBackToBack(t *testing.T) {
	r := newRig(t)
	c := r.raw()
	r.Gate(true)
	const rows = 40
	sum := md5.New()
	done := start(func() error { // without waiting for the server's consent, as pgx does
		if err := c.write(query("COPY entry FROM STDIN")); err != nil {
			return err
		}
		for id := range rows {
			body := strings.Repeat(string(rune('a'+id%26)), 60_000+1_000*id)
			fmt.Fprint(sum, body)
			line := fmt.Appendf(nil, "%d\t%s\n", id, body)
			if err := c.write(&pgproto3.CopyData{Data: line}); err != nil {
				return err
			}
		}
		return c.write(&pgproto3.CopyDone{})
	})
	held := r.await(toxiproxy.Held, "COPY entry")
	require.NoError(t, done.wait(t))
	require.NoError(t, r.Release(held.Command, nil))
	c.expect("GCZ")
	r.Gate(false)
	c.send(query("SELECT body FROM entry ORDER BY id"))
	got := md5.New()
	for range rows + 1 {
		m, err := c.Frontend.Receive()
		require.NoError(t, err)
		if row, ok := m.(*pgproto3.DataRow); ok {
			got.Write(row.Values[0])
		}
	}
	c.expect("CZ")
	require.Equal(t, sum.Sum(nil), got.Sum(nil))
}

// Latency delays a round trip by what it says, in each direction.
func TestLatency(t *testing.T) {
	const milliseconds = 30
	late := map[string]any{"latency": milliseconds}
	r := newRig(t,
		toxiproxy.Toxic{Type: "latency", Stream: "upstream", Attributes: late},
		toxiproxy.Toxic{Type: "latency", Stream: "downstream", Attributes: late})
	c := r.client()
	begin := time.Now()
	_, err := c.Exec(bounded(t), "SELECT 1")
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(begin), 2*milliseconds*time.Millisecond)
}

// Bandwidth throttles.
func TestBandwidth(t *testing.T) {
	r := newRig(t, toxiproxy.Toxic{Type: "bandwidth", Stream: "upstream",
		Attributes: map[string]any{"rate": 1000}})
	c := r.client()
	begin := time.Now()
	_, err := c.Exec(bounded(t), insert, 1, strings.Repeat("x", 50_000))
	require.NoError(t, err)
	require.Greater(t, time.Since(begin), 25*time.Millisecond)
}

// A stock toxic that would do nothing, hang or leak is refused before the wire opens.
func TestStockToxicsRefused(t *testing.T) {
	for _, c := range []struct {
		toxic toxiproxy.Toxic
		says  string
	}{
		{toxiproxy.Toxic{Type: "latency", Stream: "sideways"}, "use upstream or downstream"},
		{toxiproxy.Toxic{Type: "reset_peer", Stream: "upstream"}, "not offered"},
		{toxiproxy.Toxic{Type: "limit_data", Stream: "upstream"}, "not offered"},
		{toxiproxy.Toxic{Type: "timeout", Stream: "upstream"}, "not offered"},
		{toxiproxy.Toxic{Type: "pg_cut", Stream: "upstream"}, "not offered"},
		{toxiproxy.Toxic{Type: "thunder", Stream: "upstream"}, "thunder"},
		{toxiproxy.Toxic{Type: "slicer", Stream: "upstream"}, "at least 1 byte"},
		{toxiproxy.Toxic{Type: "bandwidth", Stream: "upstream"}, "at least 1"},
		{toxiproxy.Toxic{Type: "latency", Stream: "upstream",
			Attributes: map[string]any{"latenzy": 1}}, `no attribute "latenzy"`},
		{toxiproxy.Toxic{Type: "latency", Stream: "upstream",
			Attributes: map[string]any{"latency": "long"}}, "latency"},
	} {
		_, err := toxiproxy.Open(toxiproxy.Config{Name: "w", Toxics: []toxiproxy.Toxic{c.toxic}})
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "open wire w")
	}
}
