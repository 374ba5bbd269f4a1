//go:build !linux

package postgres

// sharesNetwork is false: elsewhere engines live in a virtual machine, and testcontainers knows
// the address under which they publish ports.
func sharesNetwork(string) bool { return false }
