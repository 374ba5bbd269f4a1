package inbox_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab/lab/inbox"
)

// The application makes each message known together with what it stores of it, the handler hands
// over what the provider sends about it, and support takes back what was wrong.
func ExampleEmails() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://app@db.internal/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	emails := inbox.NewEmails(pool, inbox.Options{})

	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE invoices SET mailed_as = 'msg_7' WHERE id = 42`)
		if err != nil {
			return err
		}
		return inbox.AddMessageTx(ctx, tx, inbox.EmailMessage{
			Source: "mailer/account_1", MessageID: "msg_7", Recipients: []string{"ann@example.org"},
		})
	})
	if err != nil {
		log.Fatal(err)
	}

	outcome, err := emails.Receive(ctx, inbox.EmailEvent{
		Source: "mailer/account_1", EventID: "evt_1",
		MessageID: "msg_7", Recipient: "ann@example.org", Type: "bounced",
	})
	fmt.Println(outcome, err)

	outcome, err = emails.Correct(ctx, inbox.Correction{
		Source: "mailer/account_1", EventID: "support_9", Voids: "evt_1",
		Reason: "their filter answered for a mailbox that exists", Author: "support/kim",
	})
	fmt.Println(outcome, err)
}
