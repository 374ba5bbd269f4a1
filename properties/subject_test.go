package properties_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/properties"
	"webhooklab/scenarios"
)

// A subject is a receiver under judgement and what the judge may see of it.
type subject struct {
	name  string
	new   lab.NewReceiver
	state lab.State
}

func reference() subject { return subject{"snapshots", scenarios.Snapshots, lab.ReferenceState} }

// bound of one delivery: what takes longer hangs.
const bound = 10 * time.Second

// open gives a receiver on the direct way to the database, closed with the test.
func (s subject) open(t testing.TB) lab.Receiver {
	t.Helper()
	r, err := s.new(t.Context(), ground.database.DSN())
	require.NoError(t, err)
	t.Cleanup(func() { closeReceiver(r) })
	return r
}

func closeReceiver(r lab.Receiver) {
	if c, ok := r.(interface{ Close() }); ok {
		c.Close()
	}
}

// A finding is a broken law and how it was broken.
type finding struct{ law, text string }

// findings are what a judge has to say; none means that every law held.
type findings []finding

func (f findings) String() string {
	var b strings.Builder
	for _, x := range f {
		fmt.Fprintf(&b, "law %s is broken: %s\n", x.law, x.text)
	}
	return b.String()
}

func (f findings) broken(law string) bool {
	for _, x := range f {
		if x.law == law {
			return true
		}
	}
	return false
}

// unknown begins what a judge says that could not judge.
const unknown = "unknown: "

// none demands that no law was broken, and keeps for the report what was. Names that differ from
// run to run are taken out.
func (f findings) none(t require.TestingT, sources []string) {
	if len(f) == 0 {
		return
	}
	o := lab.Offence{Verdict: lab.VerdictUnknown}
	for _, x := range f {
		if !strings.HasPrefix(x.text, unknown) {
			o.Verdict = lab.VerdictInvalid
		}
	}
	o.Text = plain(f.String(), sources[0])
	ground.worst = o
	require.Fail(t, "a law is broken", o.Text)
	t.FailNow()
}

// The laws that no SELECT can tell, as findings name them.
const (
	modelDecides   = "model_decides" // every answer is the sequential model's
	modelHolds     = "model_holds"   // inbox and projection are the model's
	linearizable   = "linearizable"
	refusedOnce    = "refused_once" // one row for each distinct refusal
	answered       = "answered"     // without a fault nobody is left without an answer
	answeredAtLast = "answered_at_last"
)

// laws demands every law in SQL.
func (s subject) laws(ctx context.Context, sources []string, ops []lab.Operation) (f findings) {
	for _, law := range properties.Audited {
		found, err := law.Check(ctx, ground.judge, s.state, sources, ops)
		if err != nil {
			f = append(f, finding{law.Name, unknown + err.Error()})
		}
		if len(found) > 0 {
			f = append(f, finding{law.Name,
				fmt.Sprintf("%d rows, the first %s", len(found), found[0])})
		}
	}
	return f
}

func (s subject) stored(ctx context.Context, sources []string) (properties.Stored, findings) {
	stored, err := properties.ReadStored(ctx, ground.judge, s.state, sources)
	if err != nil {
		return stored, findings{{modelHolds, unknown + err.Error()}}
	}
	return stored, nil
}

// backfill sets objects from elsewhere than the inbox, in the database and in the model.
func backfill(ctx context.Context, m *properties.Model, all []lab.Delivery) error {
	for _, d := range all {
		_, err := ground.judge.Exec(ctx, `
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ($1, $2, $3, $4::jsonb)`, d.Source, d.ObjectID, d.Revision, string(d.Snapshot))
		if err != nil {
			return fmt.Errorf("backfill %s: %w", d, err)
		}
		if err := m.Backfill(d.Source, d.ObjectID, d.Revision, d.Snapshot); err != nil {
			return err
		}
	}
	return nil
}
