package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// reception is a server ready to run.
type reception struct {
	config  serveConfig
	log     *slog.Logger
	public  http.Handler
	metrics http.Handler
	workers *inbox.Pool // nil without any
}

func newReception(c serveConfig, pool *pgxpool.Pool, log *slog.Logger) (*reception, error) {
	r := &reception{config: c, log: log}
	db := webhook.Acquire(pool, c.acquire)
	if c.workers > 0 {
		worker := inbox.NewWorker(pool, received, inbox.WorkerOptions{Name: "lab serve"})
		r.workers = inbox.NewPool(worker, c.workers, inbox.PoolOptions{Report: r.reportAttempt})
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	var routes []webhook.Route
	for _, each := range c.routes {
		route := each.route
		route.Receiver = r.receiver(each.receiver, db)
		routes = append(routes, route)
	}
	var err error
	r.public, err = webhook.NewHandler(routes, webhook.Options{
		DB: db, Log: log, Metrics: registry, Limits: c.limits,
	})
	return r, err
}

func (r *reception) receiver(name string, db inbox.DB) webhook.Receiver {
	o := inbox.Options{}
	switch name {
	case "snapshots":
		return webhook.Snapshots(db, o)
	case "emails":
		return webhook.Emails(db, o)
	case "atomic":
		return webhook.Atomic(db, received, o)
	}
	return waking{webhook.Intake(db, o), r.workers}
}

// received is the change of this command: the receipt says that the event was processed, and that
// is all. A program of your own puts its business change here.
func received(_ context.Context, _ pgx.Tx, e inbox.Event) error {
	e.Changed("received by lab serve")
	return nil
}

// waking tells workers of this process at once that there is something to do.
type waking struct {
	webhook.Receiver
	workers *inbox.Pool
}

// Receive is [webhook.Receiver]'s.
func (w waking) Receive(ctx context.Context, e webhook.Event) (inbox.Outcome, error) {
	outcome, err := w.Receiver.Receive(ctx, e)
	if outcome == inbox.Accepted && w.workers != nil {
		w.workers.Wake()
	}
	return outcome, err
}

func (r *reception) reportAttempt(outcome inbox.Outcome, err error) {
	if err != nil {
		r.log.Error("attempt", "outcome", outcome, "error", err.Error())
	}
}

// run serves until ctx ends, then finishes what is under way. It stops as well when a server fails.
func (r *reception) run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	servers, err := r.listen(out)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	failures := make([]error, len(servers)+1)
	for i, s := range servers {
		running.Go(func() {
			defer cancel()
			if err := s.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
				failures[i] = fmt.Errorf("serve %s: %w", s.listener.Addr(), err)
			}
		})
	}
	if r.workers != nil {
		running.Go(func() { failures[len(servers)] = r.workers.Run(ctx) })
	}
	<-ctx.Done()
	fmt.Fprintln(out, "stopping: finishing what is under way")
	err = r.shutdown(servers)
	running.Wait()
	return errors.Join(append(failures, err)...)
}

// shutdown takes no more requests and waits for those under way.
func (r *reception) shutdown(servers []server) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.config.shutdown)
	defer cancel()
	var failures []error
	for _, s := range servers {
		if err := s.Shutdown(ctx); err != nil {
			failures = append(failures, fmt.Errorf("stop %s within %v: %w: requests were cut; "+
				"their senders will come again", s.listener.Addr(), r.config.shutdown, err),
				s.Close())
		}
	}
	return errors.Join(failures...)
}

// server is an HTTP server and where it listens.
type server struct {
	*http.Server
	listener net.Listener
}

// listen opens the public address, and that of the metrics if there is one.
func (r *reception) listen(out io.Writer) ([]server, error) {
	public, err := net.Listen("tcp", r.config.listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w: choose another address for listen", err)
	}
	limits := r.config.limits
	servers := []server{{
		&http.Server{
			Handler:           r.public,
			ReadHeaderTimeout: 5 * time.Second,
			IdleTimeout:       2 * time.Minute,
			// Longer than all that a request may take, so that it never cuts an answer off.
			WriteTimeout:   limits.ReadTimeout + limits.WorkTimeout + time.Minute,
			MaxHeaderBytes: 32 << 10,
			ErrorLog:       quietLog(r.log),
		}, newCrowdLimit(public, r.config.connections),
	}}
	fmt.Fprintf(out, "listening on http://%s\n", public.Addr())
	for _, each := range r.config.routes {
		fmt.Fprintf(out, "  POST %s: %s, source %q\n",
			each.route.Path, each.receiver, each.route.Source)
	}
	if r.config.metrics == "" {
		return servers, nil
	}
	private, err := net.Listen("tcp", r.config.metrics)
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("listen: %w: choose another address for metrics", err), public.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", r.metrics)
	fmt.Fprintf(out, "metrics on http://%s/metrics\n", private.Addr())
	return append(servers, server{&http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: quietLog(r.log),
	}, private}), nil
}
