package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"webhooklab"
	"webhooklab/lab/postgres"
	"webhooklab/lab/report"
)

//go:embed serve_help.txt
var serveHelp string

// serveCommand receives webhooks until ctx ends: 0 after a clean stop, 2 where it could not start,
// go on or stop.
func serveCommand(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	config := f.String("config", "", "")
	disposable := f.Bool("disposable", false, "")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, serveHelp)
		return report.ExitHeld
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && *config == "":
		err = errors.New("--config is missing: name a file such as " +
			"lab/cmd/lab/testdata/serve.yaml")
	}
	if err != nil {
		fmt.Fprintf(errs, "lab serve: %v\n\n%s", err, serveHelp)
		return report.ExitUnjudged
	}
	if err := serve(ctx, *config, *disposable, out, errs); err != nil {
		fmt.Fprintf(errs, "lab serve: %v\n", err)
		return report.ExitUnjudged
	}
	return report.ExitHeld
}

// serve runs the server of one configuration. What it says of its own goes to out, a line of JSON
// for each delivery to errs.
func serve(ctx context.Context, path string, disposable bool, out, errs io.Writer) (err error) {
	c, err := readServeConfig(path, disposable)
	if err != nil {
		return err
	}
	if disposable {
		database, stop, err := disposableDatabase(ctx, out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		c.database = database
	}
	pool, err := openPool(ctx, c)
	if err != nil {
		return err
	}
	defer pool.Close()
	r, err := newReception(c, pool, slog.New(slog.NewJSONHandler(errs, nil)))
	if err != nil {
		return err
	}
	return r.run(ctx, out)
}

// disposableDatabase starts a server with the lab's tables that is gone when stop returns.
func disposableDatabase(
	ctx context.Context, out io.Writer,
) (dsn string, stop func() error, err error) {
	server, err := postgres.Start(ctx, postgres.Config{
		Progress: func(line string) { fmt.Fprintln(out, line) },
	})
	if err != nil {
		return "", nil, err
	}
	stop = func() error { return server.Stop(context.WithoutCancel(ctx)) }
	template, err := server.Template(ctx, webhooklab.Schema)
	var database *postgres.Database
	if err == nil {
		database, err = template.Clone(ctx)
	}
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	fmt.Fprintf(out, "database, gone when this ends: %s (%s)\n", database.DSN(), server.Describe())
	return database.DSN(), stop, nil
}

const tablesSQL = `SELECT string_agg(name, ', ')
FROM unnest(ARRAY['webhook_inbox', 'object_state', 'webhook_refusal', 'webhook_delivery',
    'webhook_receipt', 'email_event', 'email_status']) AS name
WHERE to_regclass(name) IS NULL`

// openPool gives connections to a database that was found to answer and to hold the tables.
func openPool(ctx context.Context, c serveConfig) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(c.database)
	if err != nil {
		return nil, errors.New("read the database's URL: it is not of the form " +
			"postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	config.MaxConns = int32(c.pool)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	var missing *string
	if err := pool.QueryRow(ctx, tablesSQL).Scan(&missing); err != nil {
		pool.Close()
		return nil, fmt.Errorf("ask the database for its tables: %w", err)
	}
	if missing != nil {
		pool.Close()
		return nil, fmt.Errorf("the database has no table %s: load schema.sql into it once, "+
			"as psql -f does", *missing)
	}
	return pool, nil
}
