package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Database is a clone that belongs to one test or worker.
type Database struct {
	server *Server
	name   string
}

// Name is the database's name, under the lab's prefix.
func (d *Database) Name() string { return d.name }

// DSN is the database's postgres:// URL, past any wire.
func (d *Database) DSN() string { return d.server.DSN(d.name) }

// Drop removes the database together with whatever is still connected to it. A backend stopped by
// SIGSTOP cannot be ended and makes Drop fail after 5 s: continue it first.
func (d *Database) Drop(ctx context.Context) error {
	return d.server.dropDatabase(ctx, d.name)
}

// dropDatabase drops a database or a template, which has to stop being one first.
func (s *Server) dropDatabase(ctx context.Context, name string) error {
	err := s.administer(ctx, func(conn *pgx.Conn) error {
		if strings.Contains(name, "_template_") {
			_, err := conn.Exec(ctx, "ALTER DATABASE "+quote(name)+" IS_TEMPLATE false")
			if err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
		return err
	})
	if err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	s.forget(name)
	return nil
}

// remember notes a database that this process created, for Stop to drop.
func (s *Server) remember(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created[name] = struct{}{}
}

func (s *Server) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.created, name)
}

// dropCreated drops the databases that this process created, and reports all failures.
func (s *Server) dropCreated(ctx context.Context) error {
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.created))
	s.mu.Unlock()
	var failures []error
	for _, name := range names {
		failures = append(failures, s.dropDatabase(ctx, name))
	}
	return errors.Join(failures...)
}

// describeSQL adds the line of the SQL text where PostgreSQL found the fault.
func describeSQL(err error, sql string) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Position < 1 {
		return err
	}
	before := []rune(sql)[:min(int(pg.Position)-1, len([]rune(sql)))]
	return fmt.Errorf("line %d: %w", strings.Count(string(before), "\n")+1, err)
}
