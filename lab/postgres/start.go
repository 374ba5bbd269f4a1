package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// oldest and newest are the major versions that the lab accepts.
const (
	oldest = 14
	newest = 18
)

// Start gives a disposable server of the configured kind. The context bounds the start only. The
// error says what was tried, why it failed and what to do; a server that died holds its log's end.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	thawOrphans()
	handed, err := attach(ctx, cfg)
	if handed != nil || err != nil {
		return handed, err
	}
	cfg = cfg.withDefaults()
	switch {
	case cfg.Mode == "local":
		return startLocal(ctx, cfg)
	case cfg.Mode == "container":
		return startContainer(ctx, cfg)
	case cfg.Mode == "auto":
		return startBest(ctx, cfg)
	case givesDSN(cfg.Mode):
		return startGiven(ctx, cfg)
	}
	return nil, fmt.Errorf("start PostgreSQL: mode %q is unknown; "+
		"use auto, container, local or a postgres:// URL", cfg.Mode)
}

// startBest takes a container where an engine and the image are there or can be had, else local
// binaries, and says why it did not take the first.
func startBest(ctx context.Context, cfg Config) (*Server, error) {
	s, contained := startContainer(ctx, cfg)
	if contained == nil || ctx.Err() != nil {
		return s, contained
	}
	cfg.Progress("falling back to local binaries: " + contained.Error())
	s, err := startLocal(ctx, cfg)
	if errors.Is(err, errNoBinaries) && mayInstall() {
		if err = Install(ctx, cfg.Progress); err == nil {
			s, err = startLocal(ctx, cfg)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w; and without a container: %w", contained, err)
	}
	return s, nil
}

// newServer is a server that was not yet asked anything.
func newServer(cfg Config) *Server {
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	return &Server{
		base:     "postgres",
		profile:  cfg.Profile,
		owner:    newSecret()[:12],
		progress: cfg.Progress,
		reasons:  map[Ability]string{},
		created:  map[string]struct{}{},
	}
}

// inspect asks a running server for its version and refuses those outside 14 to 18. It first
// reads what the server says unasked, because an old one may not understand the questions.
func (s *Server) inspect(ctx context.Context) error {
	return s.administer(ctx, func(conn *pgx.Conn) error {
		s.release, _, _ = strings.Cut(conn.PgConn().ParameterStatus("server_version"), " ")
		if err := checkVersion(majorOf(s.release)*10000, s.release); err != nil {
			return fmt.Errorf("use the server at %s: %w", s.addr, err)
		}
		err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").
			Scan(&s.version)
		if err != nil {
			return fmt.Errorf("ask %s for its version: %w", s.addr, err)
		}
		return nil
	})
}

// majorOf is the leading number of a release such as 15.18 or 19beta1, 0 when there is none.
func majorOf(release string) int {
	end := strings.IndexFunc(release, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(release)
	}
	major, _ := strconv.Atoi(release[:end])
	return major
}

// checkVersion refuses a server_version_num outside the accepted majors, by its release's name.
func checkVersion(number int, release string) error {
	if major := number / 10000; major < oldest || major > newest {
		return fmt.Errorf("PostgreSQL %s is refused: the lab accepts %d to %d",
			release, oldest, newest)
	}
	return nil
}

// localURL is the superuser's URL on a server that the lab started.
func localURL(addr, password string) *url.URL {
	return &url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", password),
		Host: addr, RawQuery: "sslmode=disable",
	}
}
