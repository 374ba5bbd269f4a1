package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// An Invariant is a law in words and a SELECT that must return no rows.
//
// The SELECT sees, whatever the receiver's schema, the tables of its State and
// acked(source, event_id, object_id, revision, snapshot text, outcome): the deliveries that were
// acknowledged. All hold only what belongs to the run; sources(source) lists the run's sources, for
// a law that looks into another table.
type Invariant struct {
	Name string
	Law  string
	SQL  string
}

const given = `
WITH sources AS (
	SELECT unnest($1::text[]) AS source
), %sacked AS (
	SELECT *
	  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[])
	    AS a(source, event_id, object_id, revision, snapshot, outcome)
)
`

const shown = `%s AS (
	SELECT * FROM (%s) AS shown
	 WHERE source = ANY ($1::text[])
), `

// ground is what the SQL of laws stands on.
func ground(state State) string {
	var tables strings.Builder
	for _, t := range state {
		fmt.Fprintf(&tables, shown, t.Name, t.SQL)
	}
	return fmt.Sprintf(given, tables.String())
}

// Check returns the offending rows of this law as JSON, none when it holds.
func (v Invariant) Check(
	ctx context.Context, conn *pgx.Conn, state State, sources []string, ops []Operation,
) ([]string, error) {
	acks, unstorable := acked(ops)
	if unstorable != "" {
		return []string{unstorable}, nil
	}
	rows, err := conn.Query(ctx, ground(state)+"SELECT to_jsonb(offence)::text FROM ("+v.SQL+
		") AS offence", acks.args(sources)...)
	if err != nil {
		return nil, fmt.Errorf("lab: law %s: %w", v.Name, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("lab: law %s: %w", v.Name, err)
	}
	return found, nil
}

// suspects are the laws that may be broken: none, as a rule, which one question tells. If any law is
// broken, or the question can't be asked, all are suspects, and each must tell by itself.
func (l *Lab) suspects(ctx context.Context, sources []string, ops []Operation) []Invariant {
	laws := l.cfg.Laws
	acks, unstorable := acked(ops)
	if len(laws) == 0 || unstorable != "" {
		return laws
	}
	var broken bool
	err := l.observer.conn.QueryRow(ctx, ground(l.cfg.State)+"SELECT "+anyOf(laws),
		acks.args(sources)...).Scan(&broken)
	if err == nil && !broken {
		return nil
	}
	return laws
}

// anyOf is true where one of the laws is broken.
func anyOf(laws []Invariant) string {
	exists := make([]string, len(laws))
	for i, law := range laws {
		exists[i] = "EXISTS (" + law.SQL + ")"
	}
	return strings.Join(exists, " OR ")
}

// A remnant is one row that runs have left behind, as JSON.
type remnant struct{ table, source, row string }

// remains are the suspects and the rows that the receiver shows, in one question if it can be asked:
// to begin three costs more than to answer them.
func (l *Lab) remains(
	ctx context.Context, sources []string, ops []Operation,
) ([]Invariant, []remnant, error) {
	acks, unstorable := acked(ops)
	if len(l.cfg.Laws) > 0 && unstorable == "" {
		found, err := l.remnants(ctx, ground(l.cfg.State)+l.remainsSQL(), acks.args(sources)...)
		shown := slices.DeleteFunc(found, func(r remnant) bool { return r.table == "" })
		switch {
		case err != nil: // whoever is to blame says so below
		case len(shown) < len(found):
			return l.cfg.Laws, shown, nil
		default:
			return nil, shown, nil
		}
	}
	shown, err := l.shown(ctx, sources)
	return l.cfg.Laws, shown, err
}

// shown are the rows that the receiver shows, asked for table by table.
func (l *Lab) shown(ctx context.Context, sources []string) (all []remnant, err error) {
	for _, t := range l.cfg.State {
		found, err := l.remnants(ctx, "SELECT "+remnantOf(t)+" FROM ("+t.SQL+
			") AS t WHERE source = ANY ($1::text[])", sources)
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", t.Name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// remainsSQL gives all rows, and one of no table if a law is broken.
func (l *Lab) remainsSQL() string {
	var q strings.Builder
	for _, t := range l.cfg.State {
		fmt.Fprintf(&q, "SELECT %s FROM %s AS t UNION ALL ", remnantOf(t), t.Name)
	}
	return q.String() + "SELECT '', '', '' WHERE " + anyOf(l.cfg.Laws)
}

func remnantOf(t Table) string {
	name := strings.ReplaceAll(t.Name, "'", "''")
	return fmt.Sprintf("'%s', source::text, row_to_json(t)::text", name)
}

func (l *Lab) remnants(ctx context.Context, sql string, args ...any) ([]remnant, error) {
	rows, err := l.observer.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (one remnant, err error) {
		err = r.Scan(&one.table, &one.source, &one.row)
		return one, err
	})
}

// columns are those of the table acked.
type columns struct {
	source, event, object, snapshot, outcome []string
	revision                                 []int64
}

func (c columns) args(sources []string) []any {
	return []any{sources, c.source, c.event, c.object, c.revision, c.snapshot, c.outcome}
}

// acked turns the acknowledged deliveries into columns. An acknowledged text that PostgreSQL can't
// even be asked about is an offence of every law.
func acked(ops []Operation) (c columns, unstorable string) {
	for _, op := range ops {
		d := op.Delivery
		if !op.Answer.Acked || d.Body != nil {
			continue
		}
		for _, text := range []string{d.Source, d.EventID, d.ObjectID, string(d.Snapshot)} {
			if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
				return c, fmt.Sprintf("acknowledged what no text can hold: %q", text)
			}
		}
		c.source = append(c.source, d.Source)
		c.event = append(c.event, d.EventID)
		c.object = append(c.object, d.ObjectID)
		c.revision = append(c.revision, d.Revision)
		c.snapshot = append(c.snapshot, string(d.Snapshot))
		c.outcome = append(c.outcome, op.Answer.Outcome)
	}
	return c, ""
}

// judge demands every law of what the run left behind.
func (l *Lab) judge() {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	sources, ops := l.fresher(), l.History.Operations()
	for _, law := range l.suspects(l.ctx, sources, ops) {
		found, err := law.Check(l.ctx, l.observer.conn, l.cfg.State, sources, ops)
		switch {
		case err != nil:
			l.blame(VerdictUnknown, "%v", err)
		case len(found) > 0:
			l.offences = append(l.offences, Offence{
				Verdict: VerdictInvalid,
				Law:     law.Law,
				Text: l.plain(fmt.Sprintf("law %s is broken by %d row(s), the first: %s",
					law.Name, len(found), found[0])),
			})
		}
	}
}

func (l *Lab) fresher() []string {
	names := []string{}
	for fresh := range l.sources {
		names = append(names, fresh)
	}
	return names
}

// maxRows is how many rows of a table a transcript shows.
const maxRows = 12

// tellRows adds what the receiver shows of this run to the transcript, a line a row, sorted.
func (l *Lab) tellRows() {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	for _, t := range l.cfg.State {
		lines, err := shownRows(l.ctx, l.observer.conn, t, l.fresher())
		if err != nil {
			l.blame(VerdictUnknown, "read the %s: %v", t.Name, err)
			return
		}
		l.line("%s: %d", t.Name, len(lines))
		for _, line := range lines[:min(len(lines), maxRows)] {
			l.line("  %s", line)
		}
		if len(lines) > maxRows {
			l.line("  ...")
		}
	}
}
