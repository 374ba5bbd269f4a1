package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// EmailWithoutLock looks for its message without a lock in common with whoever adds it. Both look
// at once, neither sees the other, and the event is stranded.
var EmailWithoutLock = mailerWith(func(s *emailSteps) {
	s.lock = func(context.Context, pgx.Tx, emailEvent) error { return nil }
})
