package lab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransactionIDsAreWidened(t *testing.T) {
	const epoch = 1 << 32
	require.Equal(t, uint64(790), widened(790, 793))
	require.Equal(t, uint64(795), widened(795, 793), "younger than the snapshot's end")
	require.Equal(t, uint64(epoch+5), widened(5, epoch+9))
	require.Equal(t, uint64(epoch-3), widened(0xfffffffd, epoch+9), "of the epoch before")
	require.Equal(t, uint64(epoch+1), widened(1, epoch-2), "of the epoch to come")
}

func TestAWaitIsProvedByItsHolder(t *testing.T) {
	row := Wait{Blockers: []uint32{7}, LockType: "transactionid", Mode: "ShareLock", Holder: 7}
	require.True(t, row.proved())
	row.Holder = 8
	require.False(t, row.proved(), "the row names a transaction of somebody else")
	row.LockType = "tuple"
	require.True(t, row.proved(), "no transaction is named")
	row.Blockers = nil
	require.False(t, row.proved(), "a row without a blocker")
	require.False(t, Wait{Blockers: []uint32{7}}.proved(), "a blocker without a row")
}
