package lab

// openGate lets a statement that stands at a gate inside PostgreSQL go on.
func (l *Lab) openGate(*lane) { l.give(VerdictNotRun, "gates are not there yet") }

func (l *Lab) gated() bool { return false }
