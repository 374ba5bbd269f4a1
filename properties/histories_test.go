package properties_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/properties"
)

// A play makes a history by hand: calls and returns in the order of its lines.
type play struct {
	t       *testing.T
	history *lab.History
	open    map[string]chan reply
	done    map[string]chan struct{}
}

type reply struct {
	answer lab.Answer
	err    error
}

func newPlay(t *testing.T) *play {
	return &play{t, lab.NewHistory(), map[string]chan reply{}, map[string]chan struct{}{}}
}

// waiting is a receiver that answers what it is told to.
type waiting struct {
	called chan struct{}
	reply  chan reply
}

func (w waiting) Receive(context.Context, lab.Delivery) (lab.Answer, error) {
	close(w.called)
	r := <-w.reply
	return r.answer, r.err
}

// calls begins a delivery; it is in progress when calls returns.
func (p *play) calls(session, event string, revision int64) {
	w := waiting{make(chan struct{}), make(chan reply)}
	done := make(chan struct{})
	p.open[session], p.done[session] = w.reply, done
	d := told{event, "order", revision, `{}`, lab.Applied}.delivery()
	r := p.history.Record(session, w)
	go func() {
		defer close(done)
		_, _ = r.Receive(p.t.Context(), d)
	}()
	<-w.called
}

// is ends the delivery of a session.
func (p *play) is(session string, answer lab.Answer) {
	r := reply{answer: answer}
	if answer == lab.Unknown {
		r.err = errors.New("connection lost")
	}
	p.open[session] <- r
	<-p.done[session]
}

func (p *play) does(session, event string, revision int64, answer lab.Answer) {
	p.calls(session, event, revision)
	p.is(session, answer)
}

// left is what a database holds: events of object order by revision, and where the object is.
func left(at int64, events map[string]int64) properties.Stored {
	var s properties.Stored
	for event, revision := range events {
		s.Events = append(s.Events, told{event, "order", revision, `{}`, lab.Applied}.delivery())
	}
	if at > 0 {
		s.Objects = append(s.Objects, told{"", "order", at, `{}`, lab.Applied}.delivery())
	}
	return s
}

// plays are histories with what is left behind, and whether some order explains both.
type plays map[string]struct {
	play  func(p *play)
	after properties.Stored
	valid bool
}

func (all plays) check(t *testing.T) {
	noLeaks(t)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			c.play(p)
			offences := properties.Linearizable{}.Check("play", p.history, c.after)
			if c.valid {
				require.Empty(t, offences)
				return
			}
			require.Len(t, offences, 1)
			require.Equal(t, lab.VerdictInvalid, offences[0].Verdict)
		})
	}
}

func TestLinearizable(t *testing.T) {
	plays{
		"two copies at once": {func(p *play) {
			p.calls("a", "e1", 1)
			p.does("b", "e1", 1, lab.Applied)
			p.is("a", lab.Duplicate)
		}, left(1, map[string]int64{"e1": 1}), true},
		"two copies, both applied": {func(p *play) {
			p.calls("a", "e1", 1)
			p.does("b", "e1", 1, lab.Applied)
			p.is("a", lab.Applied)
		}, left(1, map[string]int64{"e1": 1}), false},
		"a duplicate of what comes later": {func(p *play) {
			p.does("a", "e1", 1, lab.Duplicate)
			p.does("b", "e1", 1, lab.Applied)
		}, left(1, map[string]int64{"e1": 1}), false},
		"revisions in either order": {func(p *play) {
			p.calls("a", "e2", 2)
			p.does("b", "e1", 1, lab.Stale)
			p.is("a", lab.Applied)
		}, left(2, map[string]int64{"e1": 1, "e2": 2}), true},
		"stale before the newer one was called": {func(p *play) {
			p.does("b", "e1", 1, lab.Stale)
			p.does("a", "e2", 2, lab.Applied)
		}, left(2, map[string]int64{"e1": 1, "e2": 2}), false},
		"an answer that explains itself, a table that does not": {func(p *play) {
			p.calls("a", "e2", 2)
			p.does("b", "e1", 1, lab.Applied)
			p.is("a", lab.Applied)
		}, left(1, map[string]int64{"e1": 1, "e2": 2}), false},
		"acknowledged and gone": {func(p *play) {
			p.does("a", "e1", 1, lab.Applied)
		}, left(0, nil), false},
		"stored and never delivered": {func(p *play) {
			p.does("a", "e1", 1, lab.Applied)
		}, left(2, map[string]int64{"e1": 1, "e2": 2}), false},
		"invalid and told so": {func(p *play) {
			p.does("a", "e1", 0, lab.Invalid)
		}, left(0, nil), true},
		"invalid and not told": {func(p *play) {
			p.does("a", "e1", 0, lab.Applied)
		}, left(0, nil), false},
	}.check(t)
}

