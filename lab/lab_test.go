package lab_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
	"webhooklab/toxiproxy"
)

var stage *scenarios.Stage

func TestMain(m *testing.M) {
	if file := os.Getenv(orphan); file != "" {
		leaveAnOrphan(file)
	}
	if pid := os.Getenv(freezing); pid != "" {
		freezeAndDie(pid)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	say := func(line string) { fmt.Fprintln(os.Stderr, line) }
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var err error
	if stage, err = scenarios.OpenStage(ctx, say); err != nil {
		say(err.Error())
		return 2
	}
	code := m.Run()
	if err := stage.Close(context.Background()); err != nil {
		say(err.Error())
		code = max(code, 2)
	}
	if err := goleak.Find(); err != nil {
		say(err.Error())
		code = max(code, 2)
	}
	return code
}

func bench(t testing.TB) *scenarios.Bench {
	return benchOf(t, scenarios.Snapshots)
}

func benchOf(t testing.TB, r lab.NewReceiver) *scenarios.Bench {
	t.Helper()
	b, err := stage.Bench(context.Background(), postgres.Fast, scenarios.SnapshotSuite,
		scenarios.Options{Receiver: r})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	return b
}

func event(id string) lab.Delivery {
	return lab.Delivery{
		Source: "shop", EventID: id, ObjectID: id, Revision: 1, Snapshot: []byte(`{}`),
	}
}

// says demands a verdict and a word of its reason.
func says(t *testing.T, r lab.Report, want lab.Verdict, word string) {
	t.Helper()
	require.Equal(t, want.String(), r.Verdict.String(), r.String())
	require.NotEmpty(t, r.Offences)
	require.Contains(t, r.Offences[0].Text, word)
}

func play(t *testing.T, b *scenarios.Bench, story func(*lab.Lab)) lab.Report {
	t.Helper()
	return b.Run(t.Context(), lab.Scenario{Name: "a_test", Law: "of a test", Play: story})
}

// A lock that nobody of ours holds must not pass for the proof that first holds it.
func TestAnOutsiderFailsBlockedBy(t *testing.T) {
	b := bench(t)
	outside, err := pgx.Connect(t.Context(), b.Database.DSN())
	require.NoError(t, err)
	defer outside.Close(context.Background())
	r := play(t, b, func(l *lab.Lab) {
		tx, err := outside.Begin(l.Context())
		require.NoError(t, err)
		defer tx.Rollback(context.Background())
		_, err = tx.Exec(l.Context(), `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, 'contested', 'contested', 1, '{}')`, l.Source("shop"))
		require.NoError(t, err)
		first, retry := l.Session("first"), l.Session("retry")
		first.Deliver(event("apart")).HoldBefore("COMMIT")
		retry.Deliver(event("contested")).BlockedBy(first)
	})
	says(t, r, lab.VerdictUnknown, "waits for an outsider")
}

// A prepared transaction has no backend at all.
func TestAPreparedTransactionIsAnOutsider(t *testing.T) {
	b := bench(t)
	r := play(t, b, func(l *lab.Lab) {
		l.Session("writer").Runs("BEGIN", `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ('`+l.Source("shop")+`', 'evt', 'evt', 1, '{}')`,
			"PREPARE TRANSACTION 'left_behind'").Answers(lab.Done)
		l.Session("retry").Deliver(event("evt")).BlockedBy(l.Session("writer"))
	})
	says(t, r, lab.VerdictUnknown, "a prepared transaction")
	require.NoError(t, b.Exec(t.Context(), "ROLLBACK PREPARED 'left_behind'"))
}

func TestBlockedByAnotherSessionIsNotByThisOne(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		first, bystander, retry := l.Session("first"), l.Session("bystander"), l.Session("retry")
		first.Deliver(event("evt")).HoldBefore("COMMIT")
		bystander.Deliver(event("apart")).HoldBefore("COMMIT")
		retry.Deliver(event("evt")).BlockedBy(bystander)
	})
	says(t, r, lab.VerdictInvalid, "should wait for bystander but waits for first")
}

func TestBlockedByOfASessionThatRanThrough(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")
		first.Deliver(event("evt")).HoldBefore("COMMIT")
		retry.Deliver(event("apart")).BlockedBy(first)
	})
	says(t, r, lab.VerdictInvalid, "should wait for first but is finished: applied")
	require.Equal(t, "lab_test.go", r.Offences[0].At[:len("lab_test.go")])
}

func TestNotBlockedOfASessionThatWaits(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		first, retry := l.Session("first"), l.Session("retry")
		first.Deliver(event("evt")).HoldBefore("COMMIT")
		retry.Deliver(event("evt")).NotBlocked()
	})
	says(t, r, lab.VerdictInvalid, "should not wait")
}

