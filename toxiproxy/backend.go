package toxiproxy

import "strings"

// backendTypes are all messages of a server after its start-up, but those of replication.
const backendTypes = "RKSZTDCENA123IsntGHVdcv"

// wholeTypes are those whose content matters: they are gathered until whole, the others stream.
const wholeTypes = "ZCEK"

// message is one message of the server: its type, its size with the header in bytes, and its body
// when it is one of wholeTypes.
type message struct {
	kind byte
	size int
	body body
}

// backend cuts the bytes of a server into messages, whatever the chunks they come in, without
// gathering what only passes.
type backend struct {
	pending []byte // a header or a whole-type message of which the end has not come
	passing int    // bytes of a streamed message that are still to come
	keep    bool   // whether they may go on
}

// scan reads a chunk, which must not be changed any more, and returns what may go on of the
// stream up to here. judge is asked once per message, before any of its bytes go on: keep lets it
// pass, stop ends the scan behind it.
func (b *backend) scan(chunk []byte, judge func(message) (keep, stop bool)) ([]byte, error) {
	if len(b.pending) > 0 {
		chunk = append(b.pending, chunk...)
		b.pending = nil
	}
	kept := sieve{chunk: chunk}
	at := min(b.passing, len(chunk))
	kept.add(0, at, b.keep)
	b.passing -= at
	for at < len(chunk) {
		m, ok, err := whole(chunk[at:])
		if err != nil {
			return kept.out, err
		}
		if !ok {
			b.pending = chunk[at:len(chunk):len(chunk)]
			break
		}
		keep, stop := judge(m)
		end := min(at+m.size, len(chunk))
		b.passing, b.keep = at+m.size-end, keep
		kept.add(at, end, keep)
		at = end
		if stop {
			break
		}
	}
	return kept.out, nil
}

// sieve gathers the parts of a chunk that may go on, without copying while they are one piece.
type sieve struct {
	chunk []byte
	out   []byte
	from  int // where out starts in chunk
	to    int // where it ends there; out is a copy once another part was left out before it
}

func (s *sieve) add(from, to int, keep bool) {
	switch {
	case !keep || from == to:
	case len(s.out) == 0:
		s.from, s.to = from, to
		s.out = s.chunk[from:to:to]
	case s.to == from && len(s.out) == s.to-s.from:
		s.to = to
		s.out = s.chunk[s.from:to:to]
	default:
		s.out = append(s.out, s.chunk[from:to]...)
	}
}

// whole reads the message at the start of b; ok is false while too little of it is there.
func whole(b []byte) (m message, ok bool, err error) {
	kind, size, ok, err := header(b, backendTypes)
	if !ok || err != nil {
		return m, false, err
	}
	m = message{kind: kind, size: size}
	if strings.IndexByte(wholeTypes, kind) < 0 {
		return m, true, nil
	}
	if len(b) < size {
		return m, false, nil
	}
	m.body.rest = b[headerSize:size]
	return m, true, nil
}

// sqlState reads the code of an ErrorResponse.
func sqlState(b *body) string {
	for {
		field := b.byte()
		if field == 0 {
			return ""
		}
		if value := b.text(); field == 'C' {
			return value
		}
	}
}
