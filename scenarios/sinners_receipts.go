package scenarios

import "webhooklab/lab/flawed"

var atomicSinners = []Sinner{
	{
		Name: "mark_before_effect", Scenario: "atomic_crash_after_claim",
		Kind: "marked before the effect", Law: "effect_iff_processed",
		Harm:     "what dies in between is done on paper only: paid, never shipped",
		Receiver: flawed.MarkBeforeEffect(Change),
	},
	{
		Name: "claim_committed_first", Scenario: "atomic_failure_is_retried",
		Kind:     "claim committed before the handler",
		Harm:     "one passing failure, and the event is lost: its retries are duplicates",
		Receiver: flawed.ClaimCommittedFirst(Change),
	},
	{
		Name: "failure_is_final", Scenario: "atomic_failure_is_retried",
		Kind:     "claim committed before the handler",
		Harm:     "a fault of a minute loses every event of that minute",
		Receiver: flawed.FailureIsFinal(Change),
	},
	{
		Name: "handler_error_swallowed", Scenario: "atomic_failure_is_retried",
		Kind: "database error swallowed", Law: "effect_iff_processed",
		Harm:     "a change that failed is marked as done",
		Receiver: flawed.HandlerErrorSwallowed(Change),
	},
	{
		Name: "effect_outside_transaction", Scenario: "atomic_crash_before_mark",
		Kind:     "two transactions where one is needed",
		Harm:     "a claim that is rolled back leaves its change: the customer is charged twice",
		Receiver: flawed.EffectOutsideTransaction(Change),
	},
	{
		Name: "failure_overwrites_success", Scenario: "atomic_failure_races_success",
		Kind: "older overwrites newer", Law: "effect_iff_processed",
		Harm:     "the late record of a failure has a finished change made again",
		Receiver: flawed.FailureOverwritesSuccess(Change),
	},
	{
		Name: "permanent_failure_retried", Scenario: "atomic_permanent_failure",
		Kind:     "retried without end, bound or pause",
		Harm:     "the sender is asked for days for what can never succeed",
		Receiver: flawed.PermanentFailureRetried(Change),
	},
	{
		Name: "unhandled_type_is_an_error", Scenario: "atomic_ignored_type",
		Kind:     "unhandled type is an error",
		Harm:     "the provider adds a type of event, and disables the endpoint that refuses it",
		Receiver: flawed.UnhandledTypeIsAnError(Change),
	},
}

var leasedSinners = []Sinner{
	{
		Name: "plain_select_claim", Scenario: "leased_workers_share_nothing",
		Kind:     "claim by plain SELECT",
		Harm:     "every replica makes every change",
		Receiver: flawed.PlainSelectClaim(Change),
	},
	{
		Name: "skip_locked_in_autocommit", Scenario: "leased_workers_share_nothing",
		Kind:     "SKIP LOCKED in autocommit",
		Harm:     "under load two workers make the same change",
		Receiver: flawed.SkipLockedInAutocommit(Change),
	},
	{
		Name: "claim_waits_in_line", Scenario: "leased_workers_share_nothing",
		Kind:     "workers in each other's way",
		Harm:     "ten workers do the work of one",
		Receiver: flawed.ClaimWaitsInLine(Change),
	},
	{
		Name: "claim_newest_first", Scenario: "leased_workers_take_their_own",
		Kind:     "workers in each other's way",
		Harm:     "under a backlog the oldest events are never reached",
		Receiver: flawed.ClaimNewestFirst(Change),
	},
	{
		Name: "lease_never_reclaimed", Scenario: "leased_crash_after_claim",
		Kind:     "lease never reclaimed",
		Harm:     "each deploy leaves some events in processing for ever",
		Receiver: flawed.LeaseNeverReclaimed(Change),
	},
	{
		Name: "lease_shorter_than_work", Scenario: "leased_slow_change",
		Kind:     "lease shorter than the work",
		Harm:     "slow events are taken away from each worker, until they are dead",
		Receiver: flawed.LeaseShorterThanWork(Change),
	},
	{
		Name: "completion_not_fenced", Scenario: "leased_paused_completion",
		Kind:     "not fenced by a token",
		Harm:     "a worker that was paused too long makes a change that was made",
		Receiver: flawed.CompletionNotFenced(Change),
	},
	{
		Name: "heartbeat_not_fenced", Scenario: "leased_paused_heartbeat",
		Kind: "not fenced by a token", Same: "completion_not_fenced",
		Harm:     "a worker that lost its lease keeps another's alive, and never learns of it",
		Receiver: flawed.HeartbeatNotFenced(Change),
	},
	{
		Name: "failure_not_fenced", Scenario: "leased_paused_failure",
		Kind: "not fenced by a token", Same: "completion_not_fenced",
		Harm:     "a worker that lost its lease fails the attempt of another",
		Receiver: flawed.FailureNotFenced(Change),
	},
	{
		Name: "release_not_fenced", Scenario: "leased_paused_release",
		Kind: "not fenced by a token", Same: "completion_not_fenced",
		Harm:     "a worker that lost its lease gives away what another works on",
		Receiver: flawed.ReleaseNotFenced(Change),
	},
	{
		Name: "recovery_of_a_stale_read", Scenario: "leased_completed_before_recovery",
		Kind:     "rescue on a stale read",
		Harm:     "an attempt that ended in time is thrown away, and its change made again",
		Receiver: flawed.RecoveryOfAStaleRead(Change),
	},
	{
		Name: "recovery_uncounted", Scenario: "leased_killed_by_its_payload",
		Kind:     "reclaim counts no attempt",
		Harm:     "one payload kills one worker after the other, for ever",
		Receiver: flawed.RecoveryUncounted(Change),
	},
	{
		Name: "attempts_unbounded", Scenario: "leased_dead_after_last_attempt",
		Kind:     "retried without end, bound or pause",
		Harm:     "what can't succeed is tried for ever, and nobody is told",
		Receiver: flawed.AttemptsUnbounded(Change),
	},
	{
		Name: "failure_without_backoff", Scenario: "leased_failure_is_retried",
		Kind:     "retried without end, bound or pause",
		Harm:     "all attempts are used up in the second in which a dependency is away",
		Receiver: flawed.FailureWithoutBackoff(Change),
	},
	{
		Name: "effect_before_completion", Scenario: "leased_crash_after_change",
		Kind: "two transactions where one is needed", Same: "effect_outside_transaction",
		Harm:     "what dies in between makes its change again",
		Receiver: flawed.EffectBeforeCompletion(Change),
	},
}
