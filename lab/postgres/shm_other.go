//go:build !linux

package postgres

// freeSharedMemory leaves the segment of a killed server, some 50 bytes, until the next boot.
func freeSharedMemory(string) {}
