package inbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab/inbox"
)

// act is one thing that reaches the receiver, in a world of its own: its source.
type act func(t testing.TB, m *inbox.Emails, source string) error

func adding(message string, recipients ...string) act {
	return func(t testing.TB, m *inbox.Emails, source string) error {
		return m.AddMessage(bounded(t), inbox.EmailMessage{
			Source: source, MessageID: message, Recipients: recipients,
		})
	}
}

func receiving(e inbox.EmailEvent) act {
	return func(t testing.TB, m *inbox.Emails, source string) error {
		here := e
		here.Source = source
		_, err := m.Receive(bounded(t), here)
		return err
	}
}

func correcting(c inbox.Correction) act {
	return func(t testing.TB, m *inbox.Emails, source string) error {
		here := c
		here.Source = source
		_, err := m.Correct(bounded(t), here)
		return err
	}
}

// world is every state row of one source, byte for byte but for the source itself.
func (d *database) world(t testing.TB, source string) string {
	t.Helper()
	var rows string
	require.NoError(t, d.pool.QueryRow(bounded(t), `
		SELECT coalesce(string_agg((to_jsonb(s) - 'source')::text, E'\n'
			ORDER BY message_id, recipient), '')
		FROM email_status AS s WHERE source = $1`, source).Scan(&rows))
	return rows
}

// agrees requires that every state row is what the history says.
func (d *database) agrees(t testing.TB) {
	t.Helper()
	require.Zero(t, d.number(t, `
		SELECT count(*)
		FROM email_status AS s
		LEFT JOIN email_recount AS r USING (source, message_id, recipient)
		WHERE (s.rank, s.opened, s.clicked, s.unsubscribed) IS DISTINCT FROM
			(coalesce(r.rank, 0), coalesce(r.opened, false),
			 coalesce(r.clicked, false), coalesce(r.unsubscribed, false))`))
}

// The story of one mail in each of its 720 orders, each act twice: the second time at once, or
// when all is told.
func TestEveryOrderEndsInTheSameState(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	story := []act{
		adding("msg_1", "ann@example.org"),
		receiving(mail("e2", "delivered")),
		receiving(mail("e3", "bounced")),
		receiving(mail("e4", "complained")),
		receiving(mail("e5", "opened")),
		correcting(voids("c1", "e4")),
	}
	var first string
	orders := 0
	for order := range permutations(len(story)) {
		source := fmt.Sprint("world ", orders)
		for _, at := range order {
			require.NoError(t, story[at](t, m, source))
			if orders%2 == 0 {
				require.NoError(t, story[at](t, m, source))
			}
		}
		for _, at := range order {
			require.NoError(t, story[at](t, m, source))
		}
		if orders == 0 {
			first = d.world(t, source)
			require.NotEmpty(t, first)
		}
		require.Equal(t, first, d.world(t, source), "order %v", order)
		orders++
	}
	d.agrees(t)
}

// permutations yields every order of 0 to n-1.
func permutations(n int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		permute(order, 0, yield)
	}
}

func permute(order []int, fixed int, yield func([]int) bool) bool {
	if fixed == len(order) {
		return yield(order)
	}
	for i := fixed; i < len(order); i++ {
		order[fixed], order[i] = order[i], order[fixed]
		if !permute(order, fixed+1, yield) {
			return false
		}
		order[fixed], order[i] = order[i], order[fixed]
	}
	return true
}

var emailTypes = []string{
	"accepted", "queued", "sent", "processed", "deferred", "delayed", "soft_bounce", "delivered",
	"bounced", "hard_bounce", "dropped", "failed", "complained",
	"opened", "clicked", "unsubscribed", "unheard_of",
}

