package properties

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

const storedReceiptsSQL = `
SELECT source, event_id, event_type, payload::text, status,
       attempts, coalesce(max_attempts, 0), lease_token,
       (extract(epoch FROM received_at) * 1000000)::bigint,
       coalesce((extract(epoch FROM next_attempt_at) * 1000000)::bigint, 0),
       coalesce(next_attempt_at > clock_timestamp(), false),
       coalesce(lease_expires_at <= clock_timestamp(), false)
  FROM webhook_receipt
 WHERE source = ANY ($1::text[])`

const storedDeliveriesSQL = `
SELECT source, counted_as, count(*)
  FROM webhook_delivery
 WHERE source = ANY ($1::text[])
 GROUP BY source, counted_as`

// ReadReceipts gives a model of what the tables of schema.sql hold of these sources, with what m
// knows of the receiver.
func (m *ReceiptModel) ReadReceipts(
	ctx context.Context, conn *pgx.Conn, sources []string,
) (*ReceiptModel, error) {
	found := &ReceiptModel{Atomic: m.Atomic, MaxAttempts: m.MaxAttempts, Says: m.Says}
	var key eventKey
	var r receipt
	rows, err := conn.Query(ctx, storedReceiptsSQL, sources)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{
			&key.source, &key.event, &r.kind, &r.payload, &r.status, &r.attempts, &r.most,
			&r.token, &r.came, &r.due, &r.backing, &r.expired,
		}, func() (err error) {
			r.payload, err = Canonical([]byte(r.payload))
			found.set(key, r)
			found.clock = max(found.clock, r.came, r.due)
			return err
		})
	}
	if err == nil {
		err = found.readDeliveries(ctx, conn, sources)
	}
	if err != nil {
		return nil, fmt.Errorf("read the receipts of %d sources: %w", len(sources), err)
	}
	return found, nil
}

func (m *ReceiptModel) readDeliveries(
	ctx context.Context, conn *pgx.Conn, sources []string,
) error {
	rows, err := conn.Query(ctx, storedDeliveriesSQL, sources)
	if err != nil {
		return err
	}
	var c counting
	var n int
	m.counted = map[counting]int{}
	_, err = pgx.ForEachRow(rows, []any{&c.source, &c.as, &n}, func() error {
		m.counted[c] = n
		return nil
	})
	return err
}

// String is all that the model holds, a line for each receipt and each count. Of times it tells
// which receipt is due before which.
func (m *ReceiptModel) String() string {
	place := m.places()
	var b strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(m.receipts), eventKey.compare) {
		r := m.receipts[key]
		fmt.Fprintf(&b, "%s %s %s %s: %s after %d of %d attempts, token %d",
			key.source, key.event, r.kind, r.payload, r.status, r.attempts, r.most, r.token)
		switch {
		case r.expired:
			b.WriteString(", expired")
		case r.backing:
			b.WriteString(", backing off")
		case r.due > 0:
			fmt.Fprintf(&b, ", %d. in the queue", place[key])
		}
		b.WriteByte('\n')
	}
	counts := []string{}
	for c, n := range m.counted {
		counts = append(counts, fmt.Sprintf("%s: %d %s\n", c.source, n, c.as))
	}
	slices.Sort(counts)
	return b.String() + strings.Join(counts, "")
}

// places numbers the receipts that are due, from 1, in the order in which they are claimed.
func (m *ReceiptModel) places() map[eventKey]int {
	var queue []eventKey
	for key, r := range m.receipts {
		if r.due > 0 && !r.backing {
			queue = append(queue, key)
		}
	}
	slices.SortFunc(queue, func(a, b eventKey) int {
		return int(m.receipts[a].due - m.receipts[b].due)
	})
	place := map[eventKey]int{}
	for i, key := range queue {
		place[key] = i + 1
	}
	return place
}
