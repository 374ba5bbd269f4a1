package toxiproxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// headerSize is the type byte and the length of a typed message, in bytes.
const headerSize = 5

// maxMessage bounds what a length field may claim, in bytes. PostgreSQL itself allows 1 GiB.
const maxMessage = 1 << 30

// header reads the type and the whole size, header included, of the message at the start of b;
// ok is false while b is too short to tell.
func header(b []byte, known string) (kind byte, size int, ok bool, err error) {
	if len(b) == 0 {
		return 0, 0, false, nil
	}
	if bytes.IndexByte([]byte(known), b[0]) < 0 {
		return 0, 0, false, fmt.Errorf("message type %q is none of protocol 3", b[0])
	}
	if len(b) < headerSize {
		return 0, 0, false, nil
	}
	length := binary.BigEndian.Uint32(b[1:])
	if length < 4 || length > maxMessage {
		return 0, 0, false, fmt.Errorf("message %q claims %d bytes", b[0], length)
	}
	return b[0], int(length) + 1, true, nil
}

// body reads the fields of one message. After the first field that is not there, all reads give
// zero values and err tells.
type body struct {
	rest []byte
	err  error
}

func (b *body) text() string {
	end := bytes.IndexByte(b.rest, 0)
	if end < 0 {
		b.fail("a string without its end")
		return ""
	}
	s := string(b.rest[:end])
	b.rest = b.rest[end+1:]
	return s
}

func (b *body) bytes(n int) []byte {
	if n < 0 || n > len(b.rest) {
		b.fail("a field longer than its message")
		return nil
	}
	field := b.rest[:n:n]
	b.rest = b.rest[n:]
	return field
}

func (b *body) byte() byte {
	if f := b.bytes(1); f != nil {
		return f[0]
	}
	return 0
}

func (b *body) int16() int16 {
	if f := b.bytes(2); f != nil {
		return int16(binary.BigEndian.Uint16(f))
	}
	return 0
}

func (b *body) int32() int32 {
	if f := b.bytes(4); f != nil {
		return int32(binary.BigEndian.Uint32(f))
	}
	return 0
}

func (b *body) fail(what string) {
	if b.err == nil {
		b.err = fmt.Errorf("a message holds %s", what)
	}
	b.rest = nil
}
