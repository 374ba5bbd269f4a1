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
	m.mu.Unlock()
	select {
	case m.signal <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() []happening {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.queue
	m.queue = nil
	return q
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
