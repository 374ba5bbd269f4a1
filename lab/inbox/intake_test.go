package inbox_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

func TestAnotherContentUnderAnEventIDIsRefused(t *testing.T) {
	for name, model := range models {
		for what, change := range map[string]func(*inbox.Event){
			"type":         func(e *inbox.Event) { e.Type = "order.void" },
			"payload":      func(e *inbox.Event) { e.Payload = []byte(`{"total": 13}`) },
			"not a part":   func(e *inbox.Event) { e.Payload = []byte(`{"total": 12, "x": null}`) },
			"not a scalar": func(e *inbox.Event) { e.Payload = []byte(`12`) },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				d := withEffects(t)
				r := model.make(d.pool, inbox.Options{})
				does(t, model.new)(r.Receive(bounded(t), order))
				e := order
				change(&e)
				for range 2 {
					outcome, err := r.Receive(bounded(t), e)
					failure := failsAs(t, inbox.ErrReusedEventID, outcome, err)
					require.Equal(t, "webhook_receipt_event_once", failure.Constraint)
					require.NoError(t, failure.Unrecorded)
				}
				require.Equal(t, 2, d.number(t, `SELECT deliveries FROM operator_refusals
					WHERE source = 'shop' AND reason = 'reused_event_id' AND refused = 1`))
				require.Equal(t, 2, d.number(t, `SELECT conflict FROM operator_deliveries`))
				does(t, inbox.Duplicate)(r.Receive(bounded(t), order))
				d.addsUp(t)
			})
		}
	}
}

// A refused copy of a failed event runs nothing.
func TestAFailedEventIsNotRunWithOtherContent(t *testing.T) {
	d := withEffects(t)
	closed := inbox.NewAtomic(d.pool, failing(errShop), inbox.Options{})
	_, err := closed.Receive(bounded(t), order)
	require.ErrorIs(t, err, errShop)
	e := order
	e.Payload = []byte(`{"total": 1}`)
	open := inbox.NewAtomic(d.pool, effect, inbox.Options{})
	outcome, err := open.Receive(bounded(t), e)
	failsAs(t, inbox.ErrReusedEventID, outcome, err)
	require.Zero(t, d.effects(t))
	does(t, inbox.Processed)(open.Receive(bounded(t), order))
}

func TestVaryingPartsAreNoOtherContent(t *testing.T) {
	options := inbox.Options{Varying: [][]string{{"attempt"}, {"meta", `sent "at", {1}`}}}
	for name, model := range models {
		t.Run(name, func(t *testing.T) {
			d := withEffects(t)
			r := model.make(d.pool, options)
			e := order
			e.Payload = []byte(`{"v": 1, "attempt": 1, "meta": {"sent \"at\", {1}": 1, "k": 1}}`)
			does(t, model.new)(r.Receive(bounded(t), e))
			for _, same := range []string{
				`{"v": 1, "attempt": 2, "meta": {"sent \"at\", {1}": 2, "k": 1}}`,
				`{"v": 1, "meta": {"k": 1}}`,
			} {
				e.Payload = []byte(same)
				does(t, inbox.Duplicate)(r.Receive(bounded(t), e))
			}
			for _, other := range []string{
				`{"v": 2, "attempt": 1, "meta": {"k": 1}}`,
				`{"v": 1, "meta": {"k": 2}}`,
				`{"v": 1}`, `[]`, `"v"`, `null`,
			} {
				e.Payload = []byte(other)
				outcome, err := r.Receive(bounded(t), e)
				failsAs(t, inbox.ErrReusedEventID, outcome, err)
			}
		})
	}
}

