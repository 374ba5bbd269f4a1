package scenarios

import "webhooklab/lab"

// The projection was filled from the provider's API and stands at revision 3; then event 3 comes.
// Only here are the stored and the new revision equal: elsewhere the revision's key prevents it.
var BackfilledProjection = lab.Scenario{
	Name:      "backfilled_projection",
	Law:       "only a strictly greater revision advances the state",
	Reference: true,
	Play: func(l *lab.Lab) {
		l.SQL(`
INSERT INTO object_state (source, object_id, revision, snapshot)
VALUES ('` + l.Source("shop") + `', 'order', 3, '{"backfill": true}')`)
		sender := l.Session("sender")

		sender.Deliver(revision(3)).Answers(lab.Stale)
		l.Rows(1, `
SELECT FROM object_state
 WHERE source = '`+l.Source("shop")+`' AND revision = 3 AND snapshot = '{"backfill": true}'`)

		sender.Deliver(revision(4)).Answers(lab.Applied)
	},
}
