package scenarios

import (
	"context"
	"slices"

	"webhooklab/lab"
	"webhooklab/properties"
	"webhooklab/toxiproxy"
)

// DoorSuite is the contract of the HTTP door, before the receiver of snapshots.
var DoorSuite = Suite{
	Name:     "door",
	Title:    "The HTTP door",
	Receiver: Door,
	State: append(slices.Clone(lab.ReferenceState), lab.Table{Name: "deliveries", SQL: `
SELECT source, event_id,
       row_number() OVER (PARTITION BY source, event_id ORDER BY delivery_no) AS number,
       counted_as, answer
  FROM webhook_delivery`}),
	Laws:     properties.Snapshots,
	Audit:    properties.Audit,
	Audited:  []lab.Invariant{properties.NeverStepsBack},
	Effects:  gusts,
	Programs: slices.Concat(DoorPrograms, DoorInputs),
	Swept:    sweptDoor,
	Scenarios: slices.Concat([]lab.Scenario{
		DoorApplied,
		DoorForgedFirst,
		DoorRequestLost,
		DoorResponseLostFIN,
		DoorResponseLostRST,
		DoorResponseLostHang,
	}, DoorBothHops, []lab.Scenario{
		DoorSenderLeaves,
		DoorSlowSender,
		DoorFiftyCopies,
		DoorPoolExhausted,
		DoorDatabaseDown,
		DoorSerializationFailure,
		DoorDeadlock,
		DoorHostileBodies,
		DoorMigration,
		DoorWrittenOtherwise,
		DoorRotatedSecret,
		DoorSourceInBody,
		DoorBatch,
	}),
	NotPromised: doorDoesNotPromise,
}

// The answers that a sender gets by HTTP beside the outcomes.
var (
	badRequest   = lab.Answer{Outcome: "400"}
	unauthorized = lab.Answer{Outcome: "401"}
	timedOut     = lab.Answer{Outcome: "408"}
	conflict     = lab.Answer{Outcome: "409"}
	comeAgain    = lab.Answer{Outcome: "503"}
)

// loses makes the sender's hop lose its next request or response, and returns what must be called
// when the sender has learned of it: it demands that the fault fired, once and without a leak.
func loses(s *lab.Session, l *lab.Lab, at toxiproxy.Place, how toxiproxy.Close) (proved func()) {
	var f *toxiproxy.Fault
	s.Does("lose the next", func(_ context.Context, r lab.Receiver) (lab.Answer, error) {
		f = r.(Sender).Lose(at, how)
		return lab.Done, nil
	})
	return func() { l.Fired(s, f) }
}

// sends posts a delivery to one of the door's addresses, signed with this secret.
func sends(s *lab.Session, l *lab.Lab, what, path, secret string, d lab.Delivery) *lab.Session {
	d.Source = l.Source("shop")
	return s.Do(what, func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		to := address{r.(Sender), path, secret}
		return l.History.Record(s.Name, to).Receive(ctx, d)
	})
}

// address is one address of a door, as a receiver behind the recording door.
type address struct {
	Sender
	path, secret string
}

func (a address) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	return a.Post(ctx, d.Source, a.path, a.secret, bodyOf(d))
}

// raw is a delivery of these bytes.
func raw(body []byte) lab.Delivery {
	if body == nil {
		body = []byte{}
	}
	return lab.Delivery{Body: body}
}