// JSON of any kind is a payload, and is given to the change as it was sent.
func TestAnyJSONIsAPayload(t *testing.T) {
	for name, model := range models {
		d := withEffects(t)
		r := model.make(d.pool, inbox.Options{Varying: [][]string{{"attempt"}}})
		for _, payload := range []string{`{}`, `[1]`, `"text"`, `1e2`, `true`, `null`} {
			e := named(name + payload)
			e.Payload = []byte(payload)
			does(t, model.new)(r.Receive(bounded(t), e))
			does(t, inbox.Duplicate)(r.Receive(bounded(t), e))
		}
	}
}

func TestAnInvalidEventLeavesNoReceipt(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for name, model := range models {
		d := withEffects(t)
		r := model.make(d.pool, inbox.Options{})
		for reason, change := range map[string]func(*inbox.Event){
			"source_empty":        func(e *inbox.Event) { e.Source = "" },
			"source_too_long":     func(e *inbox.Event) { e.Source = long[:256] },
			"event_id_empty":      func(e *inbox.Event) { e.ID = "" },
			"event_id_too_long":   func(e *inbox.Event) { e.ID = long },
			"event_id_has_nul":    func(e *inbox.Event) { e.ID = "a\x00" },
			"event_type_empty":    func(e *inbox.Event) { e.Type = "" },
			"event_type_not_utf8": func(e *inbox.Event) { e.Type = "\xff" },
			"payload_empty":       func(e *inbox.Event) { e.Payload = nil },
			"payload_not_json":    func(e *inbox.Event) { e.Payload = []byte(`{`) },
			"payload_has_nul":     func(e *inbox.Event) { e.Payload = []byte(`"\u0000"`) },
			"payload_number_out_of_range": func(e *inbox.Event) {
				e.Payload = []byte(`1e140000`)
			},
			"body_too_large": func(e *inbox.Event) { e.Raw = make([]byte, inbox.MaxBodyBytes+1) },
			"headers_not_utf8": func(e *inbox.Event) {
				e.Headers = map[string]string{"a": "\xff"}
			},
			"headers_too_large": func(e *inbox.Event) {
				e.Headers = map[string]string{"a": strings.Repeat("x", inbox.MaxHeaderBytes)}
			},
		} {
			t.Run(name+", "+reason, func(t *testing.T) {
				e := order
				change(&e)
				outcome, err := r.Receive(bounded(t), e)
				failure := failsAs(t, inbox.ErrInvalid, outcome, err)
				require.Equal(t, reason, failure.Reason)
				require.NoError(t, failure.Unrecorded)
				require.Equal(t, 1, d.number(t,
					`SELECT count(*) FROM webhook_delivery WHERE answer = $1`, reason))
			})
		}
		require.Zero(t, d.number(t, `SELECT count(*) FROM webhook_receipt`))
		d.addsUp(t)
	}
}

// Odd text that can be stored is, and a delivery id that can't be is no reason to refuse an event.
func TestOddTextInAnEventIsKept(t *testing.T) {
	d := withEffects(t)
	for i, text := range []string{"a\nb", "\x1b[2J", "‮", "DROP TABLE; -- '", "a@b.example"} {
		e := named(text)
		e.Type, e.DeliveryID = text, text
		e.Raw = []byte{0, 0xff, byte(i)}
		e.Headers = map[string]string{text: text}
		does(t, inbox.Accepted)(inbox.NewIntake(d.pool, inbox.Options{}).Receive(bounded(t), e))
		require.Equal(t, 1, d.number(t, `
			SELECT count(*) FROM webhook_receipt AS r JOIN webhook_delivery USING (source, event_id)
			WHERE event_id = $1 AND event_type = $1 AND delivery_id = $1 AND raw_body = $2
			AND signature_headers ->> $1 = $1`, text, e.Raw))
	}
	e := order
	e.DeliveryID = strings.Repeat("\x00", 2000)
	does(t, inbox.Accepted)(inbox.NewIntake(d.pool, inbox.Options{}).Receive(bounded(t), e))
}

