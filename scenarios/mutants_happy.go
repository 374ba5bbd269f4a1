package scenarios

import (
	"context"
	"fmt"

	"webhooklab/lab"
)

// happyPaths are what a receiver of each suite must be able to do at all: one event, nobody else,
// no fault. Whether it does it right is for the judges.
var happyPaths = map[string]func(context.Context, lab.Receiver) error{
	SnapshotSuite.Name: func(ctx context.Context, r lab.Receiver) error {
		return happily(r.Receive(ctx, paid))
	},
	EmailSuite.Name: func(ctx context.Context, r lab.Receiver) error {
		err := happily(r.(Mailer).AddMessage(ctx, "mail", "welcome", "ann@example.org"))
		if err != nil {
			return err
		}
		return happily(r.Receive(ctx, email("delivered")))
	},
	AtomicSuite.Name: func(ctx context.Context, r lab.Receiver) error {
		return happily(r.Receive(ctx, order("evt_paid", "paid")))
	},
	LeasedSuite.Name: func(ctx context.Context, r lab.Receiver) error {
		if err := happily(r.Receive(ctx, order("evt_paid", "paid"))); err != nil {
			return err
		}
		return happily(r.(Clerk).Work(ctx))
	},
	OutboxSuite.Name: func(ctx context.Context, r lab.Receiver) error {
		if err := happily(r.Receive(ctx, order("evt_paid", "paid"))); err != nil {
			return err
		}
		return happily(r.(Poster).Dispatch(ctx))
	},
}

func happily(a lab.Answer, err error) error {
	if err == nil && !a.Acked {
		err = fmt.Errorf("it answers %q", a)
	}
	return err
}

// happy goes the happy path past any wire of the lab.
func (t *Trial) happy(ctx context.Context, suite Suite) error {
	b, err := t.Bench(ctx, suite)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, trialBound)
	defer cancel()
	r, err := t.Options(suite).Receiver(ctx, b.Database.DSN())
	if err != nil {
		return err
	}
	if c, ok := r.(interface{ Close() }); ok {
		defer c.Close()
	}
	return happyPaths[suite.Name](ctx, r)
}
