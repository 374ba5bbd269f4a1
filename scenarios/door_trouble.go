package scenarios

import (
	"context"
	"slices"

	"webhooklab/lab"
	"webhooklab/lab/postgres"
)

// gusts makes every other insert into the inbox fail to serialize, for sources that stand in
// weather. By itself such a failure can't arise at the receiver's isolation level.
const gusts = `
CREATE TABLE weather (source text COLLATE "C" NOT NULL);
CREATE SEQUENCE gust;
CREATE FUNCTION blow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM weather WHERE source = NEW.source) AND nextval('gust') % 2 = 1 THEN
		RAISE EXCEPTION 'a gust' USING ERRCODE = 'serialization_failure';
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER blow BEFORE INSERT ON webhook_inbox FOR EACH ROW EXECUTE FUNCTION blow();`

// Every connection of the pool is in use by someone else.
var DoorPoolExhausted = lab.Scenario{
	Name: "door_pool_exhausted",
	Law:  "a door without a free connection answers 503 soon, and accepts when it has one again",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		release := func() {}
		defer func() { release() }()
		sender.Does("take every connection", func(ctx context.Context, r lab.Receiver) (
			_ lab.Answer, err error) {
			release, err = r.(Sender).Exhaust(ctx)
			return lab.Done, err
		})

		sends(sender, l, "deliver evt_paid", "/hasty", doorSecret, paid).
			Answers(comeAgain)
		release()
		l.Stored(0)

		sender.Deliver(paid).Answers(lab.Applied)
	},
}

// The database is down, and comes back.
var DoorDatabaseDown = lab.Scenario{
	Name:  "door_database_down",
	Law:   "without its database a door answers 503 and acknowledges nothing, then it recovers",
	Needs: []postgres.Ability{postgres.Crash},
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		sender.Deliver(revision(1)).Answers(lab.Applied)

		l.Down()
		sender.Deliver(revision(2)).Answers(comeAgain)
		l.Up()

		l.Stored(1)
		sender.Deliver(revision(2)).Answers(lab.Applied)
	},
}

// The first attempt of the transaction fails to serialize.
var DoorSerializationFailure = lab.Scenario{
	Name: "door_serialization_failure",
	Law:  "a serialization failure is retried inside: the sender sees a success",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")
		l.SQL(`INSERT INTO weather VALUES ('` + l.Source("shop") + `')`)
		l.Quietly(`ALTER SEQUENCE gust RESTART`)

		sender.Deliver(paid).Answers(lab.Applied)

		l.SQL(`DELETE FROM weather`)
	},
}

// The deadlock of deadlock_receiver_retries, seen by a sender.
var DoorDeadlock = lab.Scenario{
	Name:       "door_deadlock",
	Law:        "a deadlock is retried inside: the sender sees a success",
	Concurrent: true,
	Reference:  true,
	Needs:      []postgres.Ability{postgres.DeadlockTimeout},
	Play: func(l *lab.Lab) {
		sender, writer := l.Session("sender"), l.Session("writer", unhurried)
		sender.Deliver(revision(1)).Answers(lab.Applied)

		writer.Runs(rowThenKey(l)...).HoldBefore("INSERT webhook_inbox")
		sender.Deliver(revision(2)).HoldBefore("INSERT object_state")
		writer.BlockedBy(sender)
		sender.Release()

		sender.BlockedBy(writer)
		writer.Answers(lab.Done)
		sender.Answers(lab.Duplicate)
	},
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
