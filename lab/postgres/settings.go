package postgres

// settings are the server's own parameters, as name=value, for servers that the lab starts.
func settings(p Profile, onLinux bool) []string {
	common := []string{
		"max_connections=200",
		"max_prepared_transactions=8",
		// Each question about who waits reads every place for a predicate lock, taken or not: the fewer
		// there are, the cheaper it is. How many of one relation become a lock on all of it is as usual.
		"max_pred_locks_per_transaction=10",
		"max_pred_locks_per_relation=32",
		"deadlock_timeout=20ms",
		"log_lock_waits=on",
		"log_line_prefix=%m [%p] %d ",
		"jit=off",
		"timezone=UTC",
		"log_timezone=UTC",
		"lc_messages=C",
		// Autovacuum stays on, but seldom wakes: it must not become an outsider that blocks.
		"autovacuum_naptime=1d",
		// Files under the data directory, so that nothing is left in /dev/shm after a kill.
		"dynamic_shared_memory_type=mmap",
		"shared_buffers=64MB",
		"synchronous_commit=on",
	}
	if p == Fast {
		// synchronous_commit stays on: without it a killed server loses acknowledged commits,
		// while without fsync it loses none as long as the machine itself lives.
		return append(common, "fsync=off", "full_page_writes=off",
			"max_wal_size=256MB") // it may lie in memory
	}
	durable := append(common, "fsync=on", "full_page_writes=on")
	if onLinux {
		// One call instead of one per file: a restart after a kill takes a third of the time.
		durable = append(durable, "recovery_init_sync_method=syncfs")
	}
	return durable
}
