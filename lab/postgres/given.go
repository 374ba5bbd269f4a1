package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

// given is a server that its user runs and calls disposable. The lab creates databases under its
// prefix there, drops them, and touches nothing else.
type given struct {
	server *Server
	alive  *pgx.Conn // holds the owner's lock for as long as this process lives
}

// startGiven attaches to the server of a postgres:// URL after its user has said LAB_DISPOSABLE=1.
func startGiven(ctx context.Context, cfg Config) (*Server, error) {
	s := newServer(cfg)
	var err error
	if s.url, s.base, err = givenURL(cfg.Mode); err != nil {
		return nil, err
	}
	s.addr, s.kind = s.url.Host, "dsn"
	if os.Getenv("LAB_DISPOSABLE") != "1" {
		return nil, fmt.Errorf("use the server at %s: the lab creates and drops databases there, "+
			"named %s…, and needs your word that this is fine: set LAB_DISPOSABLE=1",
			s.addr, prefix)
	}
	s.origin = "given server " + s.addr
	s.readLog = func() (string, error) {
		return "", fmt.Errorf("not run: the log of the given server %s is not ours to read", s.addr)
	}
	if err := s.inspect(ctx); err != nil {
		return nil, err
	}
	g := &given{server: s}
	s.engine = g
	if err := g.claim(ctx); err != nil {
		return nil, err
	}
	g.sweep(ctx)
	return s, nil
}

// givenURL is the URL of any database on the server, and the database that it named. Host and
// port stand where everybody looks for them.
func givenURL(dsn string) (*url.URL, string, error) {
	u, err := checkedURL(dsn)
	if err != nil {
		return nil, "", err
	}
	conf, err := ParseConfig(dsn)
	if err != nil {
		return nil, "", err
	}
	if strings.HasPrefix(conf.Host, "/") || len(conf.Fallbacks) > 0 {
		return nil, "", fmt.Errorf("use the server at %s: the wire needs one host and its "+
			"TCP port", conf.Host)
	}
	query := u.Query()
	for name := range query {
		spoken := name == "host" || name == "port" || name == "user" || name == "password" ||
			name == "dbname" || name == "database" || strings.HasPrefix(name, "pool_")
		if spoken {
			query.Del(name)
		}
	}
	query.Set("sslmode", "disable")
	return &url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(conf.User, conf.Password),
		Host:     net.JoinHostPort(conf.Host, fmt.Sprint(conf.Port)),
		RawQuery: query.Encode(),
	}, firstNonEmpty(conf.Database, "postgres"), nil
}

// claim opens the connection whose lock says that this process lives, and learns what the role
// may do.
func (g *given) claim(ctx context.Context) error {
	conn, err := g.server.connect(ctx, g.server.base)
	if err != nil {
		return err
	}
	if err = g.learn(ctx, conn); err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockKey(g.server.owner))
	}
	if err != nil {
		return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	g.alive = conn
	return nil
}

// learn asks what the role may do. Without the right to create databases nothing can be done.
func (g *given) learn(ctx context.Context, conn *pgx.Conn) error {
	var role string
	var creates, super, standby bool
	err := conn.QueryRow(ctx, `
		SELECT rolname, rolcreatedb OR rolsuper, rolsuper, pg_is_in_recovery()
		FROM pg_roles
		WHERE rolname = current_user`).Scan(&role, &creates, &super, &standby)
	if err != nil {
		return fmt.Errorf("ask %s for the rights of our role: %w", g.server.addr, err)
	}
	switch {
	case standby:
		return fmt.Errorf("use the server at %s: it is a standby and takes no writes; "+
			"give its primary", g.server.addr)
	case !creates:
		return fmt.Errorf("use the server at %s: role %s may not create databases; "+
			"as a superuser there: ALTER ROLE %s CREATEDB", g.server.addr, role, quote(role))
	}
	const outside = "the server was given by URL, and the lab "
	reasons := g.server.reasons
	reasons[Crash] = outside + "crashes only what it started"
	reasons[Signal] = outside + "stops backends only of servers that it started"
	if !super {
		reasons[Superuser] = "role " + role + " is no superuser"
	}
	if !super && !maySetDeadlockTimeout(ctx, conn, g.server.version) {
		reasons[DeadlockTimeout] = "role " + role + " may not set deadlock_timeout; from " +
			"PostgreSQL 15 on a superuser can GRANT SET ON PARAMETER deadlock_timeout TO " +
			quote(role)
	}
	return nil
}

// maySetDeadlockTimeout asks for a grant that exists from PostgreSQL 15 on.
func maySetDeadlockTimeout(ctx context.Context, conn *pgx.Conn, version int) bool {
	var may bool
	const ask = "SELECT has_parameter_privilege('deadlock_timeout', 'SET')"
	return version >= 150000 && conn.QueryRow(ctx, ask).Scan(&may) == nil && may
}

func (g *given) kill(context.Context) error    { return g.server.Can(Crash) }
func (g *given) restart(context.Context) error { return g.server.Can(Crash) }

// stop drops every database of this run, also those that child processes left, or keeps and
// marks them.
func (g *given) stop(ctx context.Context) error {
	if g.alive == nil {
		return nil
	}
	names, err := g.server.ownDatabases(ctx)
	for _, name := range names {
		if keepRequested() {
			err = errors.Join(err, g.server.keepDatabase(ctx, name))
		} else {
			err = errors.Join(err, g.server.dropDatabase(ctx, name))
		}
	}
	err = errors.Join(err, g.alive.Close(context.WithoutCancel(ctx)))
	g.alive = nil
	return err
}
