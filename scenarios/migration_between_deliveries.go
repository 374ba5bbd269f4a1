package scenarios

import "webhooklab/lab"

// The receiver's connections have its statements prepared when a migration adds a column.
var MigrationBetweenDeliveries = lab.Scenario{
	Name:      "migration_between_deliveries",
	Law:       "a migration between two deliveries is no failure of either",
	Reference: true,
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		sender.Deliver(paid).Answers(lab.Applied)
		sender.Deliver(paid).Answers(lab.Duplicate)

		l.SQL(`ALTER TABLE webhook_inbox ADD COLUMN note text`)
		defer l.Quietly(`ALTER TABLE webhook_inbox DROP COLUMN note`)

		sender.Deliver(paid).Answers(lab.Duplicate)
		sender.Deliver(revision(2)).Answers(lab.Applied)
	},
}
