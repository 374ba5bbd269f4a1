package scenarios

import (
	"context"
	"fmt"

	"webhooklab/lab"
)

// The provider is faster than the application that sent the mail.
var EmailBeforeItsMessage = lab.Scenario{
	Name: "email_before_its_message",
	Law:  "an event that comes before its message is kept and counts when the message appears",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		sender.Deliver(email("delivered")).Answers(held)
		sender.Deliver(email("delivered")).Answers(lab.Duplicate)
		l.Shows(0, "statuses")
		added(sender, l).Answers(lab.Done)

		l.Shows(1, "statuses")
		sender.Deliver(email("deferred")).Answers(unchanged)
	},
}

// The message is being added when its event comes. Without a common lock, each would look for the
// other in a snapshot that doesn't show it, and the event would be stranded.
var EmailWhileMessageIsAdded = lab.Scenario{
	Name:       "email_while_message_is_added",
	Law:        "an event and its message never miss each other: the event waits",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		app, sender := l.Session("app"), l.Session("sender")

		added(app, l).HoldBefore("COMMIT")
		sender.Deliver(email("delivered")).BlockedBy(app)
		app.Release()

		app.Answers(lab.Done)
		sender.Answers(advanced)
	},
}

// The other way round: the event is being kept when its message is added.
var MessageWhileEmailIsKept = lab.Scenario{
	Name:       "message_while_email_is_kept",
	Law:        "an event and its message never miss each other: the message waits",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		sender, app := l.Session("sender"), l.Session("app")

		sender.Deliver(email("delivered")).HoldBefore("COMMIT")
		added(app, l).BlockedBy(sender)
		sender.Release()

		sender.Answers(held)
		app.Answers(lab.Done)
		sender.Deliver(email("deferred")).Answers(unchanged)
	},
}

// addedQuietly makes the n-th message known without stepping, and counts it.
func addedQuietly(s *lab.Session, l *lab.Lab, n int) int {
	source, message := l.Source("mail"), fmt.Sprintf("message_%d", n)
	a := s.Does("add "+message, func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Mailer).AddMessage(ctx, source, message, "ann@example.org")
	})
	if a == lab.Done {
		return 1
	}
	return 0
}
