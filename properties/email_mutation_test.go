package properties_test

import (
	"testing"

	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/scenarios"
)

func emailSins() []guilty {
	by := func(law, sin string, receiver lab.NewReceiver) guilty {
		return guilty{law: law, sin: sin, suite: scenarios.EmailSuite, receiver: receiver}
	}
	return []guilty{
		by("email_acked_is_kept", "email_dropped_early", flawed.EmailDroppedEarly),
		by("email_status_is_highest", "email_last_writer_wins", flawed.EmailLastWriterWins),
		by("email_status_is_highest", "email_by_timestamp", flawed.EmailByTimestamp),
		by("email_flags_are_kept", "email_by_timestamp", flawed.EmailByTimestamp),
		by(modelHolds, "email_last_writer_wins", flawed.EmailLastWriterWins),
	}
}

// One after the other is enough for these: the order that is drawn shows them.
func TestLawsCatchSinsAgainstEmails(t *testing.T) {
	for _, g := range emailSins() {
		t.Run(g.law+"/"+g.sin, func(t *testing.T) {
			noLeaks(t)
			p := newPlot(t, g.suite, "")
			dsn, drawn := p.database.DSN(), mailbags()
			sinner := wiredTo(t, dsn, g.receiver, "sinner", 1)
			saints := wiredTo(t, dsn, scenarios.Emails, "saint", 1)
			saints = append(saints, wiredTo(t, dsn, flawed.EmailWithoutSin, "sound", 1)...)
			post := func(w *wired, seed int) (findings, error) {
				order := drawn.Example(seed).first
				return p.post(t.Context(), []*wired{w}, order, make([][]cutPlan, 1))
			}
			g.caught(t, func(seed int, _ func(findings) bool) (findings, error) {
				return post(sinner[0], seed)
			}, func(seed int) (found findings, err error) {
				for _, saint := range saints {
					if err == nil && len(found) == 0 {
						found, err = post(saint, seed)
					}
				}
				return found, err
			})
		})
	}
}
