package inbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/inbox"
)

// shipOrder is what the events mean here: it works in the transaction that it is given.
func shipOrder(ctx context.Context, tx pgx.Tx, e inbox.Event) error {
	if e.Type != "order.paid" {
		return inbox.ErrIgnored
	}
	var paid struct {
		Order string `json:"order"`
	}
	if err := json.Unmarshal(e.Payload, &paid); err != nil {
		return inbox.Permanent(err)
	}
	tag, err := tx.Exec(ctx, `UPDATE orders SET ship = true WHERE id = $1`, paid.Order)
	if err == nil && tag.RowsAffected() == 0 {
		return errors.New("the order isn't there yet") // tried again later
	}
	e.Changed("shipped " + paid.Order)
	return err
}

// Workers process what the intake accepted, until the process is told to stop.
func ExamplePool() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := pgxpool.New(ctx, "postgres://app@db.internal/shop?pool_max_conns=12")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	worker := inbox.NewWorker(db, shipOrder, inbox.WorkerOptions{Name: "pod 7"})
	pool := inbox.NewPool(worker, 8, inbox.PoolOptions{Report: func(o inbox.Outcome, err error) {
		log.Print(o, " ", err)
	}})
	if err := pool.Run(ctx); err != nil {
		log.Print(err)
	}
}

// A handler answers by what became of the delivery: a duplicate and a rejected event are success.
func ExampleAtomic() {
	db, err := pgxpool.New(context.Background(), "postgres://app@db.internal/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	orders := inbox.NewAtomic(db, shipOrder, inbox.Options{})

	outcome, err := orders.Receive(context.Background(), inbox.Event{
		Source: "acme/account_1", ID: "evt_42", Type: "order.paid",
		Payload: json.RawMessage(`{"order": "order_7"}`),
	})
	switch {
	case err == nil:
		fmt.Println("200", outcome)
	case errors.Is(err, inbox.ErrInvalid):
		fmt.Println("400")
	case errors.Is(err, inbox.ErrReusedEventID):
		fmt.Println("409")
	default: // inbox.ErrUnavailable, also when the change failed
		fmt.Println("503, Retry-After: 30")
	}
}
