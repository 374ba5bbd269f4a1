package mutation

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// maxMessage is a bound on what a length may claim, in bytes.
const maxMessage = 1 << 30

// A message is one of the client's, of version 3 of PostgreSQL's protocol.
type message struct {
	kind byte // 0: the one that opens the connection
	body []byte
}

func readMessage(r io.Reader, typed bool) (m message, err error) {
	head := make([]byte, 5)
	if !typed {
		head = head[1:]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return m, err
	}
	if typed {
		m.kind, head = head[0], head[1:]
	}
	size := binary.BigEndian.Uint32(head)
	if size < 4 || size > maxMessage {
		return m, fmt.Errorf("mutation: message %q claims %d bytes", m.kind, size)
	}
	m.body = make([]byte, size-4)
	_, err = io.ReadFull(r, m.body)
	return m, err
}

// asksForEncryption tells the two requests after which the client still has to open.
func (m message) asksForEncryption() bool {
	const ssl, gss = 80877103, 80877104
	if m.kind != 0 || len(m.body) != 4 {
		return false
	}
	code := binary.BigEndian.Uint32(m.body)
	return code == ssl || code == gss
}

// rewritten gives the message's bytes, its SQL rewritten if it has any.
func (m message) rewritten(rewrite func(string) string) []byte {
	switch m.kind {
	case 'Q':
		m.body = replaceText(m.body, 0, rewrite)
	case 'P': // a name stands before the SQL, and types behind
		m.body = replaceText(m.body, bytes.IndexByte(m.body, 0)+1, rewrite)
	}
	var out []byte
	if m.kind != 0 {
		out = append(out, m.kind)
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(m.body)+4))
	return append(out, m.body...)
}

// replaceText rewrites the text that begins at this place and ends with a zero.
func replaceText(body []byte, at int, rewrite func(string) string) []byte {
	size := bytes.IndexByte(body[at:], 0)
	if size < 0 {
		return body // none: the server will say so
	}
	text := rewrite(string(body[at : at+size]))
	return bytes.Join([][]byte{body[:at], []byte(text), body[at+size:]}, nil)
}
