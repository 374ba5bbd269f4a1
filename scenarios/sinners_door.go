package scenarios

import "webhooklab/lab/flawed"

var doorSinners = []Sinner{
	{
		Name: "door_trusts_anybody", Scenario: "door_forged_first",
		Kind:     "claim before the signature check",
		Harm:     "anybody can write events, or take the ids of real ones",
		Receiver: doorWith(flawed.DoorTrustsAnybody),
	},
	{
		Name: "door_claims_before_verifying", Scenario: "door_forged_first",
		Kind:     "claim before the signature check",
		Harm:     "anybody can take the ids of real events, which are conflicts then",
		Receiver: doorWith(flawed.DoorClaimsBeforeVerifying),
	},
	{
		Name: "door_signature_over_reserialised", Scenario: "door_written_otherwise",
		Kind:     "signature over re-serialised JSON",
		Harm:     "the sender changes its JSON library, and none of its events is let in",
		Receiver: doorWith(flawed.DoorSignatureOverReserialised),
	},
	{
		Name: "door_first_signature_only", Scenario: "door_rotated_secret",
		Kind:     "one of several signatures",
		Harm:     "no event is let in while the sender rotates its secret",
		Receiver: doorWith(flawed.DoorFirstSignatureOnly),
	},
	{
		Name: "door_last_signature_only", Scenario: "door_rotated_secret",
		Kind: "one of several signatures", Same: "door_first_signature_only",
		Harm:     "no event is let in while the sender rotates its secret",
		Receiver: doorWith(flawed.DoorLastSignatureOnly),
	},
	{
		Name: "door_source_from_body", Scenario: "door_source_in_body",
		Kind:     "key without tenant or endpoint",
		Harm:     "a tenant writes into the events of another",
		Receiver: doorWith(flawed.DoorSourceFromBody),
	},
	{
		Name: "door_source_by_address", Scenario: "door_migration",
		Kind:     "key without tenant or endpoint",
		Harm:     "while a provider moves to a new address each event counts twice",
		Receiver: doorWith(flawed.DoorSourceByAddress),
	},
	{
		Name: "door_duplicate_is_an_error", Scenario: "door_applied",
		Kind:     "unique violation answered as an error",
		Harm:     "the sender retries for days what was stored at once",
		Receiver: doorWith(flawed.DoorDuplicateIsAnError),
	},
	{
		Name: "door_swallows_unavailable", Scenario: "door_commit_lost_fin",
		Kind:     "database error swallowed",
		Harm:     "every event that comes while the database is away is lost",
		Receiver: doorWith(flawed.DoorSwallowsUnavailable),
	},
	{
		Name: "door_blames_the_sender", Scenario: "door_commit_lost_fin",
		Kind:     "passing fault answered as final",
		Harm:     "the sender drops every event that comes while the database is away",
		Receiver: doorWith(flawed.DoorBlamesTheSender),
	},
	{
		Name: "door_batch_in_one_statement", Scenario: "door_batch",
		Kind:     "batch with a key twice fails whole",
		Harm:     "a batch that holds an object twice is retried for days, all of it",
		Receiver: doorWith(flawed.DoorBatchInOneStatement),
	},
	{
		Name: "door_batch_spoilt_by_one", Scenario: "door_batch",
		Kind:     "bad item poisons its batch",
		Harm:     "one bad item, and the good ones of its batch are lost with it",
		Receiver: doorWith(flawed.DoorBatchSpoiltByOne),
	},
}
