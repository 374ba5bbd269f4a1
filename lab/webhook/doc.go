// Package webhook is the HTTP door of the receivers in package inbox: it lets in what a sender
// signed, and answers so that a retry happens exactly where one can help.
//
// # Order
//
// A request is read up to a limit, its signature verified over the raw bytes, its event mapped and
// checked, stored by a receiver, and only then answered. A bad signature leaves no row, so nobody
// can take an event id away from its true sender. The source of an event is its route's, whatever
// the body says.
//
// # Answers
//
//	200  accepted now, or before (new, stale, duplicate, ignored, rejected or dead for good)
//	400  malformed         401  signature missing, wrong or out of time
//	409  an identity used for something else
//	413  too large         415  not JSON in UTF-8, or compressed
//	404, 405, 408          as HTTP says; net/http itself answers 431 and requests that are no HTTP
//	503  with Retry-After: the database is down or busy, a wait ran out, a change failed, a panic
//
// A success is {"outcome": …}. A failure is a problem in JSON (RFC 9457) whose fields are always
// type, title, status, code, retry and detail; neither repeats anything of a request. Refusals are
// final only once they have their row in webhook_refusal: without the database even a malformed
// body is answered by 503. Never used are 403, 406 and 410, at which some senders stop for good.
//
// A batch is answered by 200 when each of its events was accepted or written down as refused; the
// items of the answer say which. Otherwise all of it comes again, and does no harm.
//
// # Accounts
//
// Each delivery of an authentic sender that was decided has a row in webhook_delivery, and each
// event of a batch counts as one: new, duplicate, conflict or invalid. Receipts write theirs in the
// transaction that decides; other receivers in one right after, see [Entered]. Deliveries that were
// answered by 503 because nothing could be decided are counted in webhook_deliveries_total alone.
// Bad signatures are counted by route and nowhere else.
//
// # What is written about
//
// A log line has the event id, escaped, and the route's own words: its path, its source, the type
// of the event if the route names it. No payload, header, address or secret is put into a log, a
// metric or an error's text. To keep the server's own log as clean, leave pgx's simple protocol
// off, and log_statement and log_parameter_max_length_on_error at their defaults; who adds CHECK
// constraints of their own sets log_error_verbosity = terse, because a failed one quotes its row.
//
// # In production
//
// Serve the handler by an [http.Server] with ReadHeaderTimeout, IdleTimeout and MaxHeaderBytes set,
// and bound its connections: each can hold one body. Stop it by Shutdown, which waits for whatever
// is under way. Give receivers and handler one pool, bounded by [Acquire].
//
// # What signatures don't cover
//
// GitHub and Shopify sign the body and neither the event id nor a time. A captured delivery can be
// sent again under another id, and is a new event to everybody. The view operator_same_body shows
// one body under several ids.
package webhook
