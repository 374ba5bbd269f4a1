package properties_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/inbox"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
)

func outboxSins() []guilty {
	by := func(law, sin string, receiver lab.NewReceiver, first int) guilty {
		return guilty{law: law, sin: sin, suite: scenarios.OutboxSuite, receiver: receiver,
			first: first}
	}
	keyless := by("one_mail", "downstream_without_keys", scenarios.Outbox, 2)
	keyless.schema = `ALTER TABLE downstream_mail DROP CONSTRAINT downstream_mail_pkey;`
	uncounted := by(neverBack, "attempt_taken_back", sinfulPoster(takenBack), 62)
	uncounted.alter = `DROP TRIGGER outbox_message_step ON outbox_message;`
	return []guilty{
		by("message_iff_change", "outbox_row_after_commit", flawed.OutboxRowAfterCommit, 1),
		by("acked_is_enqueued", "error_swallowed", sinfulPoster(changeSwallowed), 1),
		by("sent_was_called", "send_error_swallowed", sinfulPoster(sendSwallowed), 30),
		by("called_was_enqueued", "sent_before_commit", sinfulPoster(sentBeforeCommit), 2),
		by(terminalAtLast, "lease_never_reclaimed", sinfulPoster(neverReclaimed), 4),
		keyless, uncounted,
	}
}

func TestLawsCatchSinsAgainstTheOutbox(t *testing.T) {
	for _, g := range outboxSins() {
		t.Run(g.law+"/"+g.sin, func(t *testing.T) {
			noLeaks(t)
			sinner := newCrew(t, g.suite, g.receiver, g.alter+g.schema)
			saint := newCrew(t, g.suite, g.suite.Receiver, g.alter)
			drawn := outboxScripts()
			g.caught(t, func(seed int, enough func(findings) bool) (findings, error) {
				return sinner.dispatch(t.Context(), drawn.Example(seed), enough)
			}, func(seed int) (findings, error) {
				return saint.dispatch(t.Context(), drawn.Example(seed), findings.any)
			})
		})
	}
}

// A sinner against the outbox is sound but for what its sin replaces.
type outboxSinner struct {
	scenarios.Poster
	pool     *pgxpool.Pool
	receive  func(context.Context, lab.Delivery) (lab.Answer, error)
	dispatch func(context.Context) (lab.Answer, error)
	recovers func(context.Context) (lab.Answer, error)
}

func (o *outboxSinner) Close() {
	closeReceiver(o.Poster)
	o.pool.Close()
}

func (o *outboxSinner) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	return o.receive(ctx, d)
}

func (o *outboxSinner) Dispatch(ctx context.Context) (lab.Answer, error) { return o.dispatch(ctx) }
func (o *outboxSinner) Recover(ctx context.Context) (lab.Answer, error)  { return o.recovers(ctx) }

func sinfulPoster(sin func(*outboxSinner)) lab.NewReceiver {
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		r, err := scenarios.Outbox(ctx, dsn)
		if err != nil {
			return nil, err
		}
		p := r.(scenarios.Poster)
		config, err := postgres.ParsePoolConfig(dsn)
		if err != nil {
			return nil, err
		}
		pool, err := pgxpool.NewWithConfig(ctx, config)
		o := &outboxSinner{p, pool, p.Receive, p.Dispatch, p.Recover}
		sin(o)
		return o, err
	}
}

// changeSwallowed takes a change for made that failed.
func changeSwallowed(o *outboxSinner) {
	sound := o.receive
	o.receive = func(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
		if answer, err := sound(ctx, d); err == nil {
			return answer, nil
		}
		return lab.Done, nil
	}
}

// carelessSender takes a message for sent whatever came of it.
type carelessSender struct{ pool *pgxpool.Pool }

func (s carelessSender) Send(ctx context.Context, m inbox.OutboxMessage) error {
	_ = calls(ctx, s.pool, m.Topic, m.Key)
	return nil
}

// calls is the system outside.
func calls(ctx context.Context, pool *pgxpool.Pool, source, key string) error {
	_, err := pool.Exec(ctx, `
WITH counted AS (INSERT INTO downstream_call (source, key) VALUES ($1, $2))
INSERT INTO downstream_mail (source, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`, source, key)
	return err
}

func sendSwallowed(o *outboxSinner) {
	careless := inbox.NewDispatcher(o.pool, carelessSender{o.pool},
		inbox.WorkerOptions{Lease: time.Hour, Backoff: time.Hour})
	o.dispatch = func(ctx context.Context) (lab.Answer, error) {
		outcome, err := careless.Dispatch(ctx)
		return lab.Answer{Outcome: string(outcome), Acked: err == nil}, err
	}
}

// sentBeforeCommit sends from inside the change, which may yet be rolled back.
func sentBeforeCommit(o *outboxSinner) {
	o.receive = func(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
		err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO effect (source, event_id, note) VALUES ($1, $2, $3)`,
				d.Source, d.EventID, d.Type)
			if err == nil {
				err = inbox.Enqueue(ctx, tx, inbox.OutboxMessage{
					Topic: d.Source, Key: d.EventID, Payload: d.Payload,
				})
			}
			if err == nil {
				err = calls(ctx, o.pool, d.Source, d.EventID)
			}
			if err == nil && d.Type == "order.cancelled" {
				err = errors.New("cancelled meanwhile")
			}
			return err
		})
		return lab.Done, err
	}
}

// neverReclaimed leaves what a dead dispatcher held in processing for ever.
func neverReclaimed(o *outboxSinner) {
	sound := o.dispatch
	o.recovers = func(context.Context) (lab.Answer, error) { return lab.Done, nil }
	o.dispatch = func(ctx context.Context) (lab.Answer, error) {
		var due bool
		err := o.pool.QueryRow(ctx, `
SELECT EXISTS (SELECT FROM outbox_message WHERE next_attempt_at <= clock_timestamp())`).Scan(&due)
		if err != nil || !due {
			return lab.Answer{Outcome: "idle"}, err
		}
		return sound(ctx)
	}
}

// takenBack recovers as if the lost attempt had not been.
func takenBack(o *outboxSinner) {
	o.recovers = func(ctx context.Context) (lab.Answer, error) {
		_, err := o.pool.Exec(ctx, `
UPDATE outbox_message
   SET status = 'pending', attempts = attempts - 1, lease_expires_at = NULL,
       next_attempt_at = clock_timestamp()
 WHERE status = 'processing' AND lease_expires_at <= clock_timestamp()`)
		return lab.Done, err
	}
}
