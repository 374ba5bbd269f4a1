package scenarios

import (
	"slices"

	"webhooklab/lab"
	"webhooklab/properties"
)

// SnapshotSuite is the contract of revisioned snapshots, in the order in which a newcomer reads it.
var SnapshotSuite = Suite{
	Name:     "snapshots",
	Title:    "Snapshots: revisioned states of objects",
	Receiver: Snapshots,
	State:    lab.ReferenceState,
	Laws:     properties.Snapshots,
	Audit:    properties.Audit,
	Audited:  []lab.Invariant{properties.NeverStepsBack},
	Programs: slices.Concat(SnapshotPrograms, SnapshotInputs, []lab.Program{revisionsAtOnce}),
	Swept:    sweptSnapshots,
	Scenarios: []lab.Scenario{
		FirstDelivery,
		ExactRetry,
		RetryDuringCommit,
		RetryAfterRollback,
		CopiesReleasedTogether,

		ReusedEventIDOtherObject,
		ReusedEventIDOtherRevision,
		ReusedEventIDOtherSnapshot,
		ReusedEventIDObjectInFlight,
		ReusedEventIDRevisionInFlight,
		ReusedEventIDSnapshotInFlight,
		TrueIsNotOne,
		SameJSONWrittenOtherwise,
		ReusedRevision,
		ReusedRevisionSameSnapshot,
		ReusedRevisionInFlight,
		SourcesStayApart,
		LongIDsStayApart,

		NewerThenOlder,
		RevisionGap,
		ShuffledSequence,
		OlderWaitsForNewer,
		NewerWaitsForOlder,
		RevisionsReleasedTogether,
		BackfilledProjection,
		LateUpdateAfterDelete,

		ConnectionLostBeforeCommit,
		CommitRequestLostFIN,
		CommitRequestLostRST,
		CommitRequestLostHang,
		CommitAckLostFIN,
		CommitAckLostRST,
		CommitAckLostHang,
		CommitAckLostInFlight,
		DeadlockReceiverRetries,
		DeadlockWriterGivesUp,
		DeadlockWriterRollsBack,
		SerializableByDefault,
		PatientByDefault,
		ServerKilledBeforeCommit,
		ServerKilledAfterAck,

		InvalidLeavesNoTrace,
		RetryAfterDays,
		MigrationBetweenDeliveries,
		RefusedAgain,
	},
	NotPromised: snapshotsDoNotPromise,
}

// paid is the event that most stories are told about.
var paid = lab.Delivery{
	Source: "shop", EventID: "evt_paid", ObjectID: "order", Revision: 1,
	Snapshot: []byte(`{"value": true}`),
}

// revision is one of a series of snapshots of one order.
func revision(n int64) lab.Delivery {
	return lab.Delivery{
		Source: "shop", EventID: "evt_" + string(rune('0'+n)), ObjectID: "order", Revision: n,
		Snapshot: []byte(`{"total": ` + string(rune('0'+n)) + `0}`),
	}
}
