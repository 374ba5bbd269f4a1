package scenarios

import "webhooklab/lab"

// RiverSuite is leased_completed_before_recovery told to River, with its tables and its words. Like
// DriverSuite it has no reference: its receiver is a program of TrackRecord.
var RiverSuite = Suite{
	Name:  "river",
	Title: "River: what was completed is not rescued",
	State: lab.State{
		{Name: "jobs", SQL: `
SELECT args ->> 'source' AS source, args ->> 'event_id' AS event_id, state::text
  FROM river_job`},
		{Name: "completed", SQL: `
SELECT args ->> 'source' AS source, args ->> 'event_id' AS event_id
  FROM river_job
 WHERE state = 'completed'`},
	},
	Scenarios: []lab.Scenario{JobCompletedBeforeRescue},
}

// The rescuer has looked for jobs that are stuck, and has not yet written, when one completes.
var JobCompletedBeforeRescue = lab.Scenario{
	Name: "job_completed_before_rescue",
	Law:  "a job that completed before the rescue's word stays completed",
	Play: func(l *lab.Lab) {
		sender, worker, rescuer := l.Session("sender"), l.Session("worker"), l.Session("rescuer")
		sender.Deliver(order("evt", "paid")).Answers(accepted)
		claims(worker).Answers(claimed)

		recovers(rescuer).HoldBefore("UPDATE river_job")
		completes(worker).Answers(processed)
		rescuer.Ends()

		l.Shows(1, "completed")
	},
}
