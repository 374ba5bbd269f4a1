package scenarios

import (
	"context"

	"webhooklab/lab"
)

// A mailbox is one recipient of one message of one source.
type mailbox struct{ source, message, recipient string }

func (m mailbox) event(id, kind string) lab.Delivery {
	return lab.Delivery{
		Source: m.source, EventID: id, Type: kind, ObjectID: m.message + " " + m.recipient,
	}
}

// added makes the mailbox's message known.
func (m mailbox) added(s *lab.Session, l *lab.Lab) *lab.Session {
	source := l.Source(m.source)
	what := "add message " + m.source + " " + m.message + " " + m.recipient
	return s.Do(what, func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Mailer).AddMessage(ctx, source, m.message, m.recipient)
	})
}

// voids corrects one event of the mailbox's source.
func (m mailbox) voids(s *lab.Session, l *lab.Lab, id, event string) *lab.Session {
	source := l.Source(m.source)
	what := "void " + m.source + " " + event + " as " + id
	return s.Do(what, func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Mailer).Correct(ctx, source, id, event)
	})
}

// The first mailbox of these stories, and its neighbours: another recipient, message, source.
var (
	box        = mailbox{"mail", "welcome", "ann@example.org"}
	neighbours = []mailbox{
		{"mail", "welcome", "bob@example.org"},
		{"mail", "receipt", "ann@example.org"},
		{"other mail", "welcome", "ann@example.org"},
	}
)

// One mailbox is known and moves; its neighbours share all but one part of its name.
var EmailMailboxesStayApart = lab.Scenario{
	Name: "email_mailboxes_stay_apart",
	Law:  "what happens to one recipient of one message leaves every other where it was",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		box.added(sender, l).Answers(lab.Done)
		for i, n := range neighbours {
			id := "evt_" + string(rune('1'+i))
			sender.Deliver(n.event(id, "accepted")).Answers(held)
			sender.Deliver(n.event(id+"_wrong", "complained")).Answers(held)
			n.voids(sender, l, "fix_"+id, id+"_wrong").Answers(held)
		}
		for _, n := range neighbours {
			n.added(sender, l).Answers(lab.Done)
		}
		mailbox{"mail", "empty", "ann@example.org"}.added(sender, l).Answers(lab.Done)

		sender.Deliver(box.event("evt", "delivered")).Answers(advanced)
		sender.Deliver(box.event("evt_wrong", "bounced")).Answers(advanced)
		box.voids(sender, l, "fix_evt", "evt_wrong").Answers(corrected)
		for i, n := range neighbours {
			id := "evt_" + string(rune('1'+i)) + "_late"
			sender.Deliver(n.event(id, "deferred")).Answers(advanced)
			n.voids(sender, l, "fix_"+id, id).Answers(corrected)
		}
		l.Rows(3, `SELECT FROM email_status
 WHERE source IN ('`+l.Source("mail")+`', '`+l.Source("other mail")+`') AND rank = 1`)
	},
	Reference: true,
}

// An event id comes back, each time with one part of it changed, as an event and as a correction.
var EmailReusedInAnyPart = lab.Scenario{
	Name: "email_reused_in_any_part",
	Law:  "an email event id stands for one content, whichever part of it is changed",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		box.added(sender, l).Answers(lab.Done)
		first := box.event("evt", "delivered")
		sender.Deliver(first).Answers(advanced)
		sender.Deliver(neighbours[2].event("evt", "bounced")).Answers(held)

		for _, n := range neighbours[:2] {
			sender.Deliver(n.event("evt", "delivered")).Answers(lab.ReusedEventID)
		}
		changed := first
		changed.Payload = []byte(`{"changed": true}`)
		sender.Deliver(changed).Answers(lab.ReusedEventID)
		box.voids(sender, l, "evt", "evt_2").Answers(lab.ReusedEventID)
		sender.Deliver(first).Answers(lab.Duplicate)
		sender.Deliver(neighbours[2].event("evt", "bounced")).Answers(lab.Duplicate)

		box.voids(sender, l, "fix", "evt_3").Answers(held)
		neighbours[2].voids(sender, l, "fix", "evt_4").Answers(held)
		box.voids(sender, l, "fix", "evt_4").Answers(lab.ReusedEventID)
		sender.Deliver(box.event("fix", "delivered")).Answers(lab.ReusedEventID)
		box.voids(sender, l, "fix", "evt_3").Answers(lab.Duplicate)
		neighbours[2].voids(sender, l, "fix", "evt_4").Answers(lab.Duplicate)
	},
}

// New events that say nothing new.
var EmailNothingNew = lab.Scenario{
	Name: "email_nothing_new",
	Law:  "what says nothing new is accepted and moves nothing",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		box.added(sender, l).Answers(lab.Done)
		for _, kind := range []string{"accepted", "opened", "clicked", "unsubscribed"} {
			sender.Deliver(box.event("evt_"+kind, kind)).Answers(advanced)
			sender.Deliver(box.event("evt_"+kind+"_again", kind)).Answers(unchanged)
		}
		box.added(sender, l).Answers(lab.Done)
		box.voids(sender, l, "fix", "evt_opened_again").Answers(unchanged)

		sender.Deliver(box.event("evt_delivered", "delivered")).Answers(advanced)
		box.voids(sender, l, "fix_2", "evt_accepted").Answers(unchanged)
		l.Rows(1, `SELECT FROM email_status WHERE source = '`+l.Source("mail")+`'
   AND rank = 3 AND opened AND clicked AND unsubscribed`)
	},
	Reference: true,
}
