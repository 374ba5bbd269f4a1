package lab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A step names a connection by its place, so that the places must not depend on which opened first.
func TestLanesStandByTheirConnections(t *testing.T) {
	s := &Session{}
	for _, conn := range []int{2, 3, 1} {
		s.opens(&lane{conn: conn, state: laneHeld})
	}
	for i, ln := range s.standing() {
		require.Equal(t, i+1, ln.conn)
	}
	require.Len(t, s.lanes, 3)
	require.Equal(t, 1, s.first(laneHeld).conn)
	require.Nil(t, s.lane(4))
}
