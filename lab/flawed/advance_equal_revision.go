package flawed

import (
	"context"

	"webhooklab/lab"
)

// AdvanceEqualRevision lets an equal revision through. The inbox makes two events of one revision
// impossible, so only a projection that was filled from elsewhere shows it.
var AdvanceEqualRevision = with(func(s *steps) {
	s.advance = func(ctx context.Context, q querier, d lab.Delivery) (lab.Answer, error) {
		return upsert(ctx, q, d, `WHERE state.revision <= excluded.revision`)
	}
})
