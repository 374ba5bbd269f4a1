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
	Laws:    properties.Snapshots,
	Audit:   properties.Audit,
	Audited: []lab.Invariant{properties.NeverStepsBack},
	Effects: gusts,
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
		DoorBatch,
	}),
}

// The answers that a sender gets by HTTP beside the outcomes.
var (
	badRequest   = lab.Answer{Outcome: "400"}
	unauthorized = lab.Answer{Outcome: "401"}
	timedOut     = lab.Answer{Outcome: "408"}
	conflict     = lab.Answer{Outcome: "409"}
	comeAgain    = lab.Answer{Outcome: "503"}
)

// lose makes the sender's hop lose the next request or its response. It says nothing of it in the
// transcript: what came of it does.
func lose(s *lab.Session, at toxiproxy.Place, how toxiproxy.Close) {
	s.Does("lose the next", func(_ context.Context, r lab.Receiver) (lab.Answer, error) {
		r.(Sender).Lose(at, how)
		return lab.Done, nil
	})
}

// sends posts a body of the sender's own to one of the door's addresses.
func sends(s *lab.Session, l *lab.Lab, what, path, secret string, body []byte) *lab.Session {
	source := l.Source("shop")
	return s.Do(what, func(ctx context.Context, r lab.Receiver) (lab.Answer, error) {
		return r.(Sender).Post(ctx, source, path, secret, body)
	})
}
