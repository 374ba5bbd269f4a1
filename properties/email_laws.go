package properties

import "webhooklab/lab"

// Emails are the laws of email status, demanded after every run.
var Emails = []lab.Invariant{EmailAckedIsKept, EmailStatusIsHighest, EmailFlagsAreKept}

// EmailAckedIsKept: an acknowledged event is in the history, whether it moved anything or not.
var EmailAckedIsKept = lab.Invariant{
	Name: "email_acked_is_kept",
	Law:  "an acknowledged email event is in the history",
	SQL: `
SELECT a.source, a.event_id
  FROM acked AS a
 WHERE NOT EXISTS (
	SELECT FROM history AS h
	 WHERE h.source = a.source AND h.event_id = a.event_id
 )`,
}

// EmailStatusIsHighest: a state depends on which events there are, and on nothing else. The ranks
// are spelt out here once more, so that this is no copy of what the receiver asks.
var EmailStatusIsHighest = lab.Invariant{
	Name: "email_status_is_highest",
	Law:  "a recipient stands at the highest rank of the events that no correction voids",
	SQL: `
SELECT s.source, s.message_id, s.recipient, s.rank AS stored, counted.rank AS counted
  FROM statuses AS s
  CROSS JOIN LATERAL (
	SELECT coalesce(max(CASE
	       WHEN h.type IN ('accepted', 'queued', 'sent', 'processed') THEN 1
	       WHEN h.type IN ('deferred', 'delayed', 'soft_bounce', 'soft_bounced') THEN 2
	       WHEN h.type = 'delivered' THEN 3
	       WHEN h.type IN ('bounced', 'hard_bounce', 'hard_bounced', 'dropped', 'failed') THEN 4
	       WHEN h.type = 'complained' THEN 5
	       END), 0) AS rank
	  FROM history AS h
	 WHERE h.source = s.source
	   AND h.message_id = s.message_id
	   AND h.recipient = s.recipient
	   AND NOT EXISTS (
		SELECT FROM history AS v
		 WHERE v.source = h.source AND v.voids = h.event_id)
  ) AS counted
 WHERE s.rank <> counted.rank`,
}

// EmailFlagsAreKept: an opened mail stays opened whatever else happens to it.
var EmailFlagsAreKept = lab.Invariant{
	Name: "email_flags_are_kept",
	Law:  "opened, clicked and unsubscribed stand beside the rank, each once it was said",
	SQL: `
SELECT s.source, s.message_id, s.recipient, s.opened, s.clicked, s.unsubscribed
  FROM statuses AS s
  CROSS JOIN LATERAL (
	SELECT coalesce(bool_or(h.type = 'opened'), false) AS opened,
	       coalesce(bool_or(h.type = 'clicked'), false) AS clicked,
	       coalesce(bool_or(h.type = 'unsubscribed'), false) AS unsubscribed
	  FROM history AS h
	 WHERE h.source = s.source
	   AND h.message_id = s.message_id
	   AND h.recipient = s.recipient
	   AND NOT EXISTS (
		SELECT FROM history AS v
		 WHERE v.source = h.source AND v.voids = h.event_id)
  ) AS said
 WHERE (s.opened, s.clicked, s.unsubscribed)
       IS DISTINCT FROM (said.opened, said.clicked, said.unsubscribed)`,
}
