package inbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/inbox"
)

// charges sends to a service that does each idempotency key once.
type charges struct{ url string }

func (c charges) Send(ctx context.Context, m inbox.OutboxMessage) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url,
		bytes.NewReader(m.Payload))
	if err != nil {
		return inbox.Permanent(err)
	}
	request.Header.Set("Idempotency-Key", m.Key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err // it may have arrived: it is sent again, under the same key
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode < 300:
		return nil
	case answer.StatusCode == http.StatusUnprocessableEntity:
		return inbox.Permanent(fmt.Errorf("refused: %s", answer.Status))
	default:
		return fmt.Errorf("not now: %s", answer.Status)
	}
}

// A webhook's business change enqueues the charge, a pool of dispatchers makes it.
func ExampleEnqueue() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, "postgres://app@db.internal/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()

	confirm := func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		_, err := tx.Exec(ctx, `UPDATE orders SET status = 'confirmed' WHERE id = 42`)
		if err != nil {
			return err
		}
		return inbox.Enqueue(ctx, tx, inbox.OutboxMessage{
			Topic: "charge", Key: e.Source + "/" + e.ID, Payload: json.RawMessage(`{"cents": 1250}`),
		})
	}
	_ = inbox.NewAtomic(pool, confirm, inbox.Options{})

	dispatcher := inbox.NewDispatcher(pool, charges{"https://pay.internal"}, inbox.WorkerOptions{})
	if err := inbox.NewDispatcherPool(dispatcher, 4, inbox.PoolOptions{}).Run(ctx); err != nil {
		log.Print(err)
	}
}
