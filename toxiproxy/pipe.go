package toxiproxy

import (
	"errors"
	"slices"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Why a toxic ceases to pass data on.
var (
	errStopped     = errors.New("the connection is cut")
	errEnded       = errors.New("the stream has ended")
	errInterrupted = errors.New("the toxics were changed under traffic")
)

// run is the loop of this package's toxics: pass gets each chunk until it gives an error or the
// connection is muted; from then on chunks are swallowed, for a stub that is not read leaks the
// goroutines in front of it. over runs at the end of the input, before the stub is closed.
func (c *connection) run(stub *toxics.ToxicStub, pass func(*stream.StreamChunk) error,
	over func()) {
	err := c.loop(stub, pass)
	if errors.Is(err, errStopped) {
		err = c.loop(stub, nil)
	}
	if errors.Is(err, errInterrupted) {
		c.end(FIN, err.Error()) // what this toxic had in hand is lost
		return
	}
	over()
	stub.Close()
	c.parts.Done()
}

// loop returns why it ended. Without pass it swallows.
func (c *connection) loop(stub *toxics.ToxicStub, pass func(*stream.StreamChunk) error) error {
	muted := c.muted
	if pass == nil {
		muted = nil
	}
	for {
		select {
		case <-stub.Interrupt:
			return errInterrupted
		case <-muted:
			return errStopped
		case chunk := <-stub.Input:
			if chunk == nil {
				return errEnded
			}
			if pass == nil {
				continue
			}
			if err := pass(chunk); err != nil {
				return err
			}
		}
	}
}

// deliver passes a chunk to the end of the link, in pieces: Toxiproxy's reader there loses data
// behind a chunk that is longer than its buffer of maxRead bytes.
func (c *connection) deliver(stub *toxics.ToxicStub, chunk *stream.StreamChunk) error {
	for data := range slices.Chunk(chunk.Data, maxRead) {
		piece := &stream.StreamChunk{Data: data, Timestamp: chunk.Timestamp}
		if err := c.send(stub, piece); err != nil {
			return err
		}
	}
	return nil
}

// send passes a chunk to the next stub.
func (c *connection) send(stub *toxics.ToxicStub, chunk *stream.StreamChunk) error {
	select {
	case stub.Output <- chunk:
		return nil
	case <-c.muted:
		return errStopped
	case <-stub.Interrupt:
		return errInterrupted
	}
}

// clientLeft runs when the stream from the client has ended. A connection that is still whole is
// closed by the link, behind the bytes that are on their way.
func (c *connection) clientLeft() {
	select {
	case <-c.muted:
		c.end(c.manner(), "its client left")
	default:
	}
}

// serverLeft runs when the stream from the server has ended. A client that was left hanging is
// not told.
func (c *connection) serverLeft() {
	if c.hanging() {
		<-c.ended
	}
}
