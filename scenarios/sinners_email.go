package scenarios

import "webhooklab/lab/flawed"

var emailSinners = []Sinner{
	{
		Name: "email_last_writer_wins", Scenario: "email_forward_only",
		Kind: "status regresses", Law: "email_status_is_highest",
		Harm:     "a late delivery report hides a complaint, and mail goes on to who complained",
		Receiver: flawed.EmailLastWriterWins,
	},
	{
		Name: "email_flag_is_a_rank", Scenario: "email_flags_stand_beside",
		Kind:     "status regresses",
		Harm:     "a scanner opens a mail, and it counts as delivered",
		Receiver: flawed.EmailFlagIsARank,
	},
	{
		Name: "email_by_timestamp", Scenario: "email_ties_in_time",
		Kind: "whole seconds as order", Law: "email_status_is_highest",
		Harm:     "of two events of one second the last to arrive stands",
		Receiver: flawed.EmailByTimestamp,
	},
	{
		Name: "email_tie_to_first", Scenario: "email_ties_in_time", Same: "email_by_timestamp",
		Kind: "whole seconds as order", Law: "email_status_is_highest",
		Harm:     "of two events of one second the first to arrive stands",
		Receiver: flawed.EmailTieToFirst,
	},
	{
		Name: "email_dropped_early", Scenario: "email_before_its_message",
		Kind: "event before its object is dropped", Law: "email_acked_is_kept",
		Harm:     "the bounce of a fast provider is acknowledged and lost",
		Receiver: flawed.EmailDroppedEarly,
	},
	{
		Name: "email_without_lock", Scenario: "email_while_message_is_added",
		Kind:     "check-then-insert race",
		Harm:     "event and message miss each other, and the event counts for nothing",
		Receiver: flawed.EmailWithoutLock,
	},
	{
		Name: "email_correction_forgotten", Scenario: "email_corrected_beforehand",
		Kind: "correction forgotten", Law: "email_status_is_highest",
		Harm:     "an address that was cleared stays blocked, because the bounce came late",
		Receiver: flawed.EmailCorrectionForgotten,
	},
}
