// Package lab drives sessions over a controlled wire to a real PostgreSQL and judges what happened.
//
// A [Scenario] tells a story: sessions deliver events to a [Receiver], are held before chosen
// commands, are proved to wait for one another, lose an acknowledgement, and learn an [Answer].
// The lab steps them one command at a time and lets the next step go out only when every session
// is seen finished, held, or blocked again. What came of it is a [Report]: a [Verdict], the
// transcript, the [History] and the locks that were seen.
//
// A [Program] tells no story: sessions, what each does, and which answers some order may give.
// [Lab.Explore] runs it in every order that is possible, a [Schedule] a line, and [Lab.Replay] runs
// one of them again. What PostgreSQL itself decides (who wakes first, who dies in a deadlock) is a
// branch of the tree on servers that the lab started; statements that race inside PostgreSQL are
// stopped at gates there. [Lab.Sweep] cuts at every command, by every fault.
//
// Nothing of this needs a hook in the receiver: it is given a DSN, and the wire behind that DSN
// (package toxiproxy) holds and cuts its commands.
package lab
