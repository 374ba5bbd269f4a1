package flawed

import "context"

// OutboxMarkedBeforeSend marks and then sends. What dies between the two is never sent.
var OutboxMarkedBeforeSend = posterWith(func(p *poster) {
	p.dispatch = func(ctx context.Context, m message) error {
		if err := p.marked(ctx, m); err != nil {
			return err
		}
		return p.send(ctx, m)
	}
})
