package inbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Zero would tell the server "for ever", so no option may ever become it.
func TestEveryWaitIsBounded(t *testing.T) {
	for bounds, options := range map[[3]string]Options{
		{"5000", "10000", "10000"}: {},
		{"5000", "1", "2"}: {
			LockTimeout: -1, StatementTimeout: 1, IdleTimeout: 1001 * time.Microsecond,
		},
		{"2147483647", "2147483647", "20"}: {
			LockTimeout: 1<<63 - 1, StatementTimeout: 1 << 62, IdleTimeout: 20 * time.Millisecond,
		},
	} {
		require.Equal(t, "begin isolation level read committed; "+
			"set local lock_timeout = "+bounds[0]+"; "+
			"set local statement_timeout = "+bounds[1]+"; "+
			"set local idle_in_transaction_session_timeout = "+bounds[2],
			options.withDefaults().transaction().BeginQuery)
	}
	require.Equal(t, 3, Options{}.withDefaults().Attempts)
	require.Equal(t, 30*time.Second, Options{}.withDefaults().Timeout)
}
