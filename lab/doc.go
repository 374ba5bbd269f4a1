// Package lab drives sessions over a controlled wire to a real PostgreSQL and judges what happened.
//
// A [Scenario] tells a story: sessions deliver events to a [Receiver], are held before chosen
// commands, are proved to wait for one another, lose an acknowledgement, and learn an [Answer].
// The lab steps them one command at a time and lets the next step go out only when every session
// is seen finished, held, or blocked again. What came of it is a [Report]: a [Verdict], the
// transcript, the [History] and the locks that were seen.
//
// Nothing of this needs a hook in the receiver: it is given a DSN, and the wire behind that DSN
// (package toxiproxy) holds and cuts its commands.
package lab