// drawStory draws two messages to two recipients each, events, corrections of some of them or of
// each other, and duplicates of everything.
func drawStory(t *rapid.T) []act {
	recipients := []string{"ann@example.org", "bob@example.org"}
	story := []act{adding("msg_1", recipients...), adding("msg_2", recipients[1], recipients[0])}
	events := rapid.IntRange(1, 10).Draw(t, "events")
	for i := range events {
		e := mail(fmt.Sprint("e", i), rapid.SampledFrom(emailTypes).Draw(t, "type"))
		e.MessageID = rapid.SampledFrom([]string{"msg_1", "msg_2"}).Draw(t, "message")
		e.Recipient = rapid.SampledFrom(recipients).Draw(t, "recipient")
		story = append(story, receiving(e))
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "corrections") {
		voided := fmt.Sprint("e", rapid.IntRange(0, events).Draw(t, "voided")) // one never comes
		if i > 0 && rapid.Bool().Draw(t, "a correction") {
			voided = "c0"
		}
		story = append(story, correcting(voids(fmt.Sprint("c", i), voided)))
	}
	for range rapid.IntRange(0, len(story)).Draw(t, "duplicates") {
		story = append(story, rapid.SampledFrom(story).Draw(t, "duplicate"))
	}
	return story
}

func TestDrawnOrdersEndInTheSameState(t *testing.T) {
	d := newDatabase(t)
	m := d.emails()
	worlds := 0
	rapid.Check(t, func(r *rapid.T) {
		story := drawStory(r)
		var first string
		for i := range 4 {
			source := fmt.Sprint("world ", worlds)
			worlds++
			for _, a := range rapid.Permutation(story).Draw(r, "order") {
				require.NoError(r, a(t, m, source))
			}
			if i == 0 {
				first = d.world(t, source)
			}
			require.Equal(r, first, d.world(t, source))
		}
		d.agrees(t)
	})
}

// The same stories with all of their acts under way at once.
func TestAllAtOnceEndsInTheSameState(t *testing.T) {
	d := newDatabase(t)
	deadlocks := &errorCounts{sqlstate: "40P01"}
	pool := d.newPool(t, func(c *pgxpool.Config) {
		c.MaxConns = 8
		c.ConnConfig.Tracer = deadlocks
	})
	m, alone := inbox.NewEmails(pool, inbox.Options{}), d.emails()
	worlds := 0
	rapid.Check(t, func(r *rapid.T) {
		story := drawStory(r)
		worlds++
		one, all := fmt.Sprint("alone ", worlds), fmt.Sprint("at once ", worlds)
		for _, a := range story {
			require.NoError(r, a(t, alone, one))
		}
		require.NoError(r, atOnce(t, story, m, all))
		require.Equal(r, d.world(t, one), d.world(t, all))
		d.agrees(t)
	})
	require.Zero(t, deadlocks.seen.Load())
}

// atOnce does everything in goroutines of its own, and gives the first error in the order of the
// story.
func atOnce(t testing.TB, story []act, m *inbox.Emails, source string) error {
	failures := make([]error, len(story))
	var running sync.WaitGroup
	for i, a := range story {
		running.Go(func() { failures[i] = a(t, m, source) })
	}
	running.Wait()
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		return failures[i]
	}
	return nil
}

// Messages to the same recipients, named in opposite orders, at once with their events.
func TestManyRecipientsAtOnceDoNotDeadlock(t *testing.T) {
	d := newDatabase(t)
	deadlocks := &errorCounts{sqlstate: "40P01"}
	pool := d.newPool(t, func(c *pgxpool.Config) {
		c.MaxConns = 8
		c.ConnConfig.Tracer = deadlocks
	})
	m := inbox.NewEmails(pool, inbox.Options{Attempts: 1})
	var recipients []string
	for i := range 40 {
		recipients = append(recipients, fmt.Sprintf("r%02d@example.org", i))
	}
	var story []act
	for i, recipient := range recipients {
		e := mail("e"+recipient, "delivered")
		e.Recipient = recipient
		turned := slices.Concat(recipients[i:], recipients[:i])
		slices.Reverse(turned[i/2:])
		story = append(story, adding("msg_1", turned...), receiving(e))
	}
	require.NoError(t, atOnce(t, story, m, "mail"))
	require.Zero(t, deadlocks.seen.Load())
	require.Equal(t, 40, strings.Count(d.standing(t), "delivered"))
}
