package properties

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"webhooklab/lab"
)

// EmailSet is what has reached a receiver of email events: a set, so it can't know an order. The
// zero value is empty.
type EmailSet struct {
	events map[string]lab.Delivery
	voids  map[string]string // by a correction's id
	added  map[string]bool   // messages with their recipients, as deliveries name them
}

// Event adds an event, Correction a correction of the event that it voids, and Message makes a
// message to a recipient known. Repetitions change nothing. An object is "message recipient".
func (s *EmailSet) Event(d lab.Delivery) {
	if s.events == nil {
		s.events = map[string]lab.Delivery{}
	}
	s.events[d.EventID] = d
}

func (s *EmailSet) Correction(id, voids string) {
	if s.voids == nil {
		s.voids = map[string]string{}
	}
	s.voids[id] = voids
}

func (s *EmailSet) Message(object string) {
	if s.added == nil {
		s.added = map[string]bool{}
	}
	s.added[object] = true
}

// emailRanks are the contract's, spelt out once more.
var emailRanks = map[string]int{
	"accepted": 1, "queued": 1, "sent": 1, "processed": 1,
	"deferred": 2, "delayed": 2, "soft_bounce": 2, "soft_bounced": 2,
	"delivered": 3,
	"bounced":   4, "hard_bounce": 4, "hard_bounced": 4, "dropped": 4, "failed": 4,
	"complained": 5,
}

// String is what the set comes to: each known recipient's rank and flags, and every id that the
// history has to hold.
func (s *EmailSet) String() string {
	voided := map[string]bool{}
	lines := []string{}
	for id, of := range s.voids {
		voided[of] = true
		lines = append(lines, "history "+id)
	}
	for object := range s.added {
		rank, flags := 0, map[string]bool{}
		for id, e := range s.events {
			if e.ObjectID == object && !voided[id] {
				rank = max(rank, emailRanks[e.Type])
				flags[e.Type] = true
			}
		}
		lines = append(lines, emailLine(object, rank,
			flags["opened"], flags["clicked"], flags["unsubscribed"]))
	}
	for id := range s.events {
		lines = append(lines, "history "+id)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func emailLine(object string, rank int, opened, clicked, unsubscribed bool) string {
	return fmt.Sprintf("%s: rank %d, opened %t, clicked %t, unsubscribed %t",
		object, rank, opened, clicked, unsubscribed)
}

// ReadEmails writes what a receiver's State shows of a source as [EmailSet.String] does.
func ReadEmails(
	ctx context.Context, conn *pgx.Conn, state lab.State, source string,
) (string, error) {
	rows, err := conn.Query(ctx, fmt.Sprintf(`
SELECT message_id || ' ' || recipient, rank, opened, clicked, unsubscribed
  FROM (%s) AS s
 WHERE source = $1`, state.SQL("statuses")), source)
	lines := []string{}
	var object string
	var rank int
	var opened, clicked, unsubscribed bool
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&object, &rank, &opened, &clicked, &unsubscribed},
			func() error {
				lines = append(lines, emailLine(object, rank, opened, clicked, unsubscribed))
				return nil
			})
	}
	if err == nil {
		rows, err = conn.Query(ctx, fmt.Sprintf(
			`SELECT 'history ' || event_id FROM (%s) AS h WHERE source = $1`,
			state.SQL("history")), source)
	}
	var ids []string
	if err == nil {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return "", fmt.Errorf("read the emails of %s: %w", source, err)
	}
	lines = append(lines, ids...)
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}
