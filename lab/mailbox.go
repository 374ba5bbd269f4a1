package lab

import (
	"sync"
	"time"

	"webhooklab/toxiproxy"
)

// A happening is a wire event of a session, or the end of what it was doing.
type happening struct {
	session *Session
	wire    toxiproxy.Event
	ended   bool
	next    string // what follows when one act of several has ended
	answer  Answer
	err     error
}

// A mailbox queues happenings without a bound, so that the wire is never held up by the lab.
type mailbox struct {
	mu     sync.Mutex
	queue  []happening
	taken  []happening // what take gave last; its array is used again
	deaf   bool        // the one who waits does not want to know of what is followed by something else
	signal chan struct{}
	timer  *time.Timer // of the one who waits
}

func newMailbox() *mailbox {
	m := &mailbox{signal: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	m.timer.Stop()
	return m
}

func (m *mailbox) put(h happening) {
	m.mu.Lock()
	m.queue = append(m.queue, h)
	quiet := m.deaf && h.followed()
	m.mu.Unlock()
	if quiet {
		return
	}
	select {
	case m.signal <- struct{}{}:
	default:
	}
}

// followed: something else is to come as a rule, behind a command on its way its answer, behind an
// answer what its client does next.
func (h happening) followed() bool {
	return h.next == "" && !h.ended &&
		(h.wire.Kind == toxiproxy.Sent || h.wire.Kind == toxiproxy.Answered)
}

// take returns what is in the box, good until the next call.
func (m *mailbox) take() []happening {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.taken)
	m.queue, m.taken = m.taken[:0], m.queue
	return m.taken
}

func (m *mailbox) empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue) == 0
}

// wait returns true when something is in the box, false after d.
func (m *mailbox) wait(d time.Duration) bool {
	if !m.empty() {
		return true
	}
	return m.await(d)
}

// doze is wait for somebody who need not know of what is followed by something else: half of what
// happens wakes nobody. With a second connection it may be the last, so that d should be short.
func (m *mailbox) doze(d time.Duration) bool {
	m.deafen(true)
	defer m.deafen(false)
	return m.await(d)
}

func (m *mailbox) deafen(deaf bool) {
	m.mu.Lock()
	m.deaf = deaf
	m.mu.Unlock()
}

func (m *mailbox) await(d time.Duration) bool {
	t := m.timer
	t.Reset(d)
	defer t.Stop()
	for {
		select {
		case <-m.signal:
			if !m.empty() {
				return true
			}
		case <-t.C:
			return !m.empty()
		}
	}
}

// nap gives the box d to receive something: a few milliseconds at most, it looks every 20 us.
func (m *mailbox) nap(d time.Duration) bool {
	const slice = 20 * time.Microsecond
	for end := time.Now().Add(d); time.Now().Before(end); shortSleep(slice) {
		if !m.empty() {
			return true
		}
	}
	return !m.empty()
}
