package inbox_test

import (
	"strconv"
	"strings"
	"testing"

	"webhooklab/lab/inbox"
)

// One delivery, straight to the server: a new event of an object that is there already, and one
// that was accepted before.
func BenchmarkDelivery(b *testing.B) {
	b.Run("applied", func(b *testing.B) {
		d := newDatabase(b)
		e := event("", "order_1", 0, `{"status": "paid", "total": 1250}`)
		for b.Loop() {
			e.Revision++
			e.EventID = strconv.FormatInt(e.Revision, 10)
			accepts(b, d.receiver, inbox.Applied, e)
		}
	})
	b.Run("duplicate", func(b *testing.B) {
		d := newDatabase(b)
		accepts(b, d.receiver, inbox.Applied, paid)
		for b.Loop() {
			accepts(b, d.receiver, inbox.Duplicate, paid)
		}
	})
}

// Parsing and checking, on a body with a snapshot of almost full size.
func BenchmarkParse(b *testing.B) {
	lines := strings.Repeat(`,{"sku": "café", "price": 12.50, "count": 3}`, 20_000)
	data := []byte(body(`"e"`, `"o"`, `1`, `{"lines": [1`+lines+`]}`))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := inbox.ParseSnapshotEvent("shop", data); err != nil {
			b.Fatal(err)
		}
	}
}
