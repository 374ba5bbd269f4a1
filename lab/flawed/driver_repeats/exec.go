package main

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"sync"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
)

// byExec makes the change in one statement that is its own transaction. Nothing here says "again":
// database/sql does, when the driver tells it that the connection was bad before it sent anything.
func byExec(driver string) receiver {
	database := sync.OnceValues(func() (*sql.DB, error) {
		return sql.Open(driver, os.Getenv("DATABASE_URL"))
	})
	return func(ctx context.Context, source, event, note string) error {
		db, err := database()
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, "INSERT INTO effect (source, event_id, note) VALUES ("+
			quoted(source)+", "+quoted(event)+", "+quoted(note)+")")
		return err
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
