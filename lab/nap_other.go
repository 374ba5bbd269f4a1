//go:build !linux

package lab

import (
	"runtime"
	"time"
)

// shortSleep yields: no sleep below a millisecond is to be had here.
func shortSleep(time.Duration) { runtime.Gosched() }
