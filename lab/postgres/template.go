package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Template is a database that holds a schema and is only ever copied.
type Template struct {
	server *Server
	name   string
	short  string // the schema's hash, in the names of its clones
}

// Template gives the template database of a schema: SQL text for an empty database. It is built
// once per server and schema, whoever asks, also when several processes ask at once; so it belongs
// to the server's owner, whoever built it.
func (s *Server) Template(ctx context.Context, schema string) (*Template, error) {
	sum := sha256.Sum256([]byte(schema))
	short := fmt.Sprintf("%x", sum[:4])
	t := &Template{server: s, short: short, name: prefix + s.owner + "_template_" + short}
	return t, s.administer(ctx, func(conn *pgx.Conn) error {
		// The lock ends with the connection, so a builder that dies blocks nobody.
		key := int64(binary.BigEndian.Uint64(sum[:8]))
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			return fmt.Errorf("wait for the template of schema %s: %w", short, err)
		}
		return t.build(ctx, conn, schema)
	})
}

// build makes the template unless a finished one is there. An unfinished one, whose builder died,
// is not yet marked as a template and is made again.
func (t *Template) build(ctx context.Context, conn *pgx.Conn, schema string) error {
	var finished bool
	err := conn.QueryRow(ctx, "SELECT datistemplate FROM pg_database WHERE datname = $1",
		t.name).Scan(&finished)
	switch {
	case err == nil && finished:
		return nil
	case err == nil:
		_, err = conn.Exec(ctx, "DROP DATABASE "+quote(t.name)+" WITH (FORCE)")
	case errors.Is(err, pgx.ErrNoRows):
		err = nil
	}
	if err == nil {
		_, err = conn.Exec(ctx, "CREATE DATABASE "+quote(t.name)+t.server.emptyDatabase())
	}
	if err == nil {
		err = t.server.furnish(ctx, conn, t.name)
	}
	if err != nil {
		return fmt.Errorf("create the template of schema %s: %w", t.short, err)
	}
	if err := t.load(ctx, schema); err != nil {
		return err
	}
	// A copy fails while somebody is connected to the original: from here on nobody can be.
	_, err = conn.Exec(ctx, "ALTER DATABASE "+quote(t.name)+
		" WITH ALLOW_CONNECTIONS false IS_TEMPLATE true")
	if err != nil {
		return fmt.Errorf("close the template of schema %s: %w", t.short, err)
	}
	return nil
}

// load runs the schema in the template.
func (t *Template) load(ctx context.Context, schema string) error {
	conn, err := t.server.connect(ctx, t.name)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, schema); err != nil {
		return fmt.Errorf("load the schema: %w", describeSQL(err, schema))
	}
	return nil
}

// emptyDatabase is how a database starts that must be alike on every server.
func (s *Server) emptyDatabase() string {
	clause := " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
	if s.version >= 150000 {
		clause += " LOCALE_PROVIDER libc"
	}
	return clause
}

// Clone makes a database of its own, a copy of the template.
func (t *Template) Clone(ctx context.Context) (*Database, error) {
	s := t.server
	name := prefix + s.owner + "_" + t.short + "_" + newSecret()[:10]
	err := s.administer(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(t.name))
		if err != nil {
			return err
		}
		s.remember(name)
		return s.furnish(ctx, conn, name)
	})
	if err != nil {
		return nil, fmt.Errorf("clone the template of schema %s: %w", t.short, err)
	}
	return &Database{server: s, name: name}, nil
}

// quote makes an identifier safe to stand in SQL.
func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
