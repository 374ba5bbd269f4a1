// Command river_rescue is a receiver whose worker is River's: jobs are inserted, taken, completed
// and rescued by the statements of its driver, in the order in which its client and its rescuer
// call them. go.mod pins the last version whose rescue overwrites what was completed meanwhile;
// fixed.mod builds the very same source on the first that does not.
//
// It speaks the protocol of lab.Process. Given the one word "schema" it prints River's.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type request struct {
	ID       int
	Do       string
	Delivery struct {
		Source  string
		EventID string `json:"event_id"`
	}
}

type reply struct {
	ID      int    `json:"id"`
	Outcome string `json:"outcome,omitempty"`
	Acked   bool   `json:"acked,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	run := serve
	if len(os.Args) == 2 && os.Args[1] == "schema" {
		run = printSchema
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func printSchema(context.Context) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		return err
	}
	for _, version := range migrator.AllVersions() {
		fmt.Println("COMMIT;") // a new value of a type is used in the version after it
		fmt.Println(strings.ReplaceAll(version.SQLUp, "/* TEMPLATE: schema */", ""))
	}
	return nil
}

func serve(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		return err
	}
	w := &worker{client: client, sql: riverpgxv5.New(pool).GetExecutor()}
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q request
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := out.Encode(answer(ctx, w, q)); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
	return in.Err()
}

func answer(ctx context.Context, w *worker, q request) reply {
	outcome, err := "", fmt.Errorf("this receiver has no ability to %s", q.Do)
	switch q.Do {
	case "receive":
		outcome, err = w.insert(ctx, event{q.Delivery.Source, q.Delivery.EventID})
	case "claim":
		outcome, err = w.claim(ctx)
	case "complete":
		outcome, err = w.complete(ctx)
	case "recover":
		outcome, err = w.rescue(ctx)
	}
	if err != nil {
		return reply{ID: q.ID, Error: err.Error()}
	}
	return reply{ID: q.ID, Outcome: outcome, Acked: true}
}
