package toxiproxy

import (
	"fmt"
	"strings"
)

// frontendTypes are all messages of a client after its start-up packet.
const frontendTypes = "QPBESDCHFXdcfp"

// frontend cuts the bytes of a client into units, whatever the chunks they come in: the units'
// bytes in their order are the stream.
//
// Messages that carry data or end the connection pass as units of their own, unless a cycle is
// open before them; everything else waits for the Query, Sync or Flush that ends its unit.
type frontend struct {
	buf        []byte
	at         int // bytes of buf that are scanned
	statements map[string]string
	portals    map[string]Statement
	names      map[string]*name // by the text of a single statement
}

// unit is what goes to the server in one piece.
type unit struct {
	data       []byte
	end        byte // type of the message that ends it
	executes   int  // answers with a completion of their own that it asks for
	statements []Statement
	command    *Command // nil: passes untold, it is no command and no end of one
	fault      *Fault   // given at its release
}

func newFrontend() *frontend {
	return &frontend{statements: map[string]string{}, portals: map[string]Statement{},
		names: map[string]*name{}}
}

// maxNames bounds how many texts a connection remembers: those with values in them never end.
const maxNames = 500

// name reads a text once: most are sent again and again.
func (f *frontend) name(statements []Statement) *name {
	c := Command{Statements: statements}
	if len(statements) != 1 {
		return &name{c.Label(), c.Local()}
	}
	sql := statements[0].SQL
	known := f.names[sql]
	if known == nil {
		known = &name{c.Label(), c.Local()}
		if len(f.names) < maxNames {
			f.names[sql] = known
		}
	}
	return known
}

// push adds a chunk, which must not be changed any more.
func (f *frontend) push(chunk []byte) {
	if len(f.buf) == 0 {
		f.buf = chunk[:len(chunk):len(chunk)] // a slicer's chunks share one array: no append to it
		return
	}
	f.buf = append(f.buf, chunk...)
}

// next is the next unit that is whole, nil when more bytes are needed. An error means that the
// stream is not understood; nothing more can be read from it.
func (f *frontend) next() (*unit, error) {
	for {
		kind, size, ok, err := header(f.buf[f.at:], frontendTypes)
		if err != nil {
			return nil, err
		}
		if !ok || len(f.buf)-f.at < size {
			return nil, nil
		}
		alone := f.at == 0
		f.at += size
		switch {
		case strings.IndexByte("QFSHX", kind) >= 0:
			return f.take(kind)
		case alone && strings.IndexByte("dcfp", kind) >= 0:
			return f.take(kind)
		}
	}
}

func (f *frontend) take(end byte) (*unit, error) {
	u := &unit{data: f.buf[:f.at:f.at], end: end}
	f.buf = f.buf[f.at:]
	f.at = 0
	if err := f.read(u); err != nil {
		return nil, fmt.Errorf("%w (in a unit of %d bytes)", err, len(u.data))
	}
	return u, nil
}

// read gathers the statements that the unit executes.
func (f *frontend) read(u *unit) error {
	for rest := u.data; len(rest) > 0; {
		kind, size, _, err := header(rest, frontendTypes)
		if err != nil {
			return err
		}
		b := body{rest: rest[headerSize:size]}
		f.message(u, kind, &b)
		if b.err != nil {
			return b.err
		}
		rest = rest[size:]
	}
	return nil
}

func (f *frontend) message(u *unit, kind byte, b *body) {
	switch kind {
	case 'Q':
		for _, sql := range split(b.text()) {
			u.statements = append(u.statements, Statement{SQL: sql})
		}
	case 'F':
		u.executes++
		sql := fmt.Sprintf("CALL function_%d", uint32(b.int32()))
		u.statements = append(u.statements, Statement{SQL: sql})
	case 'P':
		name := b.text()
		f.statements[name] = strings.TrimSpace(b.text())
	case 'B':
		portal := b.text()
		f.portals[portal] = f.bind(b)
	case 'E':
		u.executes++
		u.statements = append(u.statements, f.portal(b.text()))
	case 'C':
		f.forget(b.byte(), b.text())
	}
}

// bind reads the statement and arguments of a Bind message.
func (f *frontend) bind(b *body) Statement {
	name := b.text()
	sql, ok := f.statements[name]
	if !ok { // prepared by SQL, which this does not follow
		sql = "EXECUTE " + name
	}
	formats := make([]int16, uint16(b.int16()))
	for i := range formats {
		formats[i] = b.int16()
	}
	s := Statement{SQL: sql}
	for i := range int(uint16(b.int16())) {
		var arg []byte
		if n := b.int32(); n >= 0 {
			arg = b.bytes(int(n))
		}
		if b.err != nil {
			break
		}
		s.Args = append(s.Args, arg)
		s.Formats = append(s.Formats, format(formats, i))
	}
	return s
}

// format applies Bind's shorthand: no format is text, one format is for all.
func format(formats []int16, i int) int16 {
	switch {
	case len(formats) == 0:
		return 0
	case len(formats) == 1:
		return formats[0]
	case i < len(formats):
		return formats[i]
	}
	return 0
}

func (f *frontend) portal(name string) Statement {
	s, ok := f.portals[name]
	if !ok { // a cursor declared by SQL
		s.SQL = "FETCH " + name
	}
	return s
}

func (f *frontend) forget(kind byte, name string) {
	if kind == 'S' {
		delete(f.statements, name)
	} else {
		delete(f.portals, name)
	}
}

// asks tells what the unit is to the gate: a command that executes, or a Sync by itself, which
// is answered too. Everything else passes untold.
func (u *unit) asks() bool {
	return strings.IndexByte("QFS", u.end) >= 0 || u.executes > 0
}