// The two models share a source and never a receipt.
func TestNoReceiptIsProcessedBothWays(t *testing.T) {
	d := withEffects(t)
	atomic := inbox.NewAtomic(d.pool, effect, inbox.Options{})
	closed := inbox.NewAtomic(d.pool, failing(errShop), inbox.Options{})
	intake := inbox.NewIntake(d.pool, inbox.Options{})
	worker := inbox.NewWorker(d.pool, effect, inbox.WorkerOptions{})

	does(t, inbox.Accepted)(intake.Receive(bounded(t), named("leased")))
	does(t, inbox.Duplicate)(atomic.Receive(bounded(t), named("leased")))
	does(t, inbox.Processed)(atomic.Receive(bounded(t), named("atomic")))
	does(t, inbox.Duplicate)(intake.Receive(bounded(t), named("atomic")))
	require.Equal(t, 1, d.effects(t))

	_, err := closed.Receive(bounded(t), named("failed"))
	require.ErrorIs(t, err, errShop)
	outcome, err := intake.Receive(bounded(t), named("failed"))
	failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
	require.Equal(t, "failed_as_atomic", failure.Reason)

	does(t, inbox.Processed)(worker.Work(bounded(t)))
	does(t, inbox.Idle)(worker.Work(bounded(t)))
	require.Equal(t, "processed | 1 | one effect", d.receipt(t, "leased"))
	require.Contains(t, d.receipt(t, "failed"), "failed | 1 | ")
	does(t, inbox.Processed)(atomic.Receive(bounded(t), named("failed")))
	require.Equal(t, 3, d.effects(t))
	d.addsUp(t)
}

// Cut before any of its commands, a delivery leaves nothing, and the next one does it all.
func TestALostConnectionLeavesNoReceipt(t *testing.T) {
	for name, model := range models {
		d := withEffects(t)
		commands := []string{"INSERT INTO webhook_receipt", "INSERT INTO webhook_delivery", "COMMIT"}
		if name == "atomic" {
			commands = append(commands, "UPDATE webhook_receipt")
		}
		for _, command := range commands {
			cut := between{d.pool, command, func(tx pgx.Tx) {
				d.exec(t, `SELECT pg_terminate_backend($1, 10000)`, tx.Conn().PgConn().PID())
			}}
			outcome, err := model.make(cut, inbox.Options{}).Receive(bounded(t), order)
			failsAs(t, inbox.ErrUnavailable, outcome, err)
			require.Equal(t, "none", d.receipt(t, "evt_1"), command)
			require.Zero(t, d.effects(t))
		}
		does(t, model.new)(model.make(d.pool, inbox.Options{}).Receive(bounded(t), order))
		d.addsUp(t)
	}
}

func TestReceiptsWorkInTheSimpleProtocol(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec} {
		d := withEffects(t)
		config, err := pgx.ParseConfig(d.dsn)
		require.NoError(t, err)
		config.DefaultQueryExecMode = mode
		conn, err := pgx.ConnectConfig(bounded(t), config)
		require.NoError(t, err)
		options := inbox.Options{Varying: [][]string{{"attempt"}}}
		for name, model := range models {
			e := named(name)
			e.Raw = []byte{0, '\'', '\\', 0xff}
			does(t, model.new)(model.make(conn, options).Receive(bounded(t), e))
			does(t, inbox.Duplicate)(model.make(conn, options).Receive(bounded(t), e))
		}
		w := inbox.NewWorker(conn, effect, inbox.WorkerOptions{Options: options})
		lease, err := w.Claim(bounded(t))
		require.NoError(t, err)
		require.Equal(t, []byte{0, '\'', '\\', 0xff}, lease.Event().Raw)
		require.Equal(t, order.Headers, lease.Event().Headers)
		require.NoError(t, lease.Heartbeat(bounded(t)))
		does(t, inbox.Failed)(lease.Fail(bounded(t), errShop))
		_, err = w.Recover(bounded(t), 1)
		require.NoError(t, err)
		require.NoError(t, conn.Close(bounded(t)))
	}
}