// The third waits for the second, which itself waits: each link of a chain is proved.
func TestAChainOfWaits(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		l.Session("sender").Deliver(event("row")).Answers(lab.Applied)
		update := `UPDATE object_state SET snapshot = '{"n": 1}'
			 WHERE source = '` + l.Source("shop") + `'`
		first, second, third := l.Session("first"), l.Session("second"), l.Session("third")
		first.Runs("BEGIN", update, "COMMIT").HoldBefore("COMMIT")
		second.Runs("BEGIN", update, "COMMIT").BlockedBy(first)
		third.Runs("BEGIN", update, "COMMIT").BlockedBy(second)
		first.Answers(lab.Done)
		second.Answers(lab.Done)
		third.Answers(lab.Done)
	})
	// The laws have a word of their own on writers that change what no event said.
	require.Len(t, r.Waits, 3, r.String())
	require.Contains(t, r.Transcript, "third: UPDATE object_state <waiting for second: ")
	require.Equal(t, "transactionid", r.Waits[0].Wait.LockType)
	require.Equal(t, r.Waits[0].Wait.Blockers[0], r.Waits[0].Wait.Holder)
	require.False(t, r.Waits[0].Wait.Since.IsZero())
}

func TestAWaitForATableNamesIt(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		locker, sender := l.Session("locker"), l.Session("sender")
		locker.Runs("BEGIN", "LOCK TABLE webhook_inbox IN SHARE MODE", "COMMIT").HoldBefore("COMMIT")
		sender.Deliver(event("evt")).BlockedBy(locker)
		locker.Answers(lab.Done)
		sender.Answers(lab.Applied)
	})
	require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
	require.Contains(t, r.Transcript,
		"<waiting for locker: RowExclusiveLock on relation webhook_inbox>")
}

// A command that neither ends nor waits for a lock is stuck: unknown, never passed.
func TestAStepWithoutAnEnd(t *testing.T) {
	b := bench(t)
	l, err := lab.Open(t.Context(), lab.Config{
		DSN: b.Database.DSN(), New: scenarios.Snapshots, Bound: 200 * time.Millisecond,
	})
	require.NoError(t, err)
	defer l.Close()
	r := l.Run(t.Context(), lab.Scenario{Name: "a_test", Play: func(l *lab.Lab) {
		l.Session("sleeper").Runs("SELECT pg_sleep(600)").Answers(lab.Done)
	}})
	says(t, r, lab.VerdictUnknown, "sleeper is still running SELECT")
}

func TestAPanicJudgesNothing(t *testing.T) {
	r := play(t, bench(t), func(*lab.Lab) { panic("slipped") })
	says(t, r, lab.VerdictUnknown, "the play panicked: slipped")
}

type panics struct{}

func (panics) Receive(context.Context, lab.Delivery) (lab.Answer, error) { panic("in the handler") }

func TestAReceiverThatPanicsTeachesItsSenderNothing(t *testing.T) {
	newPanics := func(context.Context, string) (lab.Receiver, error) { return panics{}, nil }
	r := play(t, benchOf(t, newPanics), func(l *lab.Lab) {
		l.Session("sender").Deliver(event("evt")).Answers(lab.Applied)
	})
	says(t, r, lab.VerdictInvalid, "in the handler")
}

func TestSessionsThatNeverMeetProveNothing(t *testing.T) {
	r := bench(t).Run(t.Context(), lab.Scenario{
		Name: "a_test", Concurrent: true,
		Play: func(l *lab.Lab) {
			l.Session("first").Deliver(event("evt")).Answers(lab.Applied)
			l.Session("second").Deliver(event("evt")).Answers(lab.Duplicate)
		},
	})
	says(t, r, lab.VerdictUnknown, "never overlapped")
}

// Two sessions stand at a barrier with their transactions begun, and go one after the other: a BEGIN
// before the barrier proves no meeting behind it.
func TestSessionsReleasedInTurnDidNotMeet(t *testing.T) {
	r := bench(t).Run(t.Context(), lab.Scenario{
		Name: "a_test", Concurrent: true,
		Play: func(l *lab.Lab) {
			first, second := l.Session("first"), l.Session("second")
			first.Deliver(event("evt"))
			second.Deliver(event("evt"))
			l.ReleaseTogether(first)
			l.ReleaseTogether(second)
			first.Answers(lab.Applied)
			second.Answers(lab.Duplicate)
		},
	})
	says(t, r, lab.VerdictUnknown, "never overlapped")
}

// An outsider that holds a session up is nobody's fault, whatever the verb.
func TestAnOutsiderIsNoOffence(t *testing.T) {
	b := bench(t)
	outside, err := pgx.Connect(t.Context(), b.Database.DSN())
	require.NoError(t, err)
	defer outside.Close(context.Background())
	for name, verb := range map[string]func(*lab.Session){
		"Answers":    func(s *lab.Session) { s.Answers(lab.Applied) },
		"HoldBefore": func(s *lab.Session) { s.HoldBefore("COMMIT") },
		"NotBlocked": func(s *lab.Session) { s.NotBlocked() },
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, b, func(l *lab.Lab) {
				tx, err := outside.Begin(l.Context())
				require.NoError(t, err)
				defer tx.Rollback(context.Background())
				_, err = tx.Exec(l.Context(), `
INSERT INTO webhook_inbox (source, event_id, object_id, revision, snapshot)
VALUES ($1, 'evt', 'evt', 1, '{}')`, l.Source("shop"))
				require.NoError(t, err)
				verb(l.Session("sender").Deliver(event("evt")))
			})
			says(t, r, lab.VerdictUnknown, "waits for an outsider")
		})
	}
}

