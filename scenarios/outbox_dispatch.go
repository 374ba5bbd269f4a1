package scenarios

import (
	"fmt"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// The system outside did it, and its answer is lost.
var OutboxDownstreamAckLost = lab.Scenario{
	Name: "outbox_downstream_ack_lost",
	Law:  "a send whose answer was lost is sent again under the same key: two calls, one effect",
	Play: func(l *lab.Lab) {
		shop, post := l.Session("shop"), l.Session("post")
		shop.Deliver(order("evt", "paid")).Answers(lab.Done)

		posts(post).HoldBefore("INSERT downstream_mail").LoseAck(toxiproxy.RST)
		post.Answers(failed)
		dueMail(l)
		posts(post).Answers(sent)

		l.Shows(2, "calls")
		l.Shows(1, "mails")
	},
}

// The dispatcher dies between the send and its mark.
var OutboxCrashBeforeMark = lab.Scenario{
	Name: "outbox_crash_before_mark",
	Law:  "a send that was not marked is sent again under the same key: two calls, one effect",
	Play: func(l *lab.Lab) {
		shop, first, second := l.Session("shop"), l.Session("first"), l.Session("second")
		shop.Deliver(order("evt", "paid")).Answers(lab.Done)

		posts(first).HoldBefore("INSERT downstream_mail").Release()
		first.HoldBefore("UPDATE outbox_message").Dies()
		posts(second).Answers(idle)
		expireMail(l)
		recoversMail(second).Answers(recovered(1))
		dueMail(l)
		posts(second).Answers(sent)

		l.Shows(2, "calls")
		l.Shows(1, "mails")
	},
}

// The mark is committed, and the dispatcher doesn't hear of it.
var OutboxMarkAckLost = lab.Scenario{
	Name: "outbox_mark_ack_lost",
	Law:  "a mark whose acknowledgement was lost holds: the message is not sent again",
	Play: func(l *lab.Lab) {
		shop, first, second := l.Session("shop"), l.Session("first"), l.Session("second")
		shop.Deliver(order("evt", "paid")).Answers(lab.Done)

		posts(first).HoldBefore("INSERT downstream_mail").Release()
		first.HoldBefore("COMMIT").LoseAck(toxiproxy.FIN)
		first.Answers(lab.Unknown)
		expireMail(l)

		recoversMail(second).Answers(recovered(0))
		posts(second).Answers(idle)
		l.Shows(1, "calls")
	},
}

// A dispatcher is paused before its send until its lease has expired and another has sent.
var OutboxPausedDispatcher = lab.Scenario{
	Name: "outbox_paused_dispatcher",
	Law:  "a dispatcher that outlived its lease sends under the same key and marks nothing",
	Play: func(l *lab.Lab) {
		shop, paused, other := l.Session("shop"), l.Session("paused"), l.Session("other")
		shop.Deliver(order("evt", "paid")).Answers(lab.Done)
		posts(paused).HoldBefore("INSERT downstream_mail")
		expireMail(l)
		recoversMail(other).Answers(recovered(1))
		dueMail(l)
		posts(other).Answers(sent)

		paused.Answers(leaseLost)

		l.Shows(2, "calls")
		l.Shows(1, "mails")
	},
}

// One message, two dispatchers.
var OutboxDispatchersShareNothing = lab.Scenario{
	Name:       "outbox_dispatchers_share_nothing",
	Law:        "a message that one dispatcher is taking is no message to another, and nobody waits",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		shop, first, second := l.Session("shop"), l.Session("first"), l.Session("second")
		shop.Deliver(order("evt", "paid")).Answers(lab.Done)

		posts(first).Release()
		posts(second).NotBlocked().Answers(idle)

		first.Answers(sent)
		l.Shows(1, "calls")
	},
}

// Eight dispatchers run freely over twenty-four messages.
var OutboxReleasedTogether = lab.Scenario{
	Name:       "outbox_released_together",
	Law:        "dispatchers that run freely send each message once",
	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		const rounds = 3
		shop, dispatchers := l.Session("shop"), l.Sessions("post", 8)
		for i := range rounds * len(dispatchers) {
			shop.Send(order(fmt.Sprintf("evt_%d", i), "paid"))
		}

		for range rounds {
			for _, d := range dispatchers {
				posts(d)
			}
			l.ReleaseTogether(dispatchers...)
			l.Equal("sent", len(dispatchers), l.Tally(dispatchers...)["sent"])
		}
		l.Shows(rounds*len(dispatchers), "calls")
	},
}
