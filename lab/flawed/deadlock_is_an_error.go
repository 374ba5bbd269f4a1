package flawed

// DeadlockIsAnError shows the sender a deadlock that one more try would have cured.
var DeadlockIsAnError = with(func(s *steps) { s.tries = 1 })
