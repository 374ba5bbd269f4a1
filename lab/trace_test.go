package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
	"webhooklab/scenarios"
	"webhooklab/toxiproxy"
)

func traced(t *testing.T, story func(*lab.Lab)) *lab.Trace {
	t.Helper()
	b, err := stage.Bench(t.Context(), postgres.Fast, scenarios.SnapshotSuite,
		scenarios.Options{Rows: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	r := b.Run(t.Context(), lab.Scenario{Name: "a_test", Law: "of a test", Play: story})
	require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
	requireInOrder(t, r.Trace)
	return r.Trace
}

// requireInOrder demands of any trace what must be true of all.
func requireInOrder(t *testing.T, trace *lab.Trace) {
	t.Helper()
	for i, c := range trace.Commands {
		require.Contains(t, trace.Sessions, c.Session)
		require.Positive(t, c.Conn)
		if c.Sent > 0 {
			require.LessOrEqual(t, c.Held, c.Sent, c.Label)
			require.Less(t, c.Sent, c.End(), c.Label)
		}
		if i > 0 && c.Sent > 0 && trace.Commands[i-1].Sent > 0 {
			require.LessOrEqual(t, trace.Commands[i-1].Sent, c.Sent, c.Label)
		}
	}
	for _, w := range trace.Waits {
		c := trace.Commands[w.CommandIndex]
		require.Equal(t, w.Command, c.Label)
		require.Equal(t, w.Session, c.Session)
		require.Less(t, c.Sent, w.From)
		require.Less(t, w.From, w.To)
	}
}

// steps is the stepped commands of a trace, as a schedule names them.
func stepsOf(trace *lab.Trace) (all []string) {
	for _, c := range trace.Commands {
		if c.Step > 0 {
			all = append(all, fmt.Sprint(c.Step, " ", c.Session, " ", c.Label))
		}
	}
	return all
}

func TestTheTraceOfARetryDuringCommit(t *testing.T) {
	trace := traced(t, scenarios.RetryDuringCommit.Play)
	require.Equal(t, []string{"first", "retry"}, trace.Sessions)
	require.Equal(t, []string{
		"1 first INSERT webhook_inbox",
		"2 first INSERT object_state",
		"3 retry INSERT webhook_inbox",
		"4 first COMMIT",
		"5 retry SELECT webhook_inbox",
		"6 retry COMMIT",
	}, stepsOf(trace))

	require.Len(t, trace.Waits, 1)
	w := trace.Waits[0]
	require.Equal(t, []string{"first"}, w.For)
	require.Equal(t, "ShareLock on transactionid", w.Wait.String())
	require.Equal(t, 3, trace.Commands[w.CommandIndex].Step)

	commit := slices.IndexFunc(trace.Commands, func(c lab.TracedCommand) bool { return c.Step == 4 })
	require.Less(t, w.From, trace.Commands[commit].Sent, "it waited before the holder went on")
	require.GreaterOrEqual(t, len(trace.Rows), 2)
	require.Equal(t, commit, trace.Rows[0].After)
	require.Equal(t, lab.TracedTable{
		Name: "objects", Rows: []string{`shop order 1 {"value": true}`},
	}, trace.Rows[0].Tables[1])

	require.Len(t, trace.Operations, 2)
	require.Equal(t, `deliver shop evt_paid order@1 {"value": true}`, trace.Operations[0].What)
	require.Equal(t, "applied", trace.Operations[0].Answer)
	require.Equal(t, "duplicate", trace.Operations[1].Answer)
}

// Arguments stand as they crossed the wire; Plain hides that a run's sources are its own.
func TestATraceHasTheArgumentsOfItsStatements(t *testing.T) {
	trace := traced(t, scenarios.FirstDelivery.Play)
	i := slices.IndexFunc(trace.Commands, func(c lab.TracedCommand) bool {
		return c.Label == "INSERT webhook_inbox"
	})
	statement := trace.Commands[i].Statements[0]
	require.Contains(t, statement.SQL, "webhook_inbox")
	require.Regexp(t, `^shop~.+~$`, string(statement.Args[0]))
	require.Equal(t, "shop", trace.Plain(string(statement.Args[0])))

	text, err := json.Marshal(trace)
	require.NoError(t, err)
	var again lab.Trace
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, trace.Commands[i].Statements, again.Commands[i].Statements)
}

func TestATraceHasTheFaults(t *testing.T) {
	for fault, play := range map[string]func(*lab.Session){
		"request lost (RST)":                   func(s *lab.Session) { s.LoseRequest(toxiproxy.RST) },
		"executed, acknowledgement lost (FIN)": func(s *lab.Session) { s.LoseAck(toxiproxy.FIN) },
	} {
		trace := traced(t, func(l *lab.Lab) {
			s := l.Session("sender")
			play(s.Deliver(event("evt")).HoldBefore("COMMIT"))
			s.Answers(lab.Unknown)
			s.Deliver(event("evt")).Ends()
		})
		i := slices.IndexFunc(trace.Commands, func(c lab.TracedCommand) bool { return c.Fault != "" })
		struck := trace.Commands[i]
		require.Equal(t, "COMMIT", struck.Label)
		require.Equal(t, fault, struck.Fault)
		require.Positive(t, struck.Struck)
		require.Equal(t, strings.HasPrefix(fault, "executed"), struck.Sent > 0)
		require.Equal(t, strings.HasPrefix(fault, "executed"), struck.Answer.Committed())
		after := trace.Commands[i+1:]
		require.NotEmpty(t, after, "the retry comes behind what it retries")
		require.Equal(t, 2, after[0].Conn, "on a connection of its own")
	}
}

// What a killed process held back never left, and the trace says why.
func TestATraceOfADeath(t *testing.T) {
	trace := traced(t, func(l *lab.Lab) {
		s := l.Session("sender")
		s.Deliver(event("evt")).HoldBefore("COMMIT")
		s.Dies()
		l.SQL("SELECT 1")
	})
	last := trace.Commands[len(trace.Commands)-1]
	require.Equal(t, "COMMIT", last.Label)
	require.Zero(t, last.Sent)
	require.Contains(t, last.Fault, "connection closed")
	require.Equal(t, "sender: dies, held before COMMIT", trace.Marks[0].Text)
	require.True(t, trace.Marks[0].Fault)
	require.False(t, trace.Marks[1].Fault)
	require.Equal(t, "SELECT 1", trace.Marks[1].Text)
}

// A session that has locked a table as a whole keeps nobody from going on: its rows are left out.
func TestRowsThatCantBeReadAreLeftOut(t *testing.T) {
	trace := traced(t, func(l *lab.Lab) {
		l.Session("locker").Runs("BEGIN", "LOCK TABLE object_state", "COMMIT").HoldBefore("COMMIT")
		l.Session("other").Runs("DELETE FROM webhook_refusal WHERE source = 'x'").Answers(lab.Done)
		l.Session("locker").Answers(lab.Done)
	})
	require.Len(t, trace.Rows, 1)
	require.Equal(t, "COMMIT", trace.Commands[trace.Rows[0].After].Label)
}

// Without being asked for, rows are not read.
func TestNoRowsUnasked(t *testing.T) {
	r := play(t, bench(t), scenarios.FirstDelivery.Play)
	require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
	require.Empty(t, r.Trace.Rows)
	require.NotEmpty(t, r.Trace.Commands)
}

func TestTheTraceOfWhatIsBesideTheCommands(t *testing.T) {
	trace := traced(t, func(l *lab.Lab) {
		l.SQL("SELECT 1")
		strict := lab.Setting{Name: "default_transaction_isolation", Value: "serializable"}
		l.Session("plain").Runs("SELECT 1").Answers(lab.Done)
		l.Session("strict", strict).Runs("SELECT 1").Answers(lab.Done)
		l.Quietly("SELECT $1::int", 7)
		cut := l.Session("cut").Runs("SELECT 1", "SELECT 2")
		cut.Release().Dies()
	})
	require.Len(t, trace.Own, 2)
	require.Equal(t, "SELECT 1", trace.Own[0].SQL)
	require.Equal(t, []any{7}, trace.Own[1].Args)
	require.Less(t, trace.Own[0].At, trace.Commands[0].Sent)
	require.Equal(t, []lab.TracedSetting{{Session: "strict", Setting: lab.Setting{
		Name: "default_transaction_isolation", Value: "serializable"}}}, trace.Settings)
	last := trace.Ends[len(trace.Ends)-1]
	require.Equal(t, "cut", last.Session)
	require.Less(t, trace.Own[1].At, last.At)
}

// A fault on a wire in front of the receiver is marked when it struck, not when it was proved.
func TestATraceMarksFaultsBeforeTheReceiver(t *testing.T) {
	b, err := stage.Bench(t.Context(), postgres.Fast, scenarios.DoorSuite, scenarios.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.Background())) })
	r := b.Run(t.Context(), scenarios.DoorResponseLostFIN)
	require.Equal(t, lab.VerdictValid, r.Verdict, r.String())
	require.Len(t, r.Trace.Marks, 1)
	mark := r.Trace.Marks[0]
	require.Equal(t, "sender: executed, response lost (FIN), before the receiver", mark.Text)
	require.True(t, mark.Fault)
	i := slices.IndexFunc(r.Trace.Operations, func(o lab.TracedOperation) bool {
		return strings.HasPrefix(o.What, "deliver")
	})
	require.Less(t, r.Trace.Operations[i].Began, mark.At)
	require.Less(t, mark.At, r.Trace.Operations[i].Ended)
}
