package flawed

import (
	"context"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// EmailDroppedEarly knows no such message and acknowledges the event all the same. It never comes
// again.
var EmailDroppedEarly = mailerWith(func(s *emailSteps) {
	s.early = func(context.Context, pgx.Tx, emailEvent) (lab.Answer, error) {
		return lab.Answer{}, errDropped
	}
})
