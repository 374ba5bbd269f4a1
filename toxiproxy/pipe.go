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
// connection is muted. From then on chunks are swallowed, for a stub that is not read leaks the
// goroutines in front of it.
func (c *connection) run(stub *toxics.ToxicStub, to stream.Direction,
	pass func(*stream.StreamChunk) error) {
	err := c.loop(stub, pass)
	if errors.Is(err, errStopped) {
		if to == stream.Downstream && !c.hanging() {
			stub.Close() // the link closes the client's end, behind what it was answered before
		}
		err = c.loop(stub, nil)
	}
	if errors.Is(err, errInterrupted) {
		c.end(FIN, err.Error()) // what this toxic had in hand is lost
		return
	}
	c.left(to)
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
func (c *connection) deliver(stub *toxics.ToxicStub, chunk *stream.StreamChunk,
	stop chan struct{}) error {
	for data := range slices.Chunk(chunk.Data, maxRead) {
		piece := &stream.StreamChunk{Data: data, Timestamp: chunk.Timestamp}
		if err := send(stub, piece, stop); err != nil {
			return err
		}
	}
	return nil
}

// send passes a chunk to the next stub, unless stop is closed first.
func send(stub *toxics.ToxicStub, chunk *stream.StreamChunk, stop chan struct{}) error {
	select {
	case stub.Output <- chunk:
		return nil
	case <-stop:
		return errStopped
	case <-stub.Interrupt:
		return errInterrupted
	}
}

// left runs when the stream to that direction has ended. Of a connection that is whole the link
// closes the ends, behind the bytes that are on their way. One that is muted has none: the client
// that left takes it down, the server that left does not, lest a client that hangs is told.
func (c *connection) left(to stream.Direction) {
	switch {
	case !isClosed(c.muted):
	case to == stream.Upstream:
		c.end(c.manner(), "its client left")
	case c.hanging():
		<-c.ended
	}
}
