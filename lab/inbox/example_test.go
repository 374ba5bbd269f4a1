package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/inbox"
)

// A handler hands over what an authenticated sender sent, and answers by kind of error.
func Example() {
	pool, err := pgxpool.New(context.Background(), "postgres://app@db.internal/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	orders := inbox.NewSnapshots(pool, inbox.Options{LockTimeout: 2 * time.Second})

	body := []byte(`{
		"event_id":  "evt_42",
		"object_id": "order_7",
		"revision":  3,
		"snapshot":  {"status": "paid", "total": 1250}
	}`)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	outcome, err := orders.ReceiveBody(ctx, "acme/account_1", body)
	switch {
	case err == nil:
		fmt.Println("200", outcome)
	case errors.Is(err, inbox.ErrInvalid):
		fmt.Println("400")
	case errors.Is(err, inbox.ErrReusedEventID), errors.Is(err, inbox.ErrReusedRevision):
		fmt.Println("409")
	default: // inbox.ErrUnavailable
		fmt.Println("503, Retry-After: 30")
	}
	if err != nil {
		log.Print(err)
	}
}
