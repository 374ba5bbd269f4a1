package lab

// fault lets the step's fault strike the command that a session holds.
func (l *Lab) fault(s *Session, ln *lane, step Step) {
	switch f := step.Fault; f.Kind {
	case LostRequest:
		s.LoseRequest(f.Close)
	case LostAck:
		s.LoseAck(f.Close)
	default:
		l.give(VerdictNotRun, "the fault %s can't be made here", f.Words())
	}
}
