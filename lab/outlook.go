package lab

// An outlook is what to expect of the commands that run: it decides when a question about them is
// worth its price, never what is made of the answer.
type outlook int

const (
	willWait outlook = iota // all of them wait, as is likely of a scenario's steps
	willPass                // one of them comes to its end
	mayWait                 // nobody knows
)

// experience is which sessions waited behind a step, by where everybody stood and the step.
type experience map[string]map[string]bool

// expects is the outlook on the commands that run in the step under way.
func (st *steering) expects(running []*lane) outlook {
	if st == nil {
		return willWait
	}
	waited, known := st.lab.experience[st.ahead]
	if !known {
		return mayWait
	}
	for _, ln := range running {
		if !waited[st.lab.name(ln.pid)] {
			return willPass
		}
	}
	return willWait
}

// learned keeps who waits behind a step.
func (l *Lab) learned(step string) {
	waits := map[string]bool{}
	for _, ln := range l.lanes(laneBlocked) {
		waits[l.name(ln.pid)] = true
	}
	l.experience[step] = waits
}
