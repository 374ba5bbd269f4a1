package inbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"webhooklab/lab/inbox"
)

var paid = event("evt_1", "order_1", 1, `{"status": "paid"}`)

func TestTheTransactionSaysItsLevelItself(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `DO $$ BEGIN EXECUTE format(
		'ALTER ROLE %I IN DATABASE %I SET default_transaction_isolation = serializable',
		current_user, current_database()); END $$`)
	conn := d.connect(t)
	var usual, level, lock string
	require.NoError(t, conn.QueryRow(bounded(t), `SHOW transaction_isolation`).Scan(&usual))
	require.Equal(t, "serializable", usual)

	watched := between{conn, "INSERT INTO webhook_inbox", func(tx pgx.Tx) {
		require.NoError(t, tx.QueryRow(bounded(t), `
			SELECT current_setting('transaction_isolation'), current_setting('lock_timeout')`,
		).Scan(&level, &lock))
	}}
	accepts(t, inbox.NewSnapshots(watched, inbox.Options{}), inbox.Applied, paid)
	require.Equal(t, "read committed", level)
	require.Equal(t, "5s", lock)
	require.NoError(t, conn.QueryRow(bounded(t), `SHOW lock_timeout`).Scan(&lock))
	require.Equal(t, "0", lock, "the bounds end with the transaction")
}

// A COMMIT that the server answers by ROLLBACK comes without an error, and is none the less one.
func TestACommitThatRolledBackIsNoSuccess(t *testing.T) {
	d := newDatabase(t)
	poisoned := between{d.pool, "COMMIT", func(tx pgx.Tx) {
		_, err := tx.Exec(bounded(t), `SELECT 1 / 0`)
		require.Error(t, err)
	}}
	failure := refuses(t, inbox.NewSnapshots(poisoned, inbox.Options{}), inbox.ErrUnavailable, paid)
	require.ErrorIs(t, failure, pgx.ErrTxCommitRollback)
	require.Equal(t, "commit", failure.Step)
	d.holdsNothing(t)
	accepts(t, d.receiver, inbox.Applied, paid)
}

func TestACommitThatFailsIsNoSuccess(t *testing.T) {
	for sqlstate, kind := range map[string]error{
		"P0001": inbox.ErrUnavailable,
		"23514": inbox.ErrInvalid,
	} {
		d := newDatabase(t)
		d.failsAtCommit(t, sqlstate, "true")
		failure := refuses(t, d.receiver, kind, paid)
		require.Equal(t, "commit", failure.Step)
		require.Equal(t, sqlstate, failure.SQLSTATE)
		d.holdsNothing(t)
	}
}

func TestASerializationFailureAtCommitIsRetriedInside(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `CREATE SEQUENCE tries`)
	d.failsAtCommit(t, "40001", "nextval('tries') < 3")
	accepts(t, d.receiver, inbox.Applied, paid)
	require.Equal(t, 3, d.number(t, `SELECT last_value FROM tries`))

	d.exec(t, `ALTER SEQUENCE tries RESTART`)
	twice := inbox.NewSnapshots(d.pool, inbox.Options{Attempts: 2})
	failure := refuses(t, twice, inbox.ErrUnavailable, event("evt_2", "order_2", 1, `{}`))
	require.Equal(t, "40001", failure.SQLSTATE)
	require.Equal(t, 2, d.number(t, `SELECT last_value FROM tries`))
}

// failsAtCommit makes the server raise an error at COMMIT of an accepted event, while cond holds.
func (d *database) failsAtCommit(t *testing.T, sqlstate, cond string) {
	d.exec(t, `
		CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF `+cond+` THEN RAISE 'no' USING ERRCODE = '`+sqlstate+`'; END IF;
			RETURN NULL;
		END $$`)
	d.exec(t, `
		CREATE CONSTRAINT TRIGGER fail_at_commit AFTER INSERT ON webhook_inbox
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`)
}

func (d *database) holdsNothing(t testing.TB) {
	t.Helper()
	require.Zero(t, d.number(t, `SELECT count(*) FROM webhook_inbox`))
	require.Zero(t, d.number(t, `SELECT count(*) FROM object_state`))
}

