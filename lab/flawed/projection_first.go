package flawed

import (
	"context"

	"webhooklab/lab"
)

// ProjectionFirst shows the new state as soon as it can and looks at the inbox afterwards. What
// the inbox then refuses is shown all the same.
var ProjectionFirst = with(func(s *steps) {
	accept := s.receive
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		shown, err := advance(ctx, r.pool, d)
		if err != nil {
			return lab.Unknown, err
		}
		a, err := accept(ctx, r, d)
		if a == lab.Stale {
			a = shown // its own work is in the way of the second look
		}
		return a, err
	}
})
