package flawed

import (
	"context"

	"webhooklab/lab"
)

// AnyConflictIsDuplicate takes "no row inserted" for "seen before". A changed body under a known
// id, or a second event for a revision, is acknowledged and lost.
var AnyConflictIsDuplicate = with(func(s *steps) {
	s.lookUp = func(context.Context, querier, lab.Delivery) (lab.Answer, error) {
		return lab.Duplicate, nil
	}
})
