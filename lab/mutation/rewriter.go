package mutation

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"

	"webhooklab/lab"
)

// A Rewriter edits what receivers send to their databases, on the way. They need nothing but a
// DSN, and know nothing of it.
type Rewriter struct {
	edit    Edit
	matched atomic.Int64

	mu    sync.Mutex
	links []*link
}

// NewRewriter makes one edit. Close it when its receivers are closed.
func NewRewriter(e Edit) *Rewriter { return &Rewriter{edit: e} }

// Matched is how many statements were edited so far: none means that nothing was put to the test.
func (r *Rewriter) Matched() int { return int(r.matched.Load()) }

// Receiver gives receivers whose statements are edited.
func (r *Rewriter) Receiver(inner lab.NewReceiver) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		edited, err := r.DSN(dsn)
		if err != nil {
			return nil, err
		}
		return inner(ctx, edited)
	}
}

// DSN gives one through which everything is edited.
func (r *Rewriter) DSN(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("mutation: read the DSN: %w", err)
	}
	l, err := openLink(u.Host, r.rewrite)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links = append(r.links, l)
	u.Host = l.addr()
	return u.String(), nil
}

// Close ends every connection that goes through it.
func (r *Rewriter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.links {
		l.close()
	}
	r.links = nil
}

func (r *Rewriter) rewrite(sql string) string {
	edited, ok := r.edit.apply(sql)
	if ok {
		r.matched.Add(1)
	}
	return edited
}
