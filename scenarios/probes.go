package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// Probes are all that the schema is asked.
var Probes = slices.Concat(badRows, nullProbes(), secondRows, snapshotProbes, emailProbes,
	receiptSteps, receiptProbes, outboxSteps, outboxProbes, planProbes)

// badRow spoils a row of a table where one CHECK alone minds.
func badRow(of, check string, changes ...string) Probe {
	return Probe{
		Of: of, Name: check, Law: "no writer brings a row that " + check + " doesn't allow",
		Do: written(of, changes...), Refused: "23514",
	}
}

// badUpdate does so later in the row's life.
func badUpdate(of, check, given, set string) Probe {
	return Probe{
		Of: of, Name: check, Law: "no writer brings a row that " + check + " doesn't allow",
		Given: given, Do: update(of, set), Refused: "23514",
	}
}

// notNull are the columns of each table that hold a value, those of its primary key aside.
var notNull = map[string]string{
	"webhook_inbox":   "object_id revision snapshot received_at",
	"object_state":    "revision snapshot",
	"webhook_refusal": "deliveries first_seen last_seen",
	"email_event":     "received_at",
	"email_status":    "rank opened clicked unsubscribed",
	"webhook_receipt": "model event_type payload raw_body signature_headers status received_at " +
		"lease_token",
	"webhook_delivery":   "source event_id received_at counted_as answer",
	"receipt_transition": "to_status at attempt actor",
	"outbox_message":     "payload enqueued_at actor lease_token",
}

// notNullLater are those whose triggers would refuse a row that begins without.
var notNullLater = map[string]string{
	"webhook_receipt": "attempts actor",
	"outbox_message":  "status attempts max_attempts",
}

func nullProbes() (all []Probe) {
	probe := func(of, name string) Probe {
		return Probe{
			Of: of, Name: of + "." + name + " is null", Refused: "23502",
			Law: fmt.Sprintf("every row of %s says its %s", of, name),
		}
	}
	for of, names := range notNull {
		for _, name := range strings.Fields(names) {
			p := probe(of, name)
			p.Do = written(of, name+" = NULL")
			all = append(all, p)
		}
	}
	for of, names := range notNullLater {
		for _, name := range strings.Fields(names) {
			p := probe(of, name)
			p.Given, p.Do = later(of, step(taken)), update(of, name+" = NULL")
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Probe) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// secondRow writes the same identity twice, with other content.
func secondRow(of, key string, first, second []string) Probe {
	return Probe{
		Of: of, Name: key, Law: "no writer brings a second row of one identity into " + of,
		Given: written(of, first...), Do: written(of, second...), Refused: "23505",
	}
}

var secondRows = []Probe{
	secondRow("webhook_inbox", "webhook_inbox_event_once", nil, []string{"revision = 2"}),
	secondRow("webhook_inbox", "webhook_inbox_revision_once", nil, []string{"event_id = 'e2'"}),
	secondRow("object_state", "object_state_one_per_object", nil, []string{"revision = 2"}),
	secondRow("webhook_refusal", "webhook_refusal_counted_once", nil, nil),
	secondRow("email_event", "email_event_once", nil, []string{"message_id = 'm2'"}),
	secondRow("email_status", "email_status_one_per_recipient", nil, []string{"rank = 1"}),
	secondRow("webhook_receipt", "webhook_receipt_event_once", nil, nil),
	secondRow("webhook_delivery", "webhook_delivery_pkey",
		[]string{"delivery_no = 1000000"}, []string{"delivery_no = 1000000"}),
	secondRow("receipt_transition", "receipt_transition_of_receipt",
		[]string{"transition_no = 1000000"}, []string{"transition_no = 1000000"}),
	secondRow("outbox_message", "outbox_message_once", nil, nil),
}

var badRows = []Probe{
	badRow("webhook_inbox", "webhook_inbox_source_bounded", "source = ''"),
	badRow("webhook_inbox", "webhook_inbox_event_id_bounded", "event_id = repeat('é', 513)"),
	badRow("webhook_inbox", "webhook_inbox_object_id_bounded", "object_id = ''"),
	badRow("webhook_inbox", "webhook_inbox_revision_positive", "revision = 0"),
	badRow("webhook_inbox", "webhook_inbox_snapshot_is_object", "snapshot = '[]'"),

	badRow("object_state", "object_state_source_bounded", "source = repeat('s', 256)"),
	badRow("object_state", "object_state_object_id_bounded", "object_id = repeat('o', 1025)"),
	badRow("object_state", "object_state_revision_positive", "revision = -1"),
	badRow("object_state", "object_state_snapshot_is_object", "snapshot = 'null'"),

	badRow("webhook_refusal", "webhook_refusal_source_bounded", "source = repeat('s', 256)"),
	badRow("webhook_refusal", "webhook_refusal_event_id_bounded", "event_id = repeat('e', 1025)"),
	badRow("webhook_refusal", "webhook_refusal_reason_bounded", "reason = ''"),
	badRow("webhook_refusal", "webhook_refusal_digest_is_sha256", "digest = ''"),
	badRow("webhook_refusal", "webhook_refusal_counted", "deliveries = 0"),

	badRow("webhook_delivery", "webhook_delivery_source_bounded", "source = repeat('s', 256)"),
	badRow("webhook_delivery", "webhook_delivery_event_id_bounded",
		"event_id = repeat('e', 1025)"),
	badRow("webhook_delivery", "webhook_delivery_delivery_id_bounded", "delivery_id = ''"),
	badRow("webhook_delivery", "webhook_delivery_counted", "counted_as = 'lost'"),
	badRow("webhook_delivery", "webhook_delivery_answer_bounded", "answer = ''"),
}
