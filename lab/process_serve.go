package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A Doer has abilities beside receiving, by name. A receiver that Serve is given may be one; a
// ChildProcess always is.
type Doer interface {
	Do(ctx context.Context, what string, args ...string) (Answer, error)
}

// Serve is the other end of Process for receivers written in Go: it answers requests, each as soon
// as it is done, until in ends; what is then still in progress is cancelled.
func Serve(ctx context.Context, r Receiver, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	s := server{receiver: r, out: json.NewEncoder(out)}
	defer s.tasks.Wait()
	defer cancel()
	requests := bufio.NewReader(in)
	for {
		line, err := requests.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lab: read a request: %w", err)
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("lab: read a request: %w: %.200q", err, line)
		}
		s.tasks.Go(func() { s.answer(ctx, q) })
	}
}

type server struct {
	receiver Receiver
	tasks    sync.WaitGroup
	mu       sync.Mutex
	out      *json.Encoder
}

func (s *server) answer(ctx context.Context, q request) {
	a, err := guarded(ctx, func(ctx context.Context) (Answer, error) { return s.do(ctx, q) })
	r := reply{ID: q.ID, Outcome: a.Outcome, Acked: a.Acked}
	if err != nil {
		r = reply{ID: q.ID, Error: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(r) // nobody listens any more: in ends too
}

func (s *server) do(ctx context.Context, q request) (Answer, error) {
	if q.Do == "receive" {
		if q.Delivery == nil {
			return Unknown, errors.New("a request to receive has no delivery")
		}
		return s.receiver.Receive(ctx, Delivery(*q.Delivery))
	}
	able, ok := s.receiver.(Doer)
	if !ok {
		return Unknown, fmt.Errorf("the receiver has no ability to %s", q.Do)
	}
	var args []string
	for _, a := range q.Args {
		args = append(args, string(a))
	}
	return able.Do(ctx, q.Do, args...)
}
