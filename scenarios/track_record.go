package scenarios

// A PublicFault is a fault of somebody's real software that has a public record, and what shows it
// here.
type PublicFault struct {
	Project string // and the versions that have it
	Address string // of its public record
	Happens string
	Right   string // what must come of it instead
	Replay  string // the schedule that shows it: scenario@seed step step …

	// What is put through the scenario: Code is a program of lab/flawed and its argument, which runs
	// the project's own code; Sin is a receiver of lab/flawed, which makes the same mistake.
	Code string
	Sin  string
}

// TrackRecord is every such fault, those that run the project's own code first.
var TrackRecord = []PublicFault{
	{
		Project: "jackc/pgx before 5.13.0, under database/sql",
		Address: "https://github.com/jackc/pgx/blob/v5.13.0/CHANGELOG.md",
		Happens: "the acknowledgement of an INSERT is lost, the driver calls the statement unsent, " +
			"and database/sql runs it again: two rows, no error",
		Right:  "an error, once, and one row",
		Code:   "driver_repeats pgx_exec",
		Replay: "driver_statement_ack_lost@1 sender:INSERT+effect!ack=FIN sender:INSERT+effect",
	},
	{
		Project: "jackc/pgx before 5.13.0, SafeToRetry",
		Address: "https://github.com/jackc/pgx/blob/v5.13.0/CHANGELOG.md",
		Happens: "the acknowledgement of COMMIT is lost and SafeToRetry says true: " +
			"who believes it makes the change twice",
		Right: "SafeToRetry says false, and one row",
		Code:  "driver_repeats pgx_commit",
		Replay: "driver_commit_ack_lost@1 sender:INSERT+effect sender:COMMIT!ack=FIN " +
			"sender:INSERT+effect sender:COMMIT",
	},
	{
		Project: "lib/pq up to 1.12.3 at least, under database/sql",
		Address: "https://github.com/lib/pq/issues/939",
		Happens: "a connection that breaks after the statement was sent is reported as one that " +
			"was bad before, and database/sql runs the INSERT again: two rows, no error",
		Right:  "an error, once, and one row",
		Code:   "driver_repeats pq_exec",
		Replay: "driver_statement_ack_lost@1 sender:INSERT+effect!ack=FIN sender:INSERT+effect",
	},
	{
		Project: "riverqueue/river before 0.48.0, its rescue of stuck jobs",
		Address: "https://github.com/riverqueue/river/issues/1302",
		Happens: "a job completes after the rescuer has looked and before it writes: " +
			"the completed job is made to run again",
		Right: "what was completed stays so: the rescue asks again in the statement that writes",
		Code:  "river_rescue",
		Replay: "job_completed_before_rescue@1 sender:INSERT+river_job sender:SELECT+topic_to_notify " +
			"sender:COMMIT worker:UPDATE+river_job worker:SELECT+river_job rescuer:SELECT+river_job " +
			"worker:SELECT+river_job rescuer:UPDATE+river_job",
	},
	{
		Project: "laravel/cashier-stripe",
		Address: "https://github.com/laravel/cashier-stripe/issues/1201",
		Happens: "the event of the creation comes after that of an update and overwrites it: " +
			"a paid subscription stands as incomplete",
		Right: "the older event is kept in the history and changes nothing",
		Sin:   "unconditional_advance",
		Replay: "newer_then_older@1 sender:INSERT+webhook_inbox " +
			"sender:INSERT+object_state sender:COMMIT sender:INSERT+webhook_inbox " +
			"sender:INSERT+object_state sender:COMMIT",
	},
	{
		Project: "pay-rails/pay",
		Address: "https://github.com/pay-rails/pay/pull/383",
		Happens: "two deliveries look for the record, find none and both create it: " +
			"one ends in a unique violation",
		Right: "the second waits for the first, and is answered as a duplicate",
		Sin:   "check_then_insert",
		Replay: "retry_during_commit@1 first:SELECT+webhook_inbox " +
			"first:INSERT+webhook_inbox first:INSERT+object_state " +
			"retry:SELECT+webhook_inbox retry:INSERT+webhook_inbox first:COMMIT " +
			"retry:ROLLBACK",
	},
	{
		Project: "svix/svix-webhooks, up to 1.36.0 at least",
		Address: "https://github.com/svix/svix-webhooks/issues/1454",
		Happens: "a message sent again under its event id is answered 500, because its row is there: " +
			"whoever retries gets no other answer",
		Right: "the copy is acknowledged as a duplicate",
		Sin:   "door_duplicate_is_an_error",
		Replay: "door_applied@1 sender:INSERT+webhook_inbox sender:INSERT+object_state " +
			"sender:COMMIT sender:INSERT+webhook_delivery sender:COMMIT " +
			"sender:INSERT+webhook_inbox sender:SELECT+webhook_inbox sender:COMMIT " +
			"sender:INSERT+webhook_delivery sender:COMMIT",
	},
}
