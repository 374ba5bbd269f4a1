package mutation

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An edit that could mean two places means none.
func TestAnEditMatchesOnceOrNotAtAll(t *testing.T) {
	e := Edit{In: "FROM inbox", Old: "source = $1", New: "true"}
	edited, ok := e.apply("SELECT FROM inbox WHERE source = $1")
	require.True(t, ok)
	require.Equal(t, "SELECT FROM inbox WHERE true", edited)
	for _, text := range []string{
		"SELECT FROM outbox WHERE source = $1",
		"SELECT FROM inbox WHERE source = $2",
		"SELECT FROM inbox WHERE source = $1 OR source = $1",
	} {
		edited, ok := e.apply(text)
		require.False(t, ok, text)
		require.Equal(t, text, edited)
	}
	_, ok = Edit{}.apply("SELECT 1")
	require.False(t, ok, "no edit is no edit")
}

const schemaText = `
CREATE TABLE t (
    CONSTRAINT t_sound CHECK (a > 0 AND (b > 0)),
    CONSTRAINT t_sound_too CHECK (c > 0)
);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.a > 0 THEN RETURN NEW; END IF;
END
$$;
CREATE VIEW v AS
SELECT a FROM t WHERE a > 0;
`

func TestATextEditTakesPartOfAnObject(t *testing.T) {
	made := FromText(schemaText, []TextEdit{
		{Of: "t", Object: "CONSTRAINT t_sound", Name: "any a", Old: "a > 0 AND ", New: ""},
		{Of: "t", Object: "FUNCTION f", Name: "any a", Old: "NEW.a > 0", New: "true"},
		{Of: "t", Object: "VIEW v", Name: "any a", Old: " WHERE a > 0", New: ""},
	})
	for i, want := range []string{
		"ALTER TABLE t DROP CONSTRAINT t_sound, ADD CONSTRAINT t_sound CHECK ((b > 0))",
		"CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
			"IF true THEN RETURN NEW; END IF; END $$;",
		"CREATE OR REPLACE VIEW v AS SELECT a FROM t;",
	} {
		require.Empty(t, made[i].Fault)
		require.Equal(t, want, oneLine(made[i].Alter))
	}
	require.Equal(t, "schema:t.t_sound any a", made[0].Name)
}

func TestATextEditThatMatchesNothingSaysSo(t *testing.T) {
	for _, m := range FromText(schemaText, []TextEdit{
		{Of: "t", Object: "FUNCTION f", Name: "x", Old: "nowhere"},
		{Of: "t", Object: "FUNCTION f", Name: "x", Old: "NEW"},
		{Of: "t", Object: "FUNCTION g", Name: "x", Old: "NEW"},
		{Of: "t", Object: "CONSTRAINT t_soun", Name: "x", Old: "a > 0"},
	}) {
		require.NotEmpty(t, m.Fault)
		require.Empty(t, m.Alter)
	}
}

func TestATriggerLosesOnePartOfItsEvent(t *testing.T) {
	const create = "CREATE TRIGGER x BEFORE "
	require.Equal(t, map[string]string{
		"without DELETE":   create + "UPDATE OR TRUNCATE ON t FOR EACH STATEMENT",
		"without UPDATE":   create + "DELETE OR TRUNCATE ON t FOR EACH STATEMENT",
		"without TRUNCATE": create + "DELETE OR UPDATE ON t FOR EACH STATEMENT",
	}, withoutParts(create+"DELETE OR UPDATE OR TRUNCATE ON t FOR EACH STATEMENT"))
	require.Equal(t, map[string]string{
		"without UPDATE OF a": create + "UPDATE OF b ON t",
		"without UPDATE OF b": create + "UPDATE OF a ON t",
	}, withoutParts(create+"UPDATE OF a, b ON t"))
	require.Empty(t, withoutParts(create+"DELETE ON t"))
}

// wireMessage is a message as a client writes it.
func wireMessage(kind string, body string) string {
	size := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
	return kind + string(size) + body
}

func TestOnlySQLIsRewritten(t *testing.T) {
	shout := func(sql string) string { return strings.ToUpper(sql) + "!" }
	for _, c := range []struct{ name, in, out string }{
		{"query", wireMessage("Q", "select\x00"), wireMessage("Q", "SELECT!\x00")},
		{"parse", wireMessage("P", "name\x00select\x00\x00\x01abcd"),
			wireMessage("P", "name\x00SELECT!\x00\x00\x01abcd")},
		{"bind", wireMessage("B", "\x00name\x00"), wireMessage("B", "\x00name\x00")},
		{"broken", wireMessage("Q", "select"), wireMessage("Q", "select")},
	} {
		m, err := readMessage(strings.NewReader(c.in), true)
		require.NoError(t, err, c.name)
		require.Equal(t, c.out, string(m.rewritten(shout)), c.name)
	}
	_, err := readMessage(strings.NewReader("Q\x00\x00\x00\x01"), true)
	require.Error(t, err, "no message is that short")
}

// The link passes everything on, in both directions, and ends with either side.
func TestALinkCarriesAConversation(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	l, err := openLink(server.Addr().String(), func(sql string) string { return sql + " twice" })
	require.NoError(t, err)
	defer l.close()
	client, err := net.Dial("tcp", l.addr())
	require.NoError(t, err)
	defer client.Close()
	start, query := wireMessage("", "start"), wireMessage("Q", "select\x00")
	_, err = io.WriteString(client, start+query)
	require.NoError(t, err)

	conn, err := server.Accept()
	require.NoError(t, err)
	want := start + wireMessage("Q", "select twice\x00")
	got := make([]byte, len(want))
	_, err = io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
	_, err = io.WriteString(conn, "answer")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	answer, err := io.ReadAll(client)
	require.NoError(t, err)
	require.Equal(t, "answer", string(bytes.TrimSpace(answer)))
}
