package scenarios

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"webhooklab/lab"
)

// Somebody without the secret knows a real event id and is first.
var DoorForgedFirst = lab.Scenario{
	Name: "door_forged_first",
	Law:  "a bad signature leaves no row, so it can't take an event id from its true sender",
	Play: func(l *lab.Lab) {
		forger, sender := l.Session("forger"), l.Session("sender")

		sends(forger, l, "deliver a forgery of evt_paid", "/hooks", "whsec_guessed",
			paid).Answers(unauthorized)
		l.Stored(0)
		l.Refused(0)
		l.Shows(0, "deliveries")

		sender.Deliver(paid).Answers(lab.Applied)
	},
}

// Half of the body comes, and then nothing more.
var DoorSlowSender = lab.Scenario{
	Name: "door_slow_sender",
	Law:  "a sender that does not finish its body is answered 408 and stores nothing",
	Play: func(l *lab.Lab) {
		sender, source := l.Session("sender"), l.Source("shop")

		sender.Do("deliver half of evt_paid", func(ctx context.Context, r lab.Receiver) (
			lab.Answer, error) {
			return r.(Sender).Trickle(ctx, source, snapshotBody(paid))
		}).Answers(timedOut)
		l.Stored(0)

		sender.Deliver(paid).Answers(lab.Applied)
	},
}

// Fifty copies come at once to a door with ten connections.
var DoorFiftyCopies = lab.Scenario{
	Name: "door_fifty_copies",
	Law:  "of fifty copies at one barrier, one is applied and every other acknowledged",

	Concurrent: true,
	Free:       true,
	Play: func(l *lab.Lab) {
		sender, source := l.Session("sender"), l.Source("shop")

		got := sender.Does("deliver evt_paid 50 times at once", func(
			ctx context.Context, r lab.Receiver) (lab.Answer, error) {
			return together(50, func() (lab.Answer, error) {
				return r.(Sender).Post(ctx, source, "/hooks", doorSecret, snapshotBody(paid))
			})
		})

		l.Same("answers", "applied 1, duplicate 49", got.Outcome)
		l.Stored(1)
	},
}

// together calls n times from one barrier, and counts the outcomes.
func together(n int, call func() (lab.Answer, error)) (lab.Answer, error) {
	var mu sync.Mutex
	var calls sync.WaitGroup
	counts := map[string]int{}
	barrier := make(chan struct{})
	for range n {
		calls.Go(func() {
			<-barrier
			a, err := call()
			if err != nil {
				a = lab.Answer{Outcome: err.Error()}
			}
			mu.Lock()
			defer mu.Unlock()
			counts[a.Outcome]++
		})
	}
	close(barrier)
	calls.Wait()
	var all []string
	for _, outcome := range sortedKeys(counts) {
		all = append(all, fmt.Sprintf("%s %d", outcome, counts[outcome]))
	}
	return lab.Answer{Outcome: strings.Join(all, ", "), Acked: true}, nil
}

// The provider is moving from an old address to a new one, and delivers to both.
var DoorMigration = lab.Scenario{
	Name:       "door_migration",
	Law:        "two routes of one source are one namespace: an event that reaches both counts once",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		old, moved := l.Session("old"), l.Session("moved")

		sends(old, l, "deliver evt_paid to the old address", "/old", doorSecret, paid).
			HoldBefore("COMMIT")
		moved.Deliver(paid).BlockedBy(old)
		old.Release()

		old.Answers(lab.Applied)
		moved.Answers(lab.Duplicate)
		l.Stored(1)
	},
}

// One array: good, bad, good, and the first once more.
var DoorBatch = lab.Scenario{
	Name: "door_batch",
	Law:  "in a batch good items are kept, bad ones written down, and a duplicate is no error",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		first, second := string(snapshotBody(revision(1))), string(snapshotBody(revision(2)))
		batch := []byte("[" + strings.Join([]string{first, `{"event_id": "evt_bad"}`, second,
			first}, ",") + "]")

		sends(sender, l, "deliver a batch", "/batch", doorSecret, raw(batch)).
			Answers(lab.Answer{Outcome: "batch", Acked: true})

		l.Stored(2)
		l.Refused(1)
		l.Shows(4, "deliveries")
	},
}

// Bodies that try the patience of a parser, each signed by the true sender.
var DoorHostileBodies = lab.Scenario{
	Name: "door_hostile_bodies",
	Law:  "signed hostile bytes get one final answer each, odd harmless text is stored as it is",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		with := func(snapshot string) []byte {
			return []byte(`{"event_id": "evt", "object_id": "o", "revision": 1, "snapshot": ` +
				snapshot + `}`)
		}
		for _, bad := range [][]byte{
			nil, []byte("\xef\xbb\xbf{}"), []byte(`[]`), []byte(`{"event_id": `), with(`[1]`),
			with(`{"a": "\u0000"}`), with(`{"a": "\ud800"}`), with("{\"a\": \"\xff\"}"),
			with(`{"a": 1e131072}`), with(strings.Repeat(`{"a":`, 20000)),
			with("{\"a\": \"\x00\"}"),
			[]byte(strings.Replace(string(with(`{}`)), "evt", strings.Repeat("x", 10000), 1)),
			[]byte(strings.Replace(string(with(`{}`)), `"revision": 1`, `"revision": "1"`, 1)),
			[]byte(strings.Replace(string(with(`{}`)), `1`, `9223372036854775808`, 1)),
			[]byte(strings.Replace(string(with(`{}`)), `"o"`, `"o", "event_id": "evt2"`, 1)),
		} {
			sends(sender, l, fmt.Sprintf("deliver %.60q", bad), "/hooks", doorSecret, raw(bad)).
				Answers(badRequest)
		}
		l.Stored(0)

		odd := with(`{"to": "ann@example.org", "note": "a\n\u001b[31mred 😀", "n": 9007199254740993}`)
		sends(sender, l, "deliver odd text", "/hooks", doorSecret, raw(odd)).Answers(lab.Applied)
		sends(sender, l, "deliver it changed", "/hooks", doorSecret,
			raw([]byte(strings.Replace(string(odd), "993", "992", 1)))).Answers(conflict)
	},
}
