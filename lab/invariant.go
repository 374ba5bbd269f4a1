package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// An Invariant is a law in words and a SELECT that must return no rows.
//
// The SELECT sees three tables, whatever the receiver's schema: events and objects as the
// receiver's State gives them, and acked(source, event_id, object_id, revision, snapshot text,
// outcome): the deliveries that were acknowledged. All three hold only what belongs to the run;
// sources(source) lists the run's sources, for a law that looks into another table.
type Invariant struct {
	Name string
	Law  string
	SQL  string
}

const judged = `
WITH sources AS (
	SELECT unnest($1::text[]) AS source
), events AS (
	SELECT * FROM (%s) AS e
	 WHERE source = ANY ($1::text[])
), objects AS (
	SELECT * FROM (%s) AS o
	 WHERE source = ANY ($1::text[])
), acked AS (
	SELECT *
	  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[])
	    AS a(source, event_id, object_id, revision, snapshot, outcome)
)
SELECT to_jsonb(offence)::text
  FROM (%s) AS offence`

// Check returns the offending rows of this law as JSON, none when it holds.
func (v Invariant) Check(
	ctx context.Context, conn *pgx.Conn, state State, sources []string, ops []Operation,
) ([]string, error) {
	columns := make([][]string, 5)
	var revisions []int64
	for _, op := range ops {
		d := op.Delivery
		if !op.Answer.Acked || d.Body != nil {
			continue
		}
		for i, text := range []string{
			d.Source, d.EventID, d.ObjectID, string(d.Snapshot), op.Answer.Outcome,
		} {
			if strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
				return []string{fmt.Sprintf("acknowledged what no text can hold: %q", text)}, nil
			}
			columns[i] = append(columns[i], text)
		}
		revisions = append(revisions, d.Revision)
	}
	rows, err := conn.Query(ctx, fmt.Sprintf(judged, state.Events, state.Objects, v.SQL),
		sources, columns[0], columns[1], columns[2], revisions, columns[3], columns[4])
	if err != nil {
		return nil, fmt.Errorf("lab: law %s: %w", v.Name, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("lab: law %s: %w", v.Name, err)
	}
	return found, nil
}

// judge demands every law of what the run left behind.
func (l *Lab) judge() {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	for _, law := range l.cfg.Laws {
		found, err := law.Check(l.ctx, l.observer.conn, l.cfg.State, l.fresher(),
			l.History.Operations())
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

// Rows of the receiver's state that belong to this run, one line each, sorted.
func (l *Lab) tellRows() {
	const events = `
SELECT format('%%s %%s %%s@%%s %%s', source, event_id, object_id, revision, snapshot)
  FROM (%s) AS e WHERE source = ANY ($1::text[]) ORDER BY 1`
	const objects = `
SELECT format('%%s %%s@%%s %%s', source, object_id, revision, snapshot)
  FROM (%s) AS o WHERE source = ANY ($1::text[]) ORDER BY 1`
	const refusals = `
SELECT format('%%s %%s %%s x%%s', source, left(event_id, 40), reason, deliveries)
  FROM (%s) AS r WHERE source = ANY ($1::text[]) ORDER BY 1`
	l.tellTable("accepted events", fmt.Sprintf(events, l.cfg.State.Events))
	l.tellTable("current objects", fmt.Sprintf(objects, l.cfg.State.Objects))
	if l.cfg.State.Refusals != "" {
		l.tellTable("refusals", fmt.Sprintf(refusals, l.cfg.State.Refusals))
	}
}

func (l *Lab) tellTable(title, sql string) {
	l.observer.mu.Lock()
	defer l.observer.mu.Unlock()
	l.line("%s:", title)
	rows, err := l.observer.conn.Query(l.ctx, sql, l.fresher())
	if err != nil {
		l.blame(VerdictUnknown, "read the %s: %v", title, err)
		return
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.blame(VerdictUnknown, "read the %s: %v", title, err)
	}
	for _, line := range lines {
		l.line("  %.120s", line)
	}
}