// An ALTER TABLE makes prepared statements fail for good on the connections that hold them.
func TestAMigrationDoesNotStopKeptConnections(t *testing.T) {
	for _, migration := range []string{
		`ALTER TABLE webhook_inbox ALTER COLUMN event_id TYPE varchar(1024) COLLATE "C"`,
		`ALTER TABLE object_state ALTER COLUMN revision TYPE numeric`,
	} {
		d := newDatabase(t)
		stale := &errorCounts{sqlstate: "0A000"}
		pool := d.newPool(t, func(c *pgxpool.Config) {
			c.MaxConns = 1
			c.ConnConfig.Tracer = stale
		})
		receiver := inbox.NewSnapshots(pool, inbox.Options{Attempts: 1})
		accepts(t, receiver, inbox.Applied, event("evt_1", "order_1", 1, `{}`))
		d.migrate(t, migration)
		accepts(t, receiver, inbox.Applied, event("evt_2", "order_1", 2, `{}`))
		require.EqualValues(t, 1, stale.seen.Load())
		accepts(t, receiver, inbox.Applied, event("evt_3", "order_1", 3, `{}`))
		require.EqualValues(t, 1, stale.seen.Load())
	}
}

// migrate alters a table, the views on it out of its way.
func (d *database) migrate(t *testing.T, sql string) {
	d.exec(t, `DO $$
		DECLARE v text;
		BEGIN
			FOR v IN SELECT viewname FROM pg_views WHERE schemaname = 'public' LOOP
				EXECUTE format('DROP VIEW IF EXISTS %I CASCADE', v);
			END LOOP;
		END $$`)
	d.exec(t, sql)
}

// inTurn is a DB that begins each transaction on the next of its connections.
type inTurn struct {
	connections []*pgx.Conn
	begun       int
}

func (d *inTurn) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	d.begun++
	return d.connections[d.begun%len(d.connections)].BeginTx(ctx, o)
}

// The second try may meet another connection, whose statements are just as old.
func TestAMigrationDoesNotStopAPoolOfStaleConnections(t *testing.T) {
	d := newDatabase(t)
	both := &inTurn{connections: []*pgx.Conn{d.connect(t), d.connect(t)}}
	receiver := inbox.NewSnapshots(both, inbox.Options{})
	accepts(t, receiver, inbox.Applied, event("evt_1", "order_1", 1, `{}`))
	accepts(t, receiver, inbox.Applied, event("evt_2", "order_1", 2, `{}`))
	d.migrate(t, `ALTER TABLE webhook_inbox ALTER COLUMN event_id TYPE varchar(1024) COLLATE "C"`)
	accepts(t, receiver, inbox.Applied, event("evt_3", "order_1", 3, `{}`))
	require.Equal(t, 4, both.begun)
}

// The connection of the failed transaction is given back before the refusal asks for one.
func TestOneConnectionIsEnough(t *testing.T) {
	d := newDatabase(t)
	pool := d.newPool(t, func(c *pgxpool.Config) { c.MaxConns = 1 })
	conn := d.connect(t)
	for name, db := range map[string]inbox.DB{"pool": pool, "conn": conn} {
		receiver := inbox.NewSnapshots(db, inbox.Options{})
		accepts(t, receiver, inbox.Applied, event("evt_"+name, name, 1, `{}`))
		refuses(t, receiver, inbox.ErrReusedEventID, event("evt_"+name, name, 2, `{}`))
		refuses(t, receiver, inbox.ErrInvalid, event("evt_"+name, name, 0, `{}`))
		accepts(t, receiver, inbox.Duplicate, event("evt_"+name, name, 1, `{}`))
	}
	require.Equal(t, 4, d.number(t, `SELECT count(*) FROM webhook_refusal`))
}

func TestTheSimpleProtocolWillDo(t *testing.T) {
	d := newDatabase(t)
	for name, mode := range map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol,
		"exec":   pgx.QueryExecModeExec,
	} {
		pool := d.newPool(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
		receiver := inbox.NewSnapshots(pool, inbox.Options{})
		accepts(t, receiver, inbox.Applied, event("evt_"+name, name, 1, `{"v": "it's \\ ok"}`))
		accepts(t, receiver, inbox.Duplicate, event("evt_"+name, name, 1, `{"v": "it's \\ ok"}`))
		refuses(t, receiver, inbox.ErrReusedEventID, event("evt_"+name, name, 1, `{}`))
	}
}

