package toxiproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	shopify "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Toxic is one of Toxiproxy's own toxics. Type is latency, slicer or bandwidth; the others lose
// data or goroutines, and Fault does what they are for.
//
// All of them sit in front of this package's toxics, which so see the stream as it is sliced and
// late. Their toxicity is always 1. For a run that can be repeated, leave jitter and
// size_variation at 0: no seed reaches them.
type Toxic struct {
	Type       string         `json:"type"`
	Stream     string         `json:"stream"` // upstream (to the server) or downstream
	Attributes map[string]any `json:"attributes"`
}

// registration makes this package's toxics known to Toxiproxy, once in a process.
var registration sync.Once

func register() {
	registration.Do(func() {
		toxics.Register("pg_hold", new(holdToxic))
		toxics.Register("pg_cut", new(cutToxic))
		toxics.Register("pg_drop_ack", new(dropAckToxic))
		toxics.Register("lose_request", new(loseRequestToxic))
		toxics.Register("lose_response", new(loseResponseToxic))
	})
}

// maxRead is how many bytes are read from a socket at once, where nothing throttles. It is the
// size of the buffers in Toxiproxy's links too.
const maxRead = 32 << 10

// check refuses what Toxiproxy would take without a word and not do, or not survive. It returns
// how many bytes may be read at once, so that a wire that closes has at most 100 ms of a
// throttled stream to wait for.
func (t Toxic) check() (readLimit int, err error) {
	if t.Stream != "upstream" && t.Stream != "downstream" {
		return 0, fmt.Errorf("toxic %s: stream %q: use upstream or downstream", t.Type, t.Stream)
	}
	added, err := t.add(shopify.NewToxicCollection(nil), 0)
	if err != nil {
		return 0, err
	}
	readLimit = maxRead
	switch toxic := added.Toxic.(type) {
	case *toxics.LatencyToxic:
	case *toxics.SlicerToxic:
		if toxic.AverageSize < 1 || toxic.SizeVariation < 0 ||
			toxic.SizeVariation >= toxic.AverageSize {
			return 0, fmt.Errorf("toxic slicer: average_size %d, size_variation %d: "+
				"the average is at least 1 byte and above the variation",
				toxic.AverageSize, toxic.SizeVariation)
		}
	case *toxics.BandwidthToxic:
		if toxic.Rate < 1 {
			return 0, fmt.Errorf("toxic bandwidth: rate %d KB/s: at least 1 is needed", toxic.Rate)
		}
		readLimit = int(min(toxic.Rate*100, maxRead))
	default:
		return 0, fmt.Errorf("toxic %s is not offered: use latency, slicer or bandwidth, "+
			"and a Fault to end a connection", t.Type)
	}
	return readLimit, t.known(added)
}

// known refuses attributes that the toxic does not have.
func (t Toxic) known(added *toxics.ToxicWrapper) error {
	encoded, err := json.Marshal(added.Toxic)
	if err != nil {
		return fmt.Errorf("toxic %s: read its attributes: %w", t.Type, err)
	}
	var has map[string]any
	if err := json.Unmarshal(encoded, &has); err != nil {
		return fmt.Errorf("toxic %s: read its attributes: %w", t.Type, err)
	}
	for name := range t.Attributes {
		if _, ok := has[name]; !ok {
			return fmt.Errorf("toxic %s has no attribute %q; it has %s", t.Type, name, encoded)
		}
	}
	return nil
}

// add puts the toxic at the end of its chain. Nothing may flow yet.
func (t Toxic) add(to *shopify.ToxicCollection, number int) (*toxics.ToxicWrapper, error) {
	definition, err := json.Marshal(struct {
		Toxic
		Name     string  `json:"name"`
		Toxicity float32 `json:"toxicity"`
	}{t, fmt.Sprintf("%s_%d", t.Type, number), 1})
	if err != nil {
		return nil, fmt.Errorf("toxic %s: encode its attributes: %w", t.Type, err)
	}
	added, err := to.AddToxicJson(bytes.NewReader(definition))
	if err != nil {
		return nil, fmt.Errorf("toxic %s %s on %s: %w", t.Type, definition, t.Stream, err)
	}
	return added, nil
}

// chain gives the connection its toxics: the stock ones first, then ours.
func (c *connection) chain(to *shopify.ToxicCollection) error {
	list := append(append([]Toxic(nil), c.proxy.config.Toxics...), c.own()...)
	for i, t := range list {
		added, err := t.add(to, i)
		if err != nil {
			return err
		}
		switch toxic := added.Toxic.(type) {
		case *holdToxic:
			toxic.conn = c
		case *cutToxic:
			toxic.conn = c
		case *dropAckToxic:
			toxic.conn = c
		case *loseRequestToxic:
			toxic.conn = c
		case *loseResponseToxic:
			toxic.conn = c
		}
	}
	return nil
}

// own are this package's toxics for the protocol of the wire.
func (c *connection) own() []Toxic {
	if c.proxy.config.Requests {
		return []Toxic{{Type: "lose_request", Stream: "upstream"},
			{Type: "lose_response", Stream: "downstream"}}
	}
	return []Toxic{{Type: "pg_hold", Stream: "upstream"}, {Type: "pg_cut", Stream: "upstream"},
		{Type: "pg_drop_ack", Stream: "downstream"}}
}
