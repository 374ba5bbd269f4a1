package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab/report"
)

//go:embed reconcile_help.txt
var reconcileHelp string

// reconcileBound is what the whole comparison may take.
const reconcileBound = 10 * time.Minute

// reconcileCommand compares a provider's counts with what is stored: 0 where each difference is
// explained, 1 where one isn't, 2 where they could not be compared.
func reconcileCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	path := f.String("csv", "", "")
	database := f.String("database", os.Getenv("DATABASE_URL"), "")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, reconcileHelp)
		return report.ExitHeld
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && *path == "":
		err = errors.New("--csv is missing: name the provider's file")
	case err == nil && *database == "":
		err = errors.New("--database is missing: write a postgres:// URL, or set DATABASE_URL")
	}
	if err != nil {
		fmt.Fprintf(errs, "lab reconcile: %v\n\n%s", err, reconcileHelp)
		return report.ExitUnjudged
	}
	ctx, cancel := context.WithTimeout(ctx, reconcileBound)
	defer cancel()
	differences, err := reconcile(ctx, *path, *database)
	if err != nil {
		fmt.Fprintf(errs, "lab reconcile: %v\n", err)
		return report.ExitUnjudged
	}
	return printDifferences(out, differences)
}

// reconcile gives a line for each day, source and type in which the two sides differ.
func reconcile(ctx context.Context, path, database string) (comparison, error) {
	file, err := os.Open(path)
	if err != nil {
		return comparison{}, fmt.Errorf("open the provider's file: %w", err)
	}
	defer file.Close()
	sent, err := readCounts(path, file)
	if err != nil {
		return comparison{}, err
	}
	stored, err := readStored(ctx, database, sent)
	if err != nil {
		return comparison{}, err
	}
	return compare(sent, stored), nil
}

// stored is what the database holds of the days and sources that a provider counted.
type stored struct {
	known      map[string]bool // sources that ever delivered
	events     map[key]int64
	duplicates map[key]int64
	refused    map[key]int64 // without type
}

// The day after is read too: what was sent before midnight can arrive after it.
const storedDailySQL = `SELECT to_char(day, 'YYYY-MM-DD'), source, type, events, duplicates
FROM operator_daily
WHERE day BETWEEN $1::date AND $2::date + 1
  AND source = ANY ($3)`

const storedRefusalsSQL = `SELECT to_char(day, 'YYYY-MM-DD'), source, conflict + invalid
FROM operator_failure_rate
WHERE day BETWEEN $1::date AND $2::date + 1
  AND source = ANY ($3)`

const knownSourcesSQL = `SELECT s
FROM unnest($1::text[]) AS s
WHERE EXISTS (SELECT FROM webhook_delivery WHERE source = s)
   OR EXISTS (SELECT FROM operator_events WHERE source = s)`

// readStored reads all of it in one snapshot, so that no event stands on one side only because it
// came between two questions.
func readStored(ctx context.Context, database string, sent counts) (stored, error) {
	s := stored{map[string]bool{}, map[key]int64{}, map[key]int64{}, map[key]int64{}}
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return s, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
		var k key
		var n, again int64
		rows, _ := tx.Query(ctx, storedDailySQL, sent.first, sent.last, sent.sources)
		_, err := pgx.ForEachRow(rows, []any{&k.day, &k.source, &k.kind, &n, &again}, func() error {
			s.events[k], s.duplicates[k] = n, again
			return nil
		})
		if err != nil {
			return err
		}
		k.kind = ""
		rows, _ = tx.Query(ctx, storedRefusalsSQL, sent.first, sent.last, sent.sources)
		_, err = pgx.ForEachRow(rows, []any{&k.day, &k.source, &n}, func() error {
			s.refused[k] = n
			return nil
		})
		if err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, knownSourcesSQL, sent.sources)
		_, err = pgx.ForEachRow(rows, []any{&k.source}, func() error {
			s.known[k.source] = true
			return nil
		})
		return err
	})
	if err != nil {
		return s, fmt.Errorf("read operator_daily and operator_failure_rate: %w; "+
			"is schema.sql loaded?", err)
	}
	return s, nil
}
