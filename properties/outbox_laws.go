package properties

import "webhooklab/lab"

// Outbox are the laws of effects outside the database, demanded after every run.
var Outbox = []lab.Invariant{
	MessageIffChange, AckedIsEnqueued, SentWasCalled, CalledWasEnqueued, OneMail,
}

// MessageIffChange: the message is written in the transaction of the change that causes it.
var MessageIffChange = lab.Invariant{
	Name: "message_iff_change",
	Law:  "a message is there if and only if the change that causes it is",
	SQL: `
SELECT coalesce(m.source, e.source) AS source, m.key, e.event_id
  FROM messages AS m
  FULL JOIN effects AS e
    ON e.source = m.source
   AND e.event_id = m.key
 WHERE m.source IS NULL OR e.source IS NULL`,
}

// AckedIsEnqueued: change and message are not lost together either.
var AckedIsEnqueued = lab.Invariant{
	Name: "acked_is_enqueued",
	Law:  "an acknowledged change has its message",
	SQL: `
SELECT a.source, a.event_id
  FROM acked AS a
 WHERE NOT EXISTS (SELECT FROM messages AS m WHERE m.source = a.source AND m.key = a.event_id)`,
}

// SentWasCalled: no message is marked that was not sent.
var SentWasCalled = lab.Invariant{
	Name: "sent_was_called",
	Law:  "what the outbox says was sent has reached the system outside",
	SQL: `
SELECT m.source, m.key
  FROM messages AS m
 WHERE m.status = 'sent'
   AND NOT EXISTS (SELECT FROM calls AS c WHERE c.source = m.source AND c.key = m.key)`,
}

// CalledWasEnqueued: nothing is sent for a change that was rolled back, and every try carries the
// key that was enqueued.
var CalledWasEnqueued = lab.Invariant{
	Name: "called_was_enqueued",
	Law:  "the system outside is called for committed messages only, under their keys",
	SQL: `
SELECT c.source, c.key
  FROM calls AS c
 WHERE NOT EXISTS (SELECT FROM messages AS m WHERE m.source = c.source AND m.key = c.key)`,
}

// OneMail: what the system outside did for its calls, it did once for each key.
var OneMail = lab.Invariant{
	Name: "one_mail",
	Law:  "a key has one effect outside, however often it was sent",
	SQL: `
SELECT coalesce(c.source, m.source) AS source, coalesce(c.key, m.key) AS key, m.mails
  FROM (SELECT DISTINCT source, key FROM calls) AS c
  FULL JOIN (SELECT source, key, count(*) AS mails FROM mails GROUP BY source, key) AS m
    ON m.source = c.source
   AND m.key = c.key
 WHERE m.mails IS DISTINCT FROM 1`,
}
