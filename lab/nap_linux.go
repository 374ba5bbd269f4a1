package lab

import (
	"syscall"
	"time"
)

// shortSleep gives the processor away for about d. Go's own timers round up to a millisecond when
// the process is otherwise idle, which is ten times the cost of a question to the server.
func shortSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
