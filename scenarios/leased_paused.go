package scenarios

import "webhooklab/lab"

// A worker is paused, by its garbage collector or its laptop's lid, until its lease has expired and
// another has finished the receipt. Whatever it does when it wakes must change nothing.
var (
	LeasedPausedHeartbeat  = leasedPaused("leased_paused_heartbeat", beats)
	LeasedPausedCompletion = leasedPaused("leased_paused_completion", completes)
	LeasedPausedFailure    = leasedPaused("leased_paused_failure", fails)
	LeasedPausedRelease    = leasedPaused("leased_paused_release", releases)
)

func leasedPaused(name string, wakes func(*lab.Session) *lab.Session) lab.Scenario {
	return lab.Scenario{
		Name: name,
		Law:  "a worker that outlived its lease changes nothing, and what it did is rolled back",
		Play: func(l *lab.Lab) {
			sender, paused, other := l.Session("sender"), l.Session("paused"), l.Session("other")
			sender.Deliver(order("evt", "paid")).Answers(accepted)
			claims(paused).Answers(claimed)
			expire(l)
			recovers(other).Answers(recovered(1))
			due(l)

			claims(other).Answers(claimed)
			wakes(paused).Answers(leaseLost)
			completes(other).Answers(processed)
			wakes(paused).Answers(leaseLost)

			l.Shows(1, "effects")
		},
	}
}

// Recovery has taken the receipt away, not yet committed, when its worker completes: the completion
// waits, and must then see that it is too late.
var LeasedExpiresWhileCompletionWaits = lab.Scenario{
	Name:       "leased_expires_while_completion_waits",
	Law:        "a completion that waited for the recovery of its own lease is void",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		sender, worker, keeper := l.Session("sender"), l.Session("worker"), l.Session("keeper")
		sender.Deliver(order("evt", "paid")).Answers(accepted)
		claims(worker).Answers(claimed)
		expire(l)

		recovers(keeper).HoldBefore("COMMIT")
		completes(worker).BlockedBy(keeper)
		keeper.Release()

		keeper.Answers(recovered(1))
		worker.Answers(leaseLost)
		l.Shows(0, "effects")
	},
}

// The other way round: the completion is there first. Recovery doesn't wait, and leaves it alone.
var LeasedRecoveryMeetsCompletion = lab.Scenario{
	Name:       "leased_recovery_meets_completion",
	Law:        "an expired lease whose completion is under way is left to it",
	Concurrent: true,
	Play: func(l *lab.Lab) {
		sender, worker, keeper := l.Session("sender"), l.Session("worker"), l.Session("keeper")
		sender.Deliver(order("evt", "paid")).Answers(accepted)
		claims(worker).Answers(claimed)
		expire(l)

		completes(worker).HoldBefore("COMMIT")
		recovers(keeper).NotBlocked().Answers(recovered(0))
		worker.Release()

		worker.Answers(processed)
		works(keeper).Answers(idle)
		l.Shows(1, "effects")
	},
}

// Recovery is on its way when the completion is made, late and still fenced. What recovery decides
// it must decide in the statement that writes: what it has seen before may be over.
var LeasedCompletedBeforeRecovery = lab.Scenario{
	Name: "leased_completed_before_recovery",
	Law:  "recovery takes nothing back that was completed before its word",
	Play: func(l *lab.Lab) {
		sender, worker, keeper := l.Session("sender"), l.Session("worker"), l.Session("keeper")
		sender.Deliver(order("evt", "paid")).Answers(accepted)
		claims(worker).Answers(claimed)
		expire(l)

		recovers(keeper).HoldBefore("UPDATE webhook_receipt")
		completes(worker).Answers(processed)

		keeper.Answers(recovered(0))
		works(keeper).Answers(idle)
		l.Shows(1, "effects")
	},
}
