package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// Who dozes is woken by what may be the last to happen, and finds what came before it as well.
func TestDozingIsWokenByTheLast(t *testing.T) {
	for _, last := range []happening{
		{wire: toxiproxy.Event{Kind: toxiproxy.Held}},
		{wire: toxiproxy.Event{Kind: toxiproxy.Fired}},
		{wire: toxiproxy.Event{Kind: toxiproxy.Closed}},
		{ended: true},
		{next: "deliver evt_2"},
	} {
		m := newMailbox()
		m.deafen(true)
		m.put(happening{wire: toxiproxy.Event{Kind: toxiproxy.Sent}})
		m.put(happening{wire: toxiproxy.Event{Kind: toxiproxy.Answered}})
		require.Empty(t, m.signal)
		m.put(last)
		require.Len(t, m.signal, 1)
		require.True(t, m.doze(time.Minute))
		require.Len(t, m.take(), 3)
	}
}

// Who waits is woken by everything.
func TestWaitingHearsAll(t *testing.T) {
	m := newMailbox()
	m.doze(time.Nanosecond)
	m.put(happening{wire: toxiproxy.Event{Kind: toxiproxy.Sent}})
	require.Len(t, m.signal, 1)
}

// What was taken stays whole while more comes in.
func TestTakenIsNotWrittenOver(t *testing.T) {
	m := newMailbox()
	for round := range 3 {
		m.put(happening{next: "first"})
		q := m.take()
		m.put(happening{next: "second"})
		require.Equal(t, []happening{{next: "first"}}, q, round)
		require.Equal(t, []happening{{next: "second"}}, m.take())
	}
}
