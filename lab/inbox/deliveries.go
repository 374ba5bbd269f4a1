package inbox

// counted says what a delivery was, whatever its sender was told: the receipts of a source are as
// many as its new deliveries.
type counted string

const (
	arrived     counted = "new"
	repeated    counted = "duplicate"
	conflicting counted = "conflict"
	malformed   counted = "invalid"
)

const recordDeliverySQL = `INSERT INTO webhook_delivery
    (source, event_id, delivery_id, counted_as, answer)
VALUES ($1, $2, nullif($3, ''), $4, $5)
RETURNING delivery_no`

// recordDelivery writes down how a delivery was answered, in the transaction that decides it.
func recordDelivery(in statements, e Event, as counted, answer string) *Error {
	var number int64
	err := in.row(recordDeliverySQL,
		printable(e.Source, maxSourceBytes), printable(e.ID, maxTextBytes),
		printable(e.DeliveryID, maxTextBytes), string(as), answer,
	).Scan(&number)
	if err != nil {
		return failed("record", err)
	}
	return nil
}
