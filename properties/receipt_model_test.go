package properties_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/properties"
)

func asked(kind, payload string) lab.Delivery {
	return lab.Delivery{Source: "shop", EventID: "evt", Type: kind, Payload: []byte(payload)}
}

func says(kind string) properties.Saying {
	return map[string]properties.Saying{
		"viewed": properties.Ignores, "flaky": properties.Fails, "unpayable": properties.Rejects,
	}[kind]
}

func TestReceiptModelAtomic(t *testing.T) {
	m := &properties.ReceiptModel{Atomic: true, Says: says}
	require.Equal(t, lab.Invalid, m.Deliver(asked("flaky", `{`)))
	require.Equal(t, lab.Unknown, m.Deliver(asked("flaky", `{"a": 1}`)))
	require.Equal(t, lab.ReusedEventID, m.Deliver(asked("flaky", `{"a": 2}`)))
	require.Equal(t, "failed", m.Status("shop", "evt"))
	m.Says = func(string) properties.Saying { return properties.Changes }
	require.Equal(t, "processed", m.Deliver(asked("flaky", `{"a": 1.0}`)).Outcome)
	require.Equal(t, lab.Duplicate, m.Deliver(asked("flaky", `{"a": 1}`)))
	require.Equal(t, map[string]int{"new": 1, "duplicate": 2, "conflict": 1, "invalid": 1},
		m.Counts("shop"))
	require.Zero(t, m.Unfinished())
}

func TestReceiptModelLeased(t *testing.T) {
	m := &properties.ReceiptModel{MaxAttempts: 2, Says: says}
	require.Equal(t, "accepted", m.Deliver(asked("flaky", `1`)).Outcome)
	paused, answer := m.Claim()
	require.Equal(t, "claimed", answer.Outcome)
	m.Expire("shop", "evt")
	require.Equal(t, "recovered 1", m.Recover().Outcome)
	lease, answer := m.Claim()
	require.Nil(t, lease)
	require.Equal(t, "idle", answer.Outcome, "it backs off")

	m.Due("shop", "evt")
	lease, _ = m.Claim()
	require.Equal(t, "lease lost", m.Heartbeat(*paused).Outcome)
	require.Equal(t, "lease lost", m.Complete(*paused).Outcome)
	require.Equal(t, "dead", m.Complete(*lease).Outcome)
	require.Zero(t, m.Unfinished())
	require.Equal(t, "requeued", m.Requeue("shop", "evt").Outcome)
	require.Equal(t, lab.Invalid, m.Requeue("shop", "evt"))

	lease, _ = m.Claim()
	require.Equal(t, "released", m.Release(*lease).Outcome)
	require.Equal(t, "shop evt flaky 1e0: pending after 3 of 8 attempts, token 3, 1. in the queue\n"+
		"shop: 1 new\n", m.String())
}

func TestReceiptModelSkipsWhatIsLocked(t *testing.T) {
	m := &properties.ReceiptModel{MaxAttempts: 2, Says: says}
	m.Deliver(asked("viewed", `1`))
	m.Skipping(m.Next(), func() {
		_, answer := m.Claim()
		require.Equal(t, "idle", answer.Outcome)
	})
	lease, _ := m.Claim()
	require.Equal(t, "ignored", m.Complete(*lease).Outcome)
}

func TestEmailSetKnowsNoOrder(t *testing.T) {
	event := func(id, kind string) lab.Delivery {
		return lab.Delivery{EventID: id, Type: kind, ObjectID: "welcome ann"}
	}
	var s properties.EmailSet
	s.Event(event("e1", "complained"))
	s.Event(event("e2", "delivered"))
	s.Event(event("e2", "delivered"))
	s.Event(event("e3", "opened"))
	require.Equal(t, "history e1\nhistory e2\nhistory e3", s.String(), "nobody knows the message")
	s.Message("welcome ann")
	s.Correction("c1", "e1")
	require.Contains(t, s.String(), "welcome ann: rank 3, opened true, clicked false, unsubscribed")
}
