package flawed

import (
	"context"

	"webhooklab/lab"
)

// UnconditionalAdvance writes whatever comes. The last to arrive wins, not the newest.
var UnconditionalAdvance = with(func(s *steps) {
	s.advance = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		return upsert(ctx, q, d, "")
	}
})
