package toxiproxy

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// encode writes messages as they cross the wire.
func encode(messages ...interface{ Encode([]byte) ([]byte, error) }) []byte {
	var b []byte
	for _, m := range messages {
		b, _ = m.Encode(b)
	}
	return b
}

func clientStream() []byte {
	return encode(
		&pgproto3.PasswordMessage{Password: "p"},
		&pgproto3.Query{String: "BEGIN"},
		&pgproto3.Parse{Name: "s", Query: "INSERT INTO a VALUES ($1, $2)"},
		&pgproto3.Describe{ObjectType: 'S', Name: "s"},
		&pgproto3.Sync{},
		&pgproto3.Bind{PreparedStatement: "s", ParameterFormatCodes: []int16{1, 0},
			Parameters: [][]byte{[]byte("\x00\x01"), nil}},
		&pgproto3.Execute{},
		&pgproto3.Flush{},
		&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s",
			ParameterFormatCodes: []int16{1},
			Parameters:           [][]byte{bytes.Repeat([]byte("x"), 300), {}}},
		&pgproto3.Execute{Portal: "p", MaxRows: 1},
		&pgproto3.Close{ObjectType: 'S', Name: "s"},
		&pgproto3.Sync{},
		&pgproto3.Query{String: "COPY a FROM STDIN; SELECT 1"},
		&pgproto3.CopyData{Data: []byte("1\n")},
		&pgproto3.CopyDone{},
		&pgproto3.FunctionCall{Function: 7},
		&pgproto3.Terminate{},
	)
}

func serverStream() []byte {
	return encode(
		&pgproto3.AuthenticationOk{},
		&pgproto3.ParameterStatus{Name: "a", Value: "b"},
		&pgproto3.BackendKeyData{ProcessID: 42, SecretKey: []byte{1, 2, 3, 4}},
		&pgproto3.ReadyForQuery{TxStatus: 'I'},
		&pgproto3.ParseComplete{}, &pgproto3.BindComplete{},
		&pgproto3.DataRow{Values: [][]byte{bytes.Repeat([]byte("y"), 500), nil}},
		&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")},
		&pgproto3.ReadyForQuery{TxStatus: 'I'},
		&pgproto3.NotificationResponse{PID: 1, Channel: "c", Payload: "p"},
		&pgproto3.ErrorResponse{Severity: "ERROR", Code: "23505", Message: "m"},
		&pgproto3.ReadyForQuery{TxStatus: 'E'},
	)
}

// chunks cuts a stream at random, into pieces that share one array as a slicer's do.
func chunks(b []byte, random *rand.Rand) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		n := min(len(b), 1+random.IntN(1+random.IntN(60)))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

func units(t *testing.T, pieces [][]byte) (all []*unit, passed []byte, err error) {
	t.Helper()
	f := newFrontend()
	for _, piece := range pieces {
		f.push(piece)
		for {
			u, err := f.next()
			if err != nil {
				return all, passed, err
			}
			if u == nil {
				break
			}
			all = append(all, u)
			passed = append(passed, u.data...)
		}
	}
	return all, append(passed, f.buf...), nil
}

// A client's stream is cut into the same units however it was chunked, and none of it is lost.
func TestFrontendUnits(t *testing.T) {
	in := clientStream()
	whole, passed, err := units(t, [][]byte{bytes.Clone(in)})
	require.NoError(t, err)
	require.Equal(t, in, passed)
	var labels, ends string
	for _, u := range whole {
		ends += string(u.end)
		if u.asks() {
			labels += Command{Statements: u.statements}.Label() + "|"
		}
	}
	require.Equal(t, "pQSHSQdcFX", ends)
	require.Equal(t, "BEGIN|SYNC|INSERT a|INSERT a|BATCH COPY a, SELECT|CALL function_7|", labels)
	require.Equal(t, [][]byte{[]byte("\x00\x01"), nil}, whole[3].statements[0].Args)
	require.Equal(t, []int16{1, 0}, whole[3].statements[0].Formats)
	require.Equal(t, []int16{1, 1}, whole[4].statements[0].Formats)

	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 0))
		sliced, passed, err := units(t, chunks(bytes.Clone(in), random))
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, in, passed, "seed %d", seed)
		require.Equal(t, whole, sliced, "seed %d", seed)
	}
}

// What is not the protocol is refused, not passed on.
func TestFrontendRefuses(t *testing.T) {
	for name, in := range map[string][]byte{
		"unknown type":       []byte("z\x00\x00\x00\x04"),
		"http":               []byte("GET / HTTP/1.1\r\n"),
		"length below four":  []byte("Q\x00\x00\x00\x03"),
		"length above a GiB": []byte("Q\x7f\xff\xff\xff"),
		"no end of string":   []byte("Q\x00\x00\x00\x05x"),
		"bind without end":   []byte("B\x00\x00\x00\x06\x00\x00S\x00\x00\x00\x04"),
		"argument too long": []byte("B\x00\x00\x00\x10\x00\x00\x00\x00\x00\x01" +
			"\x00\x00\x00\x09xxS\x00\x00\x00\x04"),
	} {
		_, passed, err := units(t, [][]byte{in})
		require.Error(t, err, name)
		require.Empty(t, passed, name)
	}
}

func scanned(pieces [][]byte) (kinds string, tags []string, passed []byte, err error) {
	var b backend
	for _, piece := range pieces {
		out, err := b.scan(piece, func(m message) (bool, bool) {
			kinds += string(m.kind)
			switch m.kind {
			case 'C':
				tags = append(tags, m.body.text())
			case 'E':
				tags = append(tags, sqlState(&m.body))
			}
			return true, false
		})
		passed = append(passed, out...)
		if err != nil {
			return kinds, tags, passed, err
		}
	}
	return kinds, tags, append(passed, b.pending...), nil
}

