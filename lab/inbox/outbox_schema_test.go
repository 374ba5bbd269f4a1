package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever writes to the table, a message takes no step that a dispatcher wouldn't.
func TestTheOutboxRefusesOtherSteps(t *testing.T) {
	const (
		take  = `status = 'processing', next_attempt_at = NULL, lease_expires_at = now()`
		count = `, attempts = attempts + 1`
		token = `, lease_token = lease_token + 1`
		claim = take + count + token
		sent  = `status = 'sent', sent_at = clock_timestamp(), lease_expires_at = NULL`
		dead  = `status = 'dead', failure_reason = 'x', max_attempts = attempts,
			lease_expires_at = NULL`
		again = `status = 'pending', next_attempt_at = clock_timestamp(), sent_at = NULL,
			lease_expires_at = NULL`
	)
	for name, steps := range map[string][]string{
		"sent without a claim":        {sent + `, next_attempt_at = NULL`},
		"a claim that isn't counted":  {take + token},
		"a claim without a token":     {take + count},
		"an attempt taken back":       {claim, again + `, attempts = 0`},
		"sent twice":                  {claim, sent, sent},
		"sent, then pending":          {claim, sent, again},
		"dead, then pending, no more": {claim, dead, again},
		"content":                     {`payload = '{}'`},
		"key":                         {`key = 'other'`},
	} {
		d := newDatabase(t)
		d.fillOutbox(t, 1)
		for i, step := range steps {
			_, err := d.pool.Exec(bounded(t), `UPDATE outbox_message SET `+step)
			if i < len(steps)-1 {
				require.NoError(t, err, name)
				continue
			}
			require.Contains(t, []string{"23001", "23514"}, serverError(err).Code, name)
		}
	}
}

func TestTheOutboxIsPurgedOfFinalMessagesOnly(t *testing.T) {
	d := newDatabase(t)
	d.fillOutbox(t, 1)
	for _, sql := range []string{`DELETE FROM outbox_message`, `TRUNCATE outbox_message`} {
		_, err := d.pool.Exec(bounded(t), sql)
		require.Equal(t, "23001", serverError(err).Code, sql)
	}
	_, err := d.pool.Exec(bounded(t), `INSERT INTO outbox_message
		(topic, key, payload, status, next_attempt_at, sent_at)
		VALUES ('charge', 'order_2', '{}', 'sent', NULL, clock_timestamp())`)
	require.Equal(t, "23001", serverError(err).Code, "nothing begins as sent")
	d.runDispatchers(t, &downstream{}, 1, promptly, allSent)
	d.exec(t, `DELETE FROM outbox_message`)
}
