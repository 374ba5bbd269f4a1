package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// refusal is one delivery that was at fault itself.
type refusal struct {
	source, eventID    string
	reason, constraint string
	digest             [sha256.Size]byte
}

const refuseSQL = `INSERT INTO webhook_refusal AS known
    (source, event_id, reason, digest, constraint_name)
VALUES ($1, $2, $3, $4, nullif($5, ''))
ON CONFLICT (source, event_id, reason, digest) DO UPDATE
SET deliveries = known.deliveries + 1, -- a sender that insists adds no rows
    last_seen = clock_timestamp()
RETURNING deliveries`

// record writes or counts the refusal, in a transaction of its own that nothing can roll back with
// the delivery's.
func (run runner) record(ctx context.Context, r refusal) error {
	return asError(run(ctx, r.record))
}

// record writes or counts the refusal in an open transaction.
func (r refusal) record(in statements) *Error {
	var deliveries int64
	err := in.row(refuseSQL,
		printable(r.source, maxSourceBytes), printable(r.eventID, maxTextBytes),
		r.reason, r.digest[:], r.constraint,
	).Scan(&deliveries)
	if err != nil {
		return failed("record", err)
	}
	return nil
}

// printable gives s itself if a text column of that many bytes can hold it, otherwise an escaped
// form of it, cut where it would be longer.
func printable(s string, limit int) string {
	if s == "" || textProblem(s, limit) == "" {
		return s
	}
	const ellipsis = "…"
	var text strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		part := s[:size]
		if r == 0 || r == utf8.RuneError && size == 1 {
			part = fmt.Sprintf(`\x%02x`, s[0])
		}
		if text.Len()+len(part) > limit-len(ellipsis) {
			return text.String() + ellipsis
		}
		text.WriteString(part)
		s = s[size:]
	}
	return text.String()
}

// digest stands for the body of an event that came without one.
func (e SnapshotEvent) digest() [sha256.Size]byte {
	revision := strconv.FormatInt(e.Revision, 10)
	return fieldsDigest(e.EventID, e.ObjectID, string(e.Snapshot), revision)
}

// fieldsDigest tells lists of texts apart wherever the cuts between them lie.
func fieldsDigest(fields ...string) (sum [sha256.Size]byte) {
	hash := sha256.New()
	for _, field := range fields {
		_ = binary.Write(hash, binary.BigEndian, int64(len(field)))
		hash.Write([]byte(field))
	}
	hash.Sum(sum[:0])
	return sum
}

func bodyDigest(body []byte) func() [sha256.Size]byte {
	return func() [sha256.Size]byte { return sha256.Sum256(body) }
}
