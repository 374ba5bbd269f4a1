package scenarios

// sameLaw says of a law that programs and drawn sequences are judged by which laws of the sinners'
// registry it tells in other words, or contains: who breaks one of those has broken it too, and not
// by another mistake.
var sameLaw = map[string][]string{
	// A state that is not the greatest is one that was stepped back to, or not stepped on from.
	"projection_is_greatest": {"never_steps_back", OlderWaitsForNewer.Law},
	"never_steps_back":       {"projection_is_greatest", OlderWaitsForNewer.Law},
	greatest:                 {OlderWaitsForNewer.Law},

	// The answer that the model gives is decided by one of these, from what was sent and nothing else.
	modelled: {
		ExactRetry.Law, ReusedRevision.Law, ReusedEventIDOtherObject.Law,
		SameJSONWrittenOtherwise.Law, SourcesStayApart.Law, LongIDsStayApart.Law,
		InvalidLeavesNoTrace.Law, BackfilledProjection.Law, AtomicFailureIsRetried.Law,
		AtomicPermanentFailure.Law, AtomicIgnoredType.Law, LeasedFailureIsRetried.Law,
		LeasedDeadAfterLastAttempt.Law, LeasedCrashAfterClaim.Law, LeasedPausedCompletion.Law,
		LeasedKilledByItsPayload.Law, DoorApplied.Law,
	},

	// What is stored under a cut id, or under another's, is not stored as it was delivered; nor is
	// what was acknowledged although its COMMIT was cut.
	"acked_is_stored": {
		LongIDsStayApart.Law, SourcesStayApart.Law, DoorSourceInBody.Law, hopCut,
	},

	// What a cut has left of a transaction, or has made of the retry, in the sweep's own words.
	"what was not committed never was":     {AtomicCrashBeforeMark.Law, hopCut},
	"what was committed is not done again": {LeasedCrashAfterChange.Law, hopCut},
	"what was cut ends as if it had not been": {
		LeasedCrashAfterClaim.Law, LeasedCrashAfterChange.Law, hopCut,
	},
	"effect_iff_processed": {AtomicCrashBeforeMark.Law, LeasedCrashAfterChange.Law},

	// A message that is marked before it is sent is one that is not sent.
	"sent_was_called": {OutboxCrashBeforeMark.Law},

	// Whoever comes first: the programs say it of all orders at once.
	oneRevision: {ReusedRevision.Law},
	oneID:       {ReusedEventIDOtherObject.Law},

	// An event and a message that miss each other leave a status that counts too little.
	"email_status_is_highest": {EmailWhileMessageIsAdded.Law},
	neverMiss:                 {EmailWhileMessageIsAdded.Law, "email_acked_is_kept"},

	// A receipt that two workers take at once has its change made twice, and so has one whose change
	// stands there without its mark as soon as its event comes again.
	takenOnce: {LeasedWorkersShareNothing.Law},
	"one_effect": {
		"effect_iff_processed", LeasedWorkersShareNothing.Law, LeasedPausedCompletion.Law,
		LeasedCrashAfterChange.Law, AtomicCrashBeforeMark.Law,
	},

	// The sentence of the stories about paused workers goes on, about what they did.
	notFenced: {LeasedPausedCompletion.Law},
	"a dispatcher that outlived its lease marks nothing": {OutboxPausedDispatcher.Law},
}
