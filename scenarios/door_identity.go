package scenarios

import "webhooklab/lab"

// The sender's library writes JSON in its own way, with spaces and its own order of keys.
var DoorWrittenOtherwise = lab.Scenario{
	Name: "door_written_otherwise",
	Law:  "a signature covers the bytes that came, however the sender writes its JSON",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		body := []byte(`{ "snapshot": {"value": true}, "revision": 1,
  "object_id": "order", "event_id": "evt_paid" }`)

		sends(sender, l, "deliver evt_paid", "/hooks", doorSecret, raw(body)).Answers(lab.Applied)
		sender.Deliver(paid).Answers(lab.Duplicate)
	},
}

// The sender rotates its secret and signs by both, in no order that anybody promised.
var DoorRotatedSecret = lab.Scenario{
	Name: "door_rotated_secret",
	Law:  "of several signatures any one that is right lets the delivery in",
	Play: func(l *lab.Lab) {
		const next = "whsec_of_next_year"
		sender := l.Session("sender")

		sends(sender, l, "deliver evt_1, signed by the old secret and the new",
			"/hooks", doorSecret+" "+next, revision(1)).Answers(lab.Applied)
		sends(sender, l, "deliver evt_2, signed by the new secret and the old",
			"/hooks", next+" "+doorSecret, revision(2)).Answers(lab.Applied)
		sends(sender, l, "deliver evt_3, signed by the new secret alone",
			"/hooks", next, revision(3)).Answers(unauthorized)
	},
}

// One tenant's body says that it is another's.
var DoorSourceInBody = lab.Scenario{
	Name: "door_source_in_body",
	Law:  "whose event it is says the address that it came to, never its body",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		body := []byte(`{"source": "` + l.Source("bank") + `", "event_id": "evt_paid",
 "object_id": "order", "revision": 1, "snapshot": {"value": true}}`)

		sends(sender, l, "deliver evt_paid as another", "/hooks", doorSecret, raw(body)).
			Answers(lab.Applied)

		l.Rows(1, `SELECT FROM webhook_inbox WHERE source = '`+l.Source("shop")+`'`)
	},
	Reference: true,
}
