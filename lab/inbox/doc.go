// Package inbox holds receivers of webhooks that are safe to retry: an event takes effect once,
// however often, late, overlapping or out of order it is delivered. PostgreSQL owns that rule, in
// the constraints of schema.sql; looking first and inserting then can't, because two workers pass
// the look together.
//
// # Snapshots
//
// [Snapshots] receives events that carry an object's complete state and its revision. It promises:
//
//   - An event is accepted at most once per source, and so is a revision of an object.
//   - The object's state is the accepted snapshot with the greatest revision. It never goes back.
//   - Event and state are committed together, or neither is.
//   - An outcome is returned only after COMMIT has. Whoever answers the sender from it never
//     acknowledges what isn't stored.
//   - A conflict or an invalid event changes nothing but its row in webhook_refusal.
//   - What can't be told apart from a failure is one: [ErrUnavailable], and the next delivery of
//     the event finds out. If a lost COMMIT did take place, that delivery is a [Duplicate].
//
// It relies on the sender for this: an event id always comes with the same content, a revision of
// an object has one event id, revisions grow (gaps do no harm), and each snapshot is complete.
//
// It does not promise:
//
//   - Anything about deltas. "Add 10" applied by this rule loses every delta that is overtaken.
//     Without ordered revisions, or a place to fetch the true state from, no receiver can make an
//     order that isn't there.
//   - Anything about other writers. An UPDATE of object_state without the revision guard undoes
//     the second promise, and a DELETE from webhook_inbox the first one.
//   - Memory beyond retention. A purged event is new when it comes again: keep rows for longer than
//     the sender goes on retrying, and purge while no delivery of those events can be under way.
//   - Durability beyond the server's own: synchronous_commit off loses acknowledged events.
//
// # Receipts
//
// Any other event gets a receipt, and a [Change] of yours for what it means. There are two ways:
// [Atomic] makes the change in the transaction that accepts the event, for short work in this
// database. [Intake] accepts it, for a [Worker] to process under a lease, alone or in a [Pool].
// Both promise:
//
//   - One event, one receipt, one committed change, however many copies come. A copy in flight is
//     waited for, no longer than LockTimeout.
//   - The change and the receipt that says so are committed together. What a change does outside
//     its transaction is not covered: leave that to the outbox.
//   - The receipt goes only through the steps that its trigger allows, and each of them stands in
//     receipt_transition. What is processed or rejected is so for good.
//   - A failure is recorded with its reason, and never over a success.
//
// After a failure of [Atomic] it is the sender's next delivery that tries again, or nobody: a
// sender that gives up leaves the receipt failed. After one of a [Worker] a backoff follows, and
// after the last attempt the receipt is dead until somebody calls [Requeue].
//
// A worker's lease is a token and a time. From that time on another may take the receipt away, and
// makes a new token with that; without the current one nothing can be finished, so that a worker
// that slept too long finds its change rolled back. Attempts are counted when they begin: an event that kills
// its process comes to an end as well, and the backoff after a lost lease parts it from those that
// it took along.
//
// Receipts are claimed in the order in which they became due, and finished in any order. There is
// none among the events of one object: a change that needs it has to guard it, as [Snapshots] does.
//
// A claim reads a few pages however long the backlog is, unless a transaction stays open for long,
// such as a dump's: it keeps the entries of receipts that are done in the way. Vacuum needs to come
// often, and the table asks for that.
//
// Tokens and attempts are as durable as commits are. With synchronous_commit off, or after a
// fail-over that lost commits, the same token can be handed out twice.
//
// # Email status
//
// [Emails] receives what a mail provider says became of a message. It promises, for each message
// and recipient:
//
//   - The status is the highest rank that an event gave, the flags are all that were ever set. No
//     time and no order of arrival decides. Only a [Correction] can lower it: to what the events
//     say that remain.
//   - The same events and corrections end in the same row, byte for byte.
//   - An event that comes before its message is kept, and counts in the transaction that makes the
//     message known. Neither can miss the other, nor an event its correction.
//   - Each event and correction is in the history once, whatever it moved.
//
// It relies on the provider for event ids as [Snapshots] does, and for a message id of its own on
// each message that is sent anew. It doesn't promise a status that stays true after rows of
// email_event were deleted: purge a message's history together with its rows of email_status.
//
// # Outbox
//
// What can't be rolled back, such as a mail or a charge, has no place in a transaction. [Enqueue]
// writes it down inside, and a [Dispatcher] has it done outside, at least once:
//
//   - A message is sent if and only if the transaction that enqueued it was committed.
//   - Every try carries the same key. A try that may have succeeded is repeated, so the effect
//     happens once only if the downstream knows a key again. No code on this side can replace
//     that.
//   - It ends as sent, as rejected by a [Permanent] refusal, or as dead after its attempts, which
//     [RequeueMessage] extends. Nothing stays claimed for ever.
//
// It promises no order, and forgets a key when its row is purged: keep rows for longer than their
// causes can recur. Requeue nothing that is older than the downstream's own memory of keys.
//
// # In production
//
// Load schema.sql once into a database encoded in UTF8, and share one receiver on a *pgxpool.Pool
// among all handlers, as the example shows. A delivery takes one connection at a time, so a pool
// of one is slow and never stuck. Statement caches may be on: after a migration the receiver plans
// anew by itself. Give each call a context that ends a little before the sender's own time-out.
//
// The source is yours to choose: one for each namespace of event ids, such as provider and account.
// Derive it from the route and the key that verified the signature. What a body says about itself
// is no authority, so a "source" in it has no effect.
//
// # Waiting, sizes, errors
//
// [Options] bound every wait, by the server's clock and by the context. A transaction that the
// server gave up for a deadlock (40P01) or a serialization failure (40001) is tried again inside, a
// few times, after some milliseconds. Nothing else is: the sender retries anyway.
//
// Sizes are in bytes of UTF-8. Limits are checked before any SQL, lie below the server's own, and
// so don't move with its settings.
//
// Every error is an [*Error] of one kind; its text is fit for logs.
package inbox
