package scenarios

import "webhooklab/lab"

// A change causes a mail.
var OutboxSentOnce = lab.Scenario{
	Name: "outbox_sent_once",
	Law:  "a message is there with the change that causes it, and sent once it is committed",
	Play: func(l *lab.Lab) {
		shop, post := l.Session("shop"), l.Session("post")

		shop.Deliver(order("evt", "paid")).Answers(lab.Done)
		l.Shows(0, "calls")

		posts(post).Answers(sent)
		posts(post).Answers(idle)
		l.Shows(1, "mails")
	},
}

// The change fails after it enqueued its message.
var OutboxRolledBackSendsNothing = lab.Scenario{
	Name: "outbox_rolled_back_sends_nothing",
	Law:  "a change that was rolled back sends nothing",
	Play: func(l *lab.Lab) {
		shop, post := l.Session("shop"), l.Session("post")

		shop.Deliver(order("evt", "cancelled")).Answers(lab.Unknown)

		posts(post).Answers(idle)
		l.Shows(0, "effects")
		l.Shows(0, "calls")
	},
}

// The process dies between the change and its message.
var OutboxCrashBeforeEnqueue = lab.Scenario{
	Name: "outbox_crash_before_enqueue",
	Law:  "no change is there without its message, and no message without its change",
	Play: func(l *lab.Lab) {
		shop, retry, post := l.Session("shop"), l.Session("retry"), l.Session("post")

		shop.Deliver(order("evt", "paid")).HoldBefore("INSERT outbox_message").Dies()
		l.Shows(0, "effects")

		retry.Deliver(order("evt", "paid")).Answers(lab.Done)
		posts(post).Answers(sent)
		l.Shows(1, "mails")
	},
}

// A dispatcher looks while the change is still open.
var OutboxUncommittedIsNotSent = lab.Scenario{
	Name:       "outbox_uncommitted_is_not_sent",
	Law:        "a message whose change is not committed is neither sent nor waited for",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		shop, post := l.Session("shop"), l.Session("post")

		shop.Deliver(order("evt", "paid")).HoldBefore("COMMIT")
		posts(post).NotBlocked().Answers(idle)
		shop.Release()

		shop.Answers(lab.Done)
		posts(post).Answers(sent)
	},
}

// A key comes back with other words. The business change fails with it.
var OutboxSameKey = lab.Scenario{
	Name: "outbox_same_key",
	Law:  "a key stands for one message: with other content it is an error of the change",
	Play: func(l *lab.Lab) {
		shop := l.Session("shop")
		changed := order("evt", "paid")
		changed.Payload = []byte(`{"order": 8}`)

		shop.Deliver(order("evt", "paid")).Answers(lab.Done)
		shop.Deliver(changed).Answers(lab.ReusedEventID)

		l.Shows(1, "messages")
		l.Shows(1, "effects")
	},
}

// Messages of other keys, and of the same key on another topic, say other things.
var OutboxKeysStayApart = lab.Scenario{
	Name: "outbox_keys_stay_apart",
	Law:  "a message is known by its topic and key, and by nothing else",
	Play: func(l *lab.Lab) {
		shop, post := l.Session("shop"), l.Session("post")
		second, theirs := order("evt_2", "paid"), order("evt_2", "paid")
		second.Payload = []byte(`{"order": 8}`)
		theirs.Source, theirs.Payload = "other shop", []byte(`{"order": 9}`)

		shop.Deliver(order("evt_1", "paid")).Answers(lab.Done)
		shop.Deliver(second).Answers(lab.Done)
		shop.Deliver(theirs).Answers(lab.Done)
		shop.Deliver(second).Answers(lab.Done)
		shop.Deliver(theirs).Answers(lab.Done)

		for range 3 {
			posts(post).Answers(sent)
		}
		posts(post).Answers(idle)
		l.Shows(3, "mails")
	},
}
