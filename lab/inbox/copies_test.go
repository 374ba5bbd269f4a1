package inbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

// receiver is what takes events: atomic or intake.
type receiver interface {
	Receive(ctx context.Context, e inbox.Event) (inbox.Outcome, error)
}

// receiveEvent delivers in a goroutine that ends with its one answer.
func receiveEvent(t testing.TB, r receiver, e inbox.Event) <-chan answer {
	answers := make(chan answer, 1)
	ctx := bounded(t)
	go func() {
		outcome, err := r.Receive(ctx, e)
		answers <- answer{outcome, err}
	}()
	return answers
}

// models are both ways to accept an event, with the outcome of a new one.
var models = map[string]struct {
	make func(inbox.DB, inbox.Options) receiver
	new  inbox.Outcome
}{
	"atomic": {func(db inbox.DB, o inbox.Options) receiver {
		return inbox.NewAtomic(db, effect, o)
	}, inbox.Processed},
	"leased": {func(db inbox.DB, o inbox.Options) receiver {
		return inbox.NewIntake(db, o)
	}, inbox.Accepted},
}

func TestFiftyCopiesOfAnEventMakeOneReceipt(t *testing.T) {
	for name, model := range models {
		t.Run(name, func(t *testing.T) {
			d := withEffects(t)
			pool := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 10 })
			r := model.make(pool, inbox.Options{})
			var answers []<-chan answer
			for range 50 {
				answers = append(answers, receiveEvent(t, r, order))
			}
			count := map[inbox.Outcome]int{}
			for _, a := range answers {
				got := <-a
				require.NoError(t, got.err)
				count[got.outcome]++
			}
			require.Equal(t, map[inbox.Outcome]int{model.new: 1, inbox.Duplicate: 49}, count)
			require.Equal(t, 50, d.number(t, `SELECT deliveries FROM operator_deliveries
				WHERE new = 1 AND duplicate = 49`))
			if name == "leased" {
				w := inbox.NewWorker(d.pool, effect, inbox.WorkerOptions{})
				does(t, inbox.Processed)(w.Work(bounded(t)))
				does(t, inbox.Idle)(w.Work(bounded(t)))
			}
			require.Equal(t, 1, d.effects(t))
			d.addsUp(t)
		})
	}
}

// A copy waits for the one in flight, and is what that one's end makes it.
func TestACopyWaitsForTheReceiptInFlight(t *testing.T) {
	changed := order
	changed.Payload = []byte(`{"total": 13}`)
	for name, model := range models {
		for _, c := range []struct {
			name    string
			copy    inbox.Event
			end     bool // by COMMIT
			outcome inbox.Outcome
			err     error
		}{
			{"copy, committed", order, true, inbox.Duplicate, nil},
			{"copy, rolled back", order, false, model.new, nil},
			{"changed, committed", changed, true, "", inbox.ErrReusedEventID},
			{"changed, rolled back", changed, false, model.new, nil},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				d := withEffects(t)
				holding, ends := make(chan uint32), make(chan bool)
				first := between{d.pool, "COMMIT", func(tx pgx.Tx) {
					holding <- tx.Conn().PgConn().PID()
					if !<-ends {
						_ = tx.Rollback(bounded(t))
					}
				}}
				firstAnswer := receiveEvent(t, model.make(first, inbox.Options{}), order)
				holder := <-holding
				conn := d.connect(t)
				answers := receiveEvent(t, model.make(conn, inbox.Options{}), c.copy)
				d.waitsFor(t, conn.PgConn().PID(), holder)

				ends <- c.end
				require.Equal(t, c.end, (<-firstAnswer).err == nil)
				got := <-answers
				require.ErrorIs(t, got.err, c.err)
				require.Equal(t, c.outcome, got.outcome)
				require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_receipt`))
				if name == "atomic" {
					require.Equal(t, 1, d.effects(t))
				}
				d.addsUp(t)
			})
		}
	}
}

// A redelivery of a failed event waits for another one that is running it already.
func TestARedeliveryWaitsForTheOneInFlight(t *testing.T) {
	d := withEffects(t)
	closed := inbox.NewAtomic(d.pool, failing(errShop), inbox.Options{})
	_, err := closed.Receive(bounded(t), order)
	require.ErrorIs(t, err, errShop)

	holding, goOn := make(chan uint32), make(chan struct{})
	first := between{d.pool, "COMMIT", func(tx pgx.Tx) {
		holding <- tx.Conn().PgConn().PID()
		<-goOn
	}}
	firstAnswer := receiveEvent(t, inbox.NewAtomic(first, effect, inbox.Options{}), order)
	holder := <-holding
	conn := d.connect(t)
	answers := receiveEvent(t, inbox.NewAtomic(conn, effect, inbox.Options{}), order)
	d.waitsFor(t, conn.PgConn().PID(), holder)
	close(goOn)
	require.Equal(t, answer{inbox.Processed, nil}, <-firstAnswer)
	require.Equal(t, answer{inbox.Duplicate, nil}, <-answers)
	require.Equal(t, 1, d.effects(t))
	require.Equal(t, "processed | 2 | one effect", d.receipt(t, "evt_1"))
}

func TestTheWaitForACopyIsBounded(t *testing.T) {
	for name, model := range models {
		t.Run(name, func(t *testing.T) {
			d := withEffects(t)
			holding, goOn := make(chan uint32), make(chan struct{})
			first := between{d.pool, "COMMIT", func(tx pgx.Tx) {
				holding <- tx.Conn().PgConn().PID()
				<-goOn
			}}
			firstAnswer := receiveEvent(t, model.make(first, inbox.Options{}), order)
			<-holding
			r := model.make(d.pool, inbox.Options{LockTimeout: 20 * time.Millisecond})
			outcome, err := r.Receive(bounded(t), order)
			failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
			require.Equal(t, "lock_timeout", failure.Reason)
			close(goOn)
			require.NoError(t, (<-firstAnswer).err)
			does(t, inbox.Duplicate)(r.Receive(bounded(t), order))
		})
	}
}
