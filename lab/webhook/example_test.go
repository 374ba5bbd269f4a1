package webhook_test

import (
	"context"
	"log"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// A program receives one provider's events and books them in the transaction that accepts them.
func Example() {
	pool, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	db := webhook.Acquire(pool, 2*time.Second)
	verifier, err := webhook.NewStripe(os.Getenv("STRIPE_SECRET"), os.Getenv("STRIPE_SECRET_OLD"))
	if err != nil {
		log.Fatal(err)
	}
	book := func(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
		_, err := tx.Exec(ctx, `INSERT INTO booking (event_id) VALUES ($1)`, e.ID)
		return err
	}
	handler, err := webhook.NewHandler([]webhook.Route{{
		Path:     "/stripe",
		Source:   "stripe/acct_1",
		Verifier: verifier,
		Mapping:  webhook.StripeEvent,
		Receiver: webhook.Atomic(db, book, inbox.Options{}),
		Types:    []string{"charge.succeeded", "charge.refunded"},
	}}, webhook.Options{
		DB:      db,
		Log:     slog.Default(),
		Metrics: prometheus.DefaultRegisterer,
	})
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Addr: ":8080", Handler: handler,
		ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
	}
	log.Fatal(server.ListenAndServe())
}
