// Command driver_repeats is a receiver that sends its statement once, on drivers that send it again
// by themselves: they take an acknowledgement that was lost for a statement that was never sent.
// go.mod pins such drivers; fixed.mod builds the very same source on a pgx that does not.
//
// It speaks the protocol of lab.Process, and is a module of its own because the lab itself requires
// the fixed driver.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
)

type request struct {
	ID       int
	Do       string
	Delivery struct {
		Source  string
		EventID string `json:"event_id"`
		Type    string
	}
}

type reply struct {
	ID      int    `json:"id"`
	Outcome string `json:"outcome,omitempty"`
	Acked   bool   `json:"acked,omitempty"`
	Error   string `json:"error,omitempty"`
}

// A receiver makes the change that an event asks for. After an error it may be made or not.
type receiver func(ctx context.Context, source, event, note string) error

var receivers = map[string]receiver{
	"pgx_exec":   byExec("pgx"),
	"pq_exec":    byExec("postgres"),
	"pgx_commit": byCommit,
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 || receivers[args[0]] == nil {
		return fmt.Errorf("want pgx_exec, pq_exec or pgx_commit, got %q", args)
	}
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q request
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := out.Encode(answer(ctx, receivers[args[0]], q)); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
	return in.Err()
}

func answer(ctx context.Context, receive receiver, q request) reply {
	if q.Do != "receive" {
		return reply{ID: q.ID, Error: "this receiver can only receive"}
	}
	if err := receive(ctx, q.Delivery.Source, q.Delivery.EventID, q.Delivery.Type); err != nil {
		return reply{ID: q.ID, Error: err.Error()}
	}
	return reply{ID: q.ID, Outcome: "processed", Acked: true}
}
