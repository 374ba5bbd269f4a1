package flawed

import (
	"context"

	"webhooklab/lab"
)

// ProjectionOutside commits the inbox row and then advances the object. What dies between the two
// is half delivered for ever: the retry is a duplicate.
var ProjectionOutside = with(func(s *steps) {
	s.receive = func(ctx context.Context, r *receiver, d lab.Delivery) (lab.Answer, error) {
		return r.accept(ctx, r.pool, d)
	}
})
