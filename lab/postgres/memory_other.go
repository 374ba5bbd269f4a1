//go:build !linux

package postgres

// inMemory is always false: only Linux puts temporary folders in memory unasked.
func inMemory(string) bool { return false }
