package inbox_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab/inbox"
)

// One message at a time: into the outbox, and out of it beside so many that are due later.
func BenchmarkOutbox(b *testing.B) {
	b.Run("enqueue", func(b *testing.B) {
		d := newDatabase(b)
		messages := 0
		for b.Loop() {
			messages++
			d.enqueue(b, charge(fmt.Sprint("n", messages)))
		}
	})
	for _, backlog := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint("dispatch with a backlog of ", backlog), func(b *testing.B) {
			d := newDatabase(b)
			d.fillOutbox(b, backlog)
			dispatcher := inbox.NewDispatcher(d.pool, &downstream{}, inbox.WorkerOptions{})
			sent := 0
			for b.Loop() {
				if sent++; sent >= backlog {
					b.Fatal("the backlog is used up: give a shorter -benchtime")
				}
				dispatches(b, dispatcher, inbox.Sent)
			}
		})
	}
	b.Run("a transaction, for comparison", func(b *testing.B) {
		d := newDatabase(b)
		for b.Loop() {
			err := pgx.BeginFunc(bounded(b), d.pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(bounded(b), `SELECT 1`)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
