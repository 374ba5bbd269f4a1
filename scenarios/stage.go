package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"webhooklab"
	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

// Options say what differs from a suite's reference. The zero value is the reference.
type Options struct {
	Receiver lab.NewReceiver
	Schema   string    // SQL that makes the receiver's tables; "" is schema.sql
	State    lab.State // how the judge reads them
	Alter    string    // SQL on the clone afterwards: a guard taken away
	Seed     uint64
	Bound    time.Duration // of one step, as lab.Config has it
	Rows     bool          // the trace of each run has the rows after each commit
	Alone    bool          // no more labs are opened: others keep the machine busy
}

// A Stage is where scenarios are played: a disposable server, and a second, durable one for those
// that kill it, started when the first of them comes.
type Stage struct {
	say     func(string)
	servers map[postgres.Profile]*postgres.Server
}

// OpenStage starts the server that LAB_POSTGRES asks for; say is told what is waited for.
func OpenStage(ctx context.Context, say func(string)) (*Stage, error) {
	s := &Stage{say: say, servers: map[postgres.Profile]*postgres.Server{}}
	server, err := s.server(ctx, postgres.Fast)
	if err != nil {
		return nil, err
	}
	say(server.Describe())
	return s, nil
}

func (s *Stage) server(ctx context.Context, p postgres.Profile) (*postgres.Server, error) {
	if server := s.servers[p]; server != nil {
		return server, nil
	}
	server, err := postgres.Start(ctx, postgres.Config{
		Profile: p, LogDir: os.Getenv("LAB_LOGS"), Progress: s.say,
	})
	if err != nil {
		return nil, fmt.Errorf("scenarios: start a server: %w", err)
	}
	s.servers[p] = server
	return server, nil
}

// Server is the fast server, for what it is called and can do.
func (s *Stage) Server() *postgres.Server { return s.servers[postgres.Fast] }

// Close stops the servers.
func (s *Stage) Close(ctx context.Context) error {
	for _, server := range s.servers {
		if err := server.Stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A Bench is one lab on a clone of its own.
type Bench struct {
	*lab.Lab
	Database *postgres.Database
	// Tables is the SQL that makes the receiver's tables, without what only watches them.
	Tables string
	server *postgres.Server
}

// Bench makes a clone on a server of this profile and opens a lab on it.
func (s *Stage) Bench(
	ctx context.Context, p postgres.Profile, suite Suite, o Options,
) (*Bench, error) {
	own := o.Schema != ""
	if own {
		suite.Audit, suite.Audited = "", nil
	}
	o = o.or(suite)
	server, err := s.server(ctx, p)
	if err != nil {
		return nil, err
	}
	template, err := server.Template(ctx, o.Schema+suite.Effects+suite.Audit)
	if err != nil {
		return nil, fmt.Errorf("scenarios: load the schema: %w", err)
	}
	b := &Bench{Tables: o.Schema + suite.Effects + o.Alter, server: server}
	config := lab.Config{
		Server: server, New: o.Receiver, State: o.State, Own: own,
		Laws: slices.Concat(suite.Laws, suite.Audited), Reset: suite.Reset, Seed: o.Seed,
		Bound: o.Bound, Rows: o.Rows,
	}
	b.Lab, b.Database, err = onClone(ctx, template, o, config)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// onClone opens a lab on a clone of its own, which can do so again.
func onClone(
	ctx context.Context, t *postgres.Template, o Options, c lab.Config,
) (*lab.Lab, *postgres.Database, error) {
	database, err := t.Clone(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("scenarios: clone the template: %w", err)
	}
	if err := alter(ctx, database, o.Alter); err != nil {
		return nil, nil, errors.Join(err, database.Drop(ctx))
	}
	c.DSN = database.DSN()
	if !o.Alone {
		c.Twin = func(ctx context.Context) (*lab.Lab, func(context.Context) error, error) {
			twin, its, err := onClone(ctx, t, o, c)
			if err != nil {
				return nil, nil, err
			}
			return twin, its.Drop, nil
		}
	}
	l, err := lab.Open(ctx, c)
	if err != nil {
		return nil, nil, errors.Join(err, database.Drop(ctx))
	}
	return l, database, nil
}

// alter runs SQL on a clone that nobody uses yet.
func alter(ctx context.Context, d *postgres.Database, sql string) error {
	if sql == "" {
		return nil
	}
	conn, err := connect(ctx, d.DSN())
	if err == nil {
		_, err = conn.Exec(ctx, sql)
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		return fmt.Errorf("scenarios: alter the clone: %w", err)
	}
	return nil
}

// connect opens a connection past any wire.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := postgres.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config)
}

func (o Options) or(suite Suite) Options {
	if o.Receiver == nil {
		o.Receiver = suite.Receiver
	}
	if o.Schema == "" {
		o.Schema = webhooklab.Schema
	}
	if o.State == nil {
		o.State = suite.State
	}
	return o
}

// Close ends the lab and drops its clone.
func (b *Bench) Close(ctx context.Context) error {
	b.Lab.Close()
	return b.Database.Drop(ctx)
}

// Profile is what a scenario asks of its server: one that is killed must keep what it promised.
func Profile(sc lab.Scenario) postgres.Profile {
	for _, need := range sc.Needs {
		if need == postgres.Crash {
			return postgres.Durable
		}
	}
	return postgres.Fast
}
