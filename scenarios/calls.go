package scenarios

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/inbox"
	"webhooklab/lab/mutation"
)

// A Call asks a reference receiver what its suite has no verb for. An error says how its law is
// broken.
type Call struct {
	Of, Name, Law string
	Do            func(ctx context.Context, pool *pgxpool.Pool) error
}

// Calls are all of them.
var Calls = []Call{
	{
		Of: "email", Name: "AddMessageTx at a higher level",
		Law: "a message is added where it can see what was committed while it waited, or not at all",
		Do: func(ctx context.Context, pool *pgxpool.Pool) error {
			strict := pgx.TxOptions{IsoLevel: pgx.RepeatableRead}
			return refusedAs(inbox.ErrInvalid, pgx.BeginTxFunc(ctx, pool, strict, func(tx pgx.Tx) error {
				return inbox.AddMessageTx(ctx, tx, inbox.EmailMessage{
					Source: "calls", MessageID: "welcome", Recipients: []string{"ann"},
				})
			}))
		},
	},
	correctedOtherwise("another reason", func(c *inbox.Correction) { c.Reason = "another" }),
	correctedOtherwise("another author", func(c *inbox.Correction) { c.Author = "another" }),
}

func correctedOtherwise(name string, change func(*inbox.Correction)) Call {
	return Call{
		Of: "email", Name: "Correct for " + name,
		Law: "a correction's id stands for one content, with its reason and author",
		Do: func(ctx context.Context, pool *pgxpool.Pool) error {
			emails := inbox.NewEmails(pool, patient)
			c := inbox.Correction{
				Source: "calls", EventID: "fix " + name, Voids: "evt", Reason: "one", Author: "one",
			}
			if _, err := emails.Correct(ctx, c); err != nil {
				return err
			}
			change(&c)
			_, err := emails.Correct(ctx, c)
			return refusedAs(inbox.ErrReusedEventID, err)
		},
	}
}

func refusedAs(want, err error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("want it refused as %q, not %q", want, orNil(err))
}

// orNil is an error that says so where there is none.
func orNil(err error) error {
	if err == nil {
		return errors.New("accepted")
	}
	return err
}

// Calling is the judge that makes the calls, for the mutants of a receiver's SQL.
func Calling(ctx context.Context, t *Trial) (Catch, error) {
	if t.Mutant.Kind != mutation.SQL {
		return Catch{}, nil
	}
	for _, c := range Calls {
		if c.Of != t.Mutant.Of {
			continue
		}
		if err := t.call(ctx, c); err != nil {
			return Catch{By: "call " + c.Name, Law: c.Law}, ctx.Err()
		}
	}
	return Catch{}, nil
}

func (t *Trial) call(ctx context.Context, c Call) error {
	b, err := t.Bench(ctx, t.Suites[0])
	if err != nil {
		return err
	}
	dsn, err := t.rewriter.DSN(b.Database.DSN())
	if err != nil {
		return err
	}
	pool, err := open(ctx, dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	return c.Do(ctx, pool)
}
