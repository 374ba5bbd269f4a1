//go:build !linux

package postgres

// inMemory is always false: only Linux puts temporary folders in memory unasked.
func inMemory(string) bool { return false }

// freeBytes is never asked where nothing is in memory.
func freeBytes(string) uint64 { return 0 }
