package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// keptComment marks a database on a given server that LAB_KEEP=1 keeps.
const keptComment = "webhooklab: kept"

// lockKey is the advisory lock that says that an owner lives: its name is 12 hexadecimal digits.
func lockKey(owner string) int64 {
	key, err := strconv.ParseInt(owner, 16, 64)
	if err != nil {
		return -1 // no owner of ours: nobody ever holds this key
	}
	return key
}

// abandonedSQL lists the databases under our prefix that nobody is connected to and whose owner
// holds no lock, in whatever database it holds it. $1 is the prefix as a pattern.
const abandonedSQL = `
SELECT d.datname, coalesce(shobj_description(d.oid, 'pg_database'), '')
FROM pg_database d
WHERE d.datname LIKE $1
  AND pg_has_role(d.datdba, 'MEMBER')
  AND NOT EXISTS (
    SELECT FROM pg_stat_activity a
    WHERE a.datid = d.oid)
  AND NOT EXISTS (
    SELECT FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1
      AND l.classid::bigint << 32 | l.objid::bigint
        = ('x' || lpad(split_part(d.datname, '_', 2), 16, '0'))::bit(64)::bigint)
ORDER BY d.datname`

// sweep drops what dead runs left on a given server. A lock proves life; without one, an owner
// on this machine must have ended as well. Faults never stop a start.
func (g *given) sweep(ctx context.Context) {
	s := g.server
	rows, err := g.alive.Query(ctx, abandonedSQL, likePrefix(prefix))
	if err != nil {
		s.progress("look for databases of dead runs: " + err.Error())
		return
	}
	type abandoned struct{ Name, Comment string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[abandoned])
	if err != nil {
		s.progress("look for databases of dead runs: " + err.Error())
		return
	}
	for _, db := range found {
		of, known := parseOwner(strings.TrimPrefix(db.Comment, ownerComment))
		elsewhere := known && of.host != self().host
		if db.Comment == keptComment || known && !elsewhere && !of.gone() {
			continue
		}
		s.progress("dropping the database that a dead run left: " + db.Name)
		if err := s.dropDatabase(ctx, db.Name); err != nil {
			s.progress(err.Error())
		}
	}
}

// likePrefix is a LIKE pattern for names that begin so.
func likePrefix(start string) string { return strings.ReplaceAll(start, "_", `\_`) + "%" }

// ownDatabases are the databases of this run, whoever of its processes created them.
func (s *Server) ownDatabases(ctx context.Context) (names []string, err error) {
	err = s.administer(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT datname FROM pg_database WHERE datname LIKE $1",
			likePrefix(prefix+s.owner+"_"))
		if err != nil {
			return fmt.Errorf("list the databases of this run: %w", err)
		}
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return names, err
}

// keepDatabase exempts a database from sweeps and says how to reach and remove it.
func (s *Server) keepDatabase(ctx context.Context, name string) error {
	return s.administer(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "COMMENT ON DATABASE "+quote(name)+" IS '"+keptComment+"'")
		if err != nil {
			return fmt.Errorf("keep database %s: %w", name, err)
		}
		s.progress("kept (LAB_KEEP=1): " + s.DSN(name) + "\nremove it: DROP DATABASE " +
			quote(name))
		return nil
	})
}

// ownerComment begins the comment that names a database's creator.
const ownerComment = "webhooklab: "

// furnish gives a database on a given server what the lab's own servers have in their settings,
// as far as the role may, and the name of its creator.
func (s *Server) furnish(ctx context.Context, conn *pgx.Conn, name string) error {
	if s.kind != "dsn" {
		return nil
	}
	alter := "ALTER DATABASE " + quote(name) + " SET "
	statements := []string{
		"COMMENT ON DATABASE " + quote(name) + " IS '" + ownerComment + self().String() + "'",
		alter + "timezone = 'UTC'",
		alter + "jit = off",
	}
	if s.Can(DeadlockTimeout) == nil {
		statements = append(statements, alter+"deadlock_timeout = '20ms'")
	}
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("furnish database %s: %w", name, err)
		}
	}
	return nil
}