func TestNoWaitIsForEver(t *testing.T) {
	for _, c := range []struct {
		options          inbox.Options
		sqlstate, reason string
	}{
		{inbox.Options{LockTimeout: 20 * time.Millisecond}, "55P03", "lock_timeout"},
		{inbox.Options{StatementTimeout: 20 * time.Millisecond}, "57014", "statement_timeout"},
		{inbox.Options{Timeout: 50 * time.Millisecond}, "", "deadline"},
	} {
		d := newDatabase(t)
		holder, err := d.connect(t).Begin(bounded(t))
		require.NoError(t, err)
		_, err = holder.Exec(bounded(t),
			`INSERT INTO webhook_inbox VALUES ('shop', 'evt_1', 'order_1', 1, '{}')`)
		require.NoError(t, err)

		receiver := inbox.NewSnapshots(d.pool, c.options)
		failure := refuses(t, receiver, inbox.ErrUnavailable, paid)
		require.Equal(t, c.sqlstate, failure.SQLSTATE)
		require.Equal(t, c.reason, failure.Reason)
		require.NoError(t, holder.Rollback(bounded(t)))
		d.holdsNothing(t)
		accepts(t, d.receiver, inbox.Applied, paid)
	}
}

func TestACallerCanGiveUp(t *testing.T) {
	d := newDatabase(t)
	ctx, cancel := context.WithCancel(bounded(t))
	canceled := between{d.pool, "INSERT INTO object_state", func(pgx.Tx) { cancel() }}
	outcome, err := inbox.NewSnapshots(canceled, inbox.Options{}).Receive(ctx, paid)
	failure := failsAs(t, inbox.ErrUnavailable, outcome, err)
	require.ErrorIs(t, failure, context.Canceled)
	require.Equal(t, "canceled", failure.Reason)
	require.Zero(t, d.pool.Stat().AcquiredConns(), "the connection is given back")
	d.holdsNothing(t)

	outcome, err = d.receiver.Receive(ctx, paid)
	require.Equal(t, "begin", failsAs(t, inbox.ErrUnavailable, outcome, err).Step)
	accepts(t, d.receiver, inbox.Applied, paid)
}

func TestALostConnectionStoresNothing(t *testing.T) {
	d := newDatabase(t)
	for _, command := range []string{
		"INSERT INTO webhook_inbox", "INSERT INTO object_state", "COMMIT",
	} {
		cut := between{d.pool, command, func(tx pgx.Tx) {
			d.exec(t, `SELECT pg_terminate_backend($1, 10000)`, tx.Conn().PgConn().PID())
		}}
		failure := refuses(t, inbox.NewSnapshots(cut, inbox.Options{}), inbox.ErrUnavailable, paid)
		require.Contains(t, []string{"shutdown", "connection"}, failure.Reason)
		d.holdsNothing(t)
	}
	accepts(t, d.receiver, inbox.Applied, paid)
}

func TestAServerThatOnlyReadsIsUnavailable(t *testing.T) {
	d := newDatabase(t)
	pool := d.newPool(t, func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	})
	failure := refuses(t, inbox.NewSnapshots(pool, inbox.Options{}), inbox.ErrUnavailable, paid)
	require.Equal(t, "read_only", failure.Reason)
}

func TestAServerThatIsNotThereIsUnavailable(t *testing.T) {
	d := newDatabase(t)
	for _, c := range []struct {
		reason, sqlstate string
		configure        func(*pgxpool.Config)
	}{
		{"connection", "", func(c *pgxpool.Config) { c.ConnConfig.Port = 1 }},
		{"unexpected", "3D000", func(c *pgxpool.Config) { c.ConnConfig.Database = "absent" }},
	} {
		receiver := inbox.NewSnapshots(d.newPool(t, c.configure), inbox.Options{})
		failure := refuses(t, receiver, inbox.ErrUnavailable, paid)
		require.Equal(t, "begin", failure.Step)
		require.Equal(t, c.reason, failure.Reason)
		require.Equal(t, c.sqlstate, failure.SQLSTATE)
		require.NotContains(t, failure.Error(), "absent")
	}
}

// A unique constraint that the claim does not cover is the schema's fault, never a duplicate.
func TestAUniqueConstraintOfAnotherTableIsNotADuplicate(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, `CREATE UNIQUE INDEX one_object ON object_state (source)`)
	accepts(t, d.receiver, inbox.Applied, paid)
	failure := refuses(t, d.receiver, inbox.ErrUnavailable, event("evt_2", "order_2", 1, `{}`))
	require.Equal(t, "one_object", failure.Constraint)
	require.Equal(t, "receiver_fault_uncovered_unique_constraint", failure.Reason)
	require.Equal(t, 1, d.number(t, `SELECT count(*) FROM webhook_inbox`))
}