// Two holders are claimed and only one is there.
func TestBlockedByDemandsEachHolder(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		first, bystander, retry := l.Session("first"), l.Session("bystander"), l.Session("retry")
		first.Deliver(event("evt")).HoldBefore("COMMIT")
		bystander.Deliver(event("apart")).HoldBefore("COMMIT")
		retry.Deliver(event("evt")).BlockedBy(first, bystander)
	})
	says(t, r, lab.VerdictInvalid, "should wait for bystander but waits for first")
}

// A wire that slices every message and is late changes nothing of what is seen.
func TestASlicedAndLateWireShowsTheSame(t *testing.T) {
	b := bench(t)
	plain := b.Run(t.Context(), scenarios.CommitAckLostInFlight)
	var toxics []toxiproxy.Toxic
	for _, stream := range []string{"upstream", "downstream"} {
		toxics = append(toxics,
			toxiproxy.Toxic{Type: "slicer", Stream: stream, Attributes: map[string]any{
				"average_size": 7, "size_variation": 0, "delay": 0}},
			toxiproxy.Toxic{Type: "latency", Stream: stream, Attributes: map[string]any{
				"latency": 2, "jitter": 0}})
	}
	l, err := lab.Open(t.Context(), lab.Config{
		DSN: b.Database.DSN(), New: scenarios.Snapshots, Toxics: toxics,
	})
	require.NoError(t, err)
	defer l.Close()
	r := l.Run(t.Context(), scenarios.CommitAckLostInFlight)
	require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
	require.Equal(t, plain.Transcript, r.Transcript)
}

func TestAPlayMustEndItsSessions(t *testing.T) {
	b := bench(t)
	r := play(t, b, func(l *lab.Lab) {
		l.Session("first").Deliver(event("evt")).HoldBefore("COMMIT")
	})
	says(t, r, lab.VerdictUnknown, "ended while first was held before COMMIT")
	r = play(t, b, func(l *lab.Lab) {
		l.Session("first").Deliver(event("evt")).Answers(lab.Applied)
	})
	require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
}

func TestWhatTheServerCantDoIsNotRun(t *testing.T) {
	b := bench(t)
	l, err := lab.Open(t.Context(), lab.Config{DSN: b.Database.DSN(), New: scenarios.Snapshots})
	require.NoError(t, err)
	defer l.Close()
	r := l.Run(t.Context(), lab.Scenario{
		Name: "a_test", Needs: []postgres.Ability{postgres.Crash},
		Play: func(*lab.Lab) { panic("played without its need") },
	})
	says(t, r, lab.VerdictNotRun, "no server")
}

func TestALawThatTheDatabaseBreaks(t *testing.T) {
	r := play(t, bench(t), func(l *lab.Lab) {
		l.Session("sender").Deliver(event("evt")).Answers(lab.Applied)
		l.SQL(`DELETE FROM object_state WHERE source = '` + l.Source("shop") + `'`)
	})
	says(t, r, lab.VerdictInvalid, "law projection_is_greatest is broken by 1 row")
}

func TestALawThatCantBeAskedIsUnknown(t *testing.T) {
	b := bench(t)
	l, err := lab.Open(t.Context(), lab.Config{
		DSN: b.Database.DSN(), New: scenarios.Snapshots,
		Laws: []lab.Invariant{{Name: "misspelt", Law: "of a test", SQL: "SELECT FROM nowhere"}},
	})
	require.NoError(t, err)
	defer l.Close()
	r := l.Run(t.Context(), lab.Scenario{Name: "a_test", Play: func(*lab.Lab) {}})
	says(t, r, lab.VerdictUnknown, "law misspelt")
}

func TestHistoryKeepsOpenIntervals(t *testing.T) {
	h := lab.NewHistory()
	door := h.Record("sender", panics{})
	require.Panics(t, func() { _, _ = door.Receive(t.Context(), event("evt")) })
	ops := h.Operations()
	require.Len(t, ops, 1)
	require.Equal(t, lab.Unknown, ops[0].Answer)
	require.Positive(t, ops[0].Call)
	require.Zero(t, ops[0].Return)
}

func TestVerdictsRank(t *testing.T) {
	require.Greater(t, lab.VerdictInvalid, lab.VerdictUnknown)
	require.Greater(t, lab.VerdictUnknown, lab.VerdictValid)
	for v := lab.VerdictValid; v <= lab.VerdictInvalid; v++ {
		text, err := v.MarshalText()
		require.NoError(t, err)
		var back lab.Verdict
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, v, back)
	}
	require.Error(t, new(lab.Verdict).UnmarshalText([]byte("maybe")))
}