func TestLinearizableWithUnknownOutcomes(t *testing.T) {
	plays{
		"lost and stored, in time for the next": {func(p *play) {
			p.does("a", "e2", 2, lab.Unknown)
			p.does("b", "e1", 1, lab.Stale)
		}, left(2, map[string]int64{"e1": 1, "e2": 2}), true},
		"lost and stored, after the next": {func(p *play) {
			p.does("a", "e2", 2, lab.Unknown)
			p.does("b", "e1", 1, lab.Applied)
		}, left(2, map[string]int64{"e1": 1, "e2": 2}), true},
		"stored before it was called": {func(p *play) {
			p.does("b", "e1", 1, lab.Stale)
			p.does("a", "e2", 2, lab.Unknown)
		}, left(2, map[string]int64{"e1": 1, "e2": 2}), false},
		"lost and not stored": {func(p *play) {
			p.does("a", "e2", 2, lab.Unknown)
			p.does("b", "e1", 1, lab.Applied)
		}, left(1, map[string]int64{"e1": 1}), true},
		"lost, not stored, and yet in the way": {func(p *play) {
			p.does("a", "e2", 2, lab.Unknown)
			p.does("b", "e1", 1, lab.Stale)
		}, left(1, map[string]int64{"e1": 1}), false},
		"half delivered": {func(p *play) {
			p.does("a", "e1", 1, lab.Unknown)
		}, left(0, map[string]int64{"e1": 1}), false},
		"still open": {func(p *play) {
			p.calls("a", "e1", 1)
			p.does("b", "e1", 1, lab.Duplicate)
			defer p.is("a", lab.Unknown)
		}, left(1, map[string]int64{"e1": 1}), true},
	}.check(t)
}

func TestLinearizableAfterABackfill(t *testing.T) {
	p := newPlay(t)
	p.does("a", "e2", 2, lab.Stale)
	before := &properties.Model{}
	require.NoError(t, before.Backfill("shop", "order", 3, []byte(`{}`)))
	after := left(3, map[string]int64{"e2": 2})
	require.Empty(t, properties.Linearizable{Before: before}.Check("backfill", p.history, after))
	require.NotEmpty(t, properties.Linearizable{}.Check("backfill", p.history, after))
}

// A history without an order is drawn, with its faults.
func TestLinearizableDrawsAPicture(t *testing.T) {
	p := newPlay(t)
	p.does("a", "e1", 1, lab.Applied)
	p.history.Note("a", "fault", "COMMIT: request lost")
	p.does("a", "e1", 1, lab.Applied)
	dir := filepath.Join(t.TempDir(), "histories")
	offences := properties.Linearizable{Dir: dir}.Check(
		"twice", p.history, left(1, map[string]int64{"e1": 1}))
	require.Len(t, offences, 1)
	require.Contains(t, offences[0].Text, filepath.Join(dir, "twice.html"))
	page, err := os.ReadFile(filepath.Join(dir, "twice.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "COMMIT: request lost")
	require.Contains(t, string(page), "order")
}

// Forty deliveries at once, none of which explains the last answer: too many orders to try.
func TestLinearizableGivesUp(t *testing.T) {
	noLeaks(t)
	p := newPlay(t)
	events := map[string]int64{}
	const many = 40
	for i := range int64(many) {
		event := fmt.Sprintf("e%d", i)
		p.calls(event, event, i+1)
		events[event] = i + 1
	}
	for i := range many - 1 {
		p.is(fmt.Sprintf("e%d", i), lab.Applied)
	}
	p.is(fmt.Sprintf("e%d", many-1), lab.Stale)
	l := properties.Linearizable{Bound: 20 * time.Millisecond}
	offences := l.Check("many", p.history, left(many, events))
	require.Len(t, offences, 1)
	require.Equal(t, lab.VerdictUnknown, offences[0].Verdict)
}
