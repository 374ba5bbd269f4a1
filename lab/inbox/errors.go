package inbox

import (
	"errors"
	"strings"
)

// The kinds of failure. Every error of this package matches exactly one by [errors.Is].
var (
	// ErrReusedEventID: the source sent this event id before, with other content.
	// A retry can't help, investigate the sender.
	ErrReusedEventID = errors.New("the event id was accepted before with other content")
	// ErrReusedRevision: this revision of the object belongs to another event id already, whether
	// or not the two snapshots agree. A retry can't help, investigate the sender.
	ErrReusedRevision = errors.New("the revision was accepted before under another event id")
	// ErrInvalid: the delivery breaks the shape that the event's type describes.
	// A retry can't help.
	ErrInvalid = errors.New("the delivery is invalid")
	// ErrUnavailable: nothing is known to be stored. The same delivery can be made again later; if
	// a lost COMMIT did store it, that one answers duplicate.
	ErrUnavailable = errors.New("the database could not do it now")
	// ErrLeaseLost: another took the row over after the lease had expired, or the attempt is over
	// already. The call changed nothing, and what its change did is rolled back. Stop this attempt.
	ErrLeaseLost = errors.New("the lease was lost")
	// ErrReusedKey: another message of the topic was enqueued under this idempotency key. A retry
	// can't help, derive the key from what causes the effect.
	ErrReusedKey = errors.New("the key was enqueued before with another payload")
)

// Error says what was tried, how it failed and what to do. Its text is fit for logs: it holds
// neither payload nor ids nor the server's words, which may quote them. The server's own error is
// reached through [errors.As].
type Error struct {
	// Step is what was tried: check, begin, claim, look up, advance, change, mark, record, commit;
	// lock and apply of email, enqueue of the outbox;
	// or a step of a lease: heartbeat, complete, fail, release, recover, requeue.
	Step string
	// Kind is one of the errors above.
	Kind error
	// Reason is a stable name in snake case, such as snapshot_too_deep; at most 100 bytes.
	Reason string
	// Constraint names the constraint that refused the delivery, if one did.
	Constraint string
	// SQLSTATE is the server's code, if the server spoke.
	SQLSTATE string
	// Unrecorded is why the refusal has no row in webhook_refusal, or the failure none in
	// webhook_receipt; nil if it has one or needs none. It takes no part in [errors.Is]: a conflict
	// stays a conflict.
	Unrecorded error

	cause error
	retry retry
}

// Error names step, kind, reason and codes, then what to do next.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("inbox: " + e.Step + ": " + e.Kind.Error() + ": " + e.Reason)
	if e.SQLSTATE != "" {
		text.WriteString(" (SQLSTATE " + e.SQLSTATE + ")")
	}
	if e.Constraint != "" {
		text.WriteString(" (constraint " + e.Constraint + ")")
	}
	text.WriteString(": " + advice(e.Kind))
	if e.Unrecorded != nil {
		text.WriteString("; no refusal row was written: " + e.Unrecorded.Error())
	}
	return text.String()
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

func advice(kind error) string {
	switch kind {
	case ErrUnavailable:
		return "deliver it again later"
	case ErrInvalid:
		return "do not deliver it again as it is"
	case ErrLeaseLost:
		return "stop, another attempt has it"
	case ErrReusedKey:
		return "roll back, and derive the key from what causes the effect"
	default:
		return "do not deliver it again, investigate the sender"
	}
}

// asError keeps a nil *Error from becoming an error that is not nil.
func asError(failure *Error) error {
	if failure == nil {
		return nil
	}
	return failure
}

func invalid(reason string) *Error {
	return &Error{Step: "check", Kind: ErrInvalid, Reason: reason}
}