// A server's stream is read the same however it was chunked, and none of it is lost.
func TestBackendScan(t *testing.T) {
	in := serverStream()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 0))
		kinds, tags, passed, err := scanned(chunks(bytes.Clone(in), random))
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, "RSKZ12DCZAEZ", kinds, "seed %d", seed)
		require.Equal(t, []string{"SELECT 1", "23505"}, tags, "seed %d", seed)
		require.Equal(t, in, passed, "seed %d", seed)
	}
}

// From the first message of a doomed answer on nothing passes, whatever the chunks.
func TestBackendDropsFromTheFirstByte(t *testing.T) {
	in := serverStream()
	before := len(encode(&pgproto3.AuthenticationOk{},
		&pgproto3.ParameterStatus{Name: "a", Value: "b"},
		&pgproto3.BackendKeyData{ProcessID: 42, SecretKey: []byte{1, 2, 3, 4}},
		&pgproto3.ReadyForQuery{TxStatus: 'I'}))
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 0))
		var passed []byte
		victim := &socket{}
		fault := &Fault{At: AfterCommand}
		f := flight{client: victim}
		f.depart(&pending{fault: fault, executes: 1, synced: true})
		var b backend
		var fired *pending
		for _, piece := range chunks(bytes.Clone(in), random) {
			out, err := b.scan(piece, func(m message) (bool, bool) {
				v := f.judge(m)
				fired = v.fired
				return v.keep, fired != nil
			})
			require.NoError(t, err)
			passed = append(passed, out...)
			victim.written.Store(int64(len(passed)))
			if fired != nil {
				break
			}
		}
		require.Equal(t, in[:before], passed, "seed %d", seed)
		require.NotNil(t, fired)
		require.Equal(t, Answer{Tags: []string{"SELECT 1"}, Rows: 1, TxStatus: 'I'}, fired.answer)
		require.Zero(t, fault.Leaked())
		victim.written.Add(3)
		require.Equal(t, 3, fault.Leaked(), "a byte too much is counted")
	}
}

// Of a doomed COPY only the request for its data passes, and is no leak.
func TestDoomedCopyIsAskedForItsData(t *testing.T) {
	asked := encode(&pgproto3.CopyInResponse{})
	in := append(encode(&pgproto3.BindComplete{}, &pgproto3.NoticeResponse{}), asked...)
	in = append(in, encode(&pgproto3.CommandComplete{CommandTag: []byte("COPY 1")},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})...)
	for seed := range uint64(200) {
		victim, fault := &socket{}, &Fault{At: AfterCommand}
		f := flight{client: victim, ready: true}
		f.depart(&pending{fault: fault, executes: 1, synced: true})
		var b backend
		var passed []byte
		for _, piece := range chunks(bytes.Clone(in), rand.New(rand.NewPCG(seed, 0))) {
			out, err := b.scan(piece, func(m message) (bool, bool) {
				v := f.judge(m)
				return v.keep, v.fired != nil
			})
			require.NoError(t, err)
			passed = append(passed, out...)
		}
		require.Equal(t, asked, passed)
		victim.written.Store(int64(len(passed)))
		require.Zero(t, fault.Leaked())
	}
}

// What a scan lets go of one chunk is the messages that were kept, in their order.
func TestSieve(t *testing.T) {
	in := serverStream()
	for _, dropped := range []string{"", "R", "SZ", "12DCZ", "RSKZ12DCZAEZ"} {
		var b backend
		var want []byte
		at := 0
		out, err := b.scan(bytes.Clone(in), func(m message) (bool, bool) {
			keep := !strings.Contains(dropped, string(m.kind))
			if keep {
				want = append(want, in[at:at+m.size]...)
			}
			at += m.size
			return keep, false
		})
		require.NoError(t, err)
		require.Equal(t, want, out, dropped)
	}
}

func FuzzFrontend(f *testing.F) {
	f.Add(clientStream(), uint64(1))
	f.Add([]byte("B\x00\x00\x00\x0e\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00"), uint64(2))
	f.Add([]byte("Q\x00\x00\x00\x05\x00H\x00\x00\x00\x04"), uint64(3))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		whole, passed, err := units(t, [][]byte{bytes.Clone(in)})
		require.True(t, bytes.HasPrefix(in, passed))
		if err == nil {
			require.Len(t, passed, len(in))
		}
		random := rand.New(rand.NewPCG(seed, 0))
		sliced, again, errSliced := units(t, chunks(bytes.Clone(in), random))
		require.Equal(t, err == nil, errSliced == nil)
		require.Equal(t, whole, sliced)
		require.Equal(t, passed, again)
	})
}

func FuzzBackend(f *testing.F) {
	f.Add(serverStream(), uint64(1))
	f.Add([]byte("E\x00\x00\x00\x06C\x00Z\x00\x00\x00\x04"), uint64(2))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		kinds, tags, passed, err := scanned([][]byte{bytes.Clone(in)})
		require.True(t, bytes.HasPrefix(in, passed))
		if err == nil {
			require.Len(t, passed, len(in))
		}
		random := rand.New(rand.NewPCG(seed, 0))
		k, g, p, errSliced := scanned(chunks(bytes.Clone(in), random))
		require.Equal(t, err == nil, errSliced == nil)
		require.Equal(t, kinds, k)
		require.Equal(t, tags, g)
		require.Equal(t, passed, p)
	})
}
