package scenarios

import (
	"context"

	"webhooklab/lab"
)

const (
	forward    = "the same events end in the same state, in every order"
	neverMiss  = "an event and its message never miss each other"
	voidsAfter = "a correction voids its event, whichever comes first"
)

// EmailPrograms are the pairs of email events, messages and corrections that can meet.
var EmailPrograms = []lab.Program{
	{Name: "email_two_copies", Law: oneChange, Before: addedBefore,
		Sessions: []lab.Actor{actor("first", email("delivered")), actor("retry", email("delivered"))},
		Answers:  []string{"advanced duplicate", "duplicate advanced"}},
	{Name: "email_two_ranks", Law: forward, Before: addedBefore,
		Sessions: []lab.Actor{actor("lower", email("deferred")), actor("higher", email("bounced"))},
		Answers:  []string{"advanced advanced", "unchanged advanced"}},
	{Name: "email_flag_and_rank", Law: EmailFlagsStandBeside.Law, Before: addedBefore,
		Sessions: []lab.Actor{actor("flag", email("opened")), actor("rank", email("delivered"))},
		Answers:  []string{"advanced advanced"}},
	{Name: "email_and_its_message", Law: neverMiss,
		Sessions: []lab.Actor{does("app", addsMessage), actor("sender", email("delivered"))},
		Answers:  []string{"done advanced", "done held"}},
	{Name: "email_two_before_the_message", Law: neverMiss, Before: before(email("deferred")),
		Sessions: []lab.Actor{does("app", addsMessage), actor("sender", email("delivered"))},
		Answers:  []string{"done advanced", "done held"}},
	{Name: "email_and_its_correction", Law: voidsAfter, Before: addedBefore,
		Sessions: []lab.Actor{actor("sender", email("bounced")), does("ops", voids("bounced"))},
		Answers:  []string{"advanced corrected", "unchanged held"}},
	{Name: "email_reused_id", Law: oneID, Before: addedBefore,
		Sessions: []lab.Actor{actor("one", email("delivered")), actor("other", bouncedAsDelivered)},
		Answers:  []string{"advanced reused event id", "reused event id advanced"}},
	{Name: "email_one_by_one", Law: forward, Before: addedBefore,
		Sessions: []lab.Actor{actor("sender", timed("delivered", "12:00"), timed("deferred", "12:05"),
			email("complained"), timed("bounced", "12:00"), email("clicked"))},
		Answers: []string{"advanced unchanged advanced unchanged advanced"}},
	{Name: "email_three_ranks", Law: forward, Before: addedBefore,
		Sessions: []lab.Actor{actor("one", email("deferred")), actor("two", email("delivered")),
			actor("three", email("bounced"))},
		Answers: []string{"advanced advanced advanced", "advanced unchanged advanced",
			"unchanged advanced advanced", "unchanged unchanged advanced"}},
}

// addedBefore makes the message known.
func addedBefore(l *lab.Lab) { l.Session("before").Does(addsMessage.String(), addMessageOf(l)) }

var addsMessage = lab.DoesWith("add message welcome", addMessageOf)

func addMessageOf(l *lab.Lab) func(context.Context, lab.Receiver) (lab.Answer, error) {
	source := l.Source("mail")
	return func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Mailer).AddMessage(ctx, source, "welcome", "ann@example.org")
	}
}

// voids is the correction of one event.
func voids(kind string) lab.Act {
	return lab.DoesWith("void evt_"+kind, func(l *lab.Lab) func(
		context.Context, lab.Receiver) (lab.Answer, error) {
		source := l.Source("mail")
		return func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
			return r.(Mailer).Correct(ctx, source, "fix_"+kind, "evt_"+kind)
		}
	})
}

// bouncedAsDelivered says something else under the id of another event.
var bouncedAsDelivered = variant(email("bounced"), func(d *lab.Delivery) {
	d.EventID = "evt_delivered"
})

// timed is an email event with the provider's time.
func timed(kind, clock string) lab.Delivery {
	return variant(email(kind), func(d *lab.Delivery) {
		d.Payload = []byte(`{"at": "2026-01-01T` + clock + `:00Z"}`)
	})
}
