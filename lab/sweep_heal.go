package lab

import "context"

// A healer is the world after a fault: the sender comes again until it has its answer, workers drain,
// leases expire.
type healer struct {
	lab     *Lab
	want    Sweeping
	answers []string // of a run without a fault; nil: of this one
	repeat  bool     // every act is sent once more, whatever its answer was

	learned []string // by the acts, session by session
	first   []string // answer of each act's first repetition, "" where there was none
	last    []string // what each sender knows in the end
	tries   []int
}

// redelivery is the session that comes again.
const redelivery = "redelivery"

// comeAgain: the sender knows nothing, or was told by HTTP to come again later.
func comeAgain(outcome string) bool { return outcome == Unknown.Outcome || outcome == "503" }

// heal is the program with this world behind it.
func (h *healer) heal(p Program) Program {
	after := p.After
	p.After = func(l *Lab) {
		h.learn(p)
		h.redeliver(p, func(i int) bool {
			return h.repeat || comeAgain(h.last[i]) && h.last[i] != h.expected(i)
		})
		if after != nil {
			after(l)
		}
		h.repeat = false
		h.redeliver(p, func(i int) bool { return comeAgain(h.last[i]) })
	}
	return p
}

// expected is the answer of a run without a fault: some senders learn nothing even then.
func (h *healer) expected(i int) string {
	if i < len(h.answers) {
		return h.answers[i]
	}
	return ""
}

func (h *healer) learn(p Program) {
	for _, a := range p.Sessions {
		outcomes := h.lab.Session(a.Name).outcomes
		for i := range a.Does {
			got := Unknown.Outcome // it never came to it
			if i < len(outcomes) {
				got = outcomes[i]
			}
			h.learned = append(h.learned, got)
		}
	}
	h.last = append([]string(nil), h.learned...)
	h.first = make([]string, len(h.last))
	h.tries = make([]int, len(h.last))
}

// redeliver repeats the acts that need it, in their order, over connections of its own.
func (h *healer) redeliver(p Program, needed func(int) bool) {
	i := 0
	for _, a := range p.Sessions {
		for _, act := range a.Does {
			for try := 0; try < h.want.Retries && needed(i); try++ {
				h.once(i, act, a.Settings)
				if h.repeat {
					break
				}
			}
			i++
		}
	}
}

func (h *healer) once(i int, act Act, settings []Setting) {
	h.last[i] = h.lab.Session(redelivery, settings...).again(act).Outcome
	h.tries[i]++
	if h.tries[i] == 1 {
		h.first[i] = h.last[i]
	}
}

// again performs an act without stepping it.
func (s *Session) again(a Act) Answer {
	if a.delivery != nil {
		return s.Send(*a.delivery)
	}
	if a = a.fresh(s.lab); a.sql != nil {
		return s.Runs(a.sql...).unstepped()
	}
	return s.Does(a.what, a.do)
}

// playHealed plays a program with the world behind it, judges it by the laws, and returns what was
// left at the end.
func (l *Lab) playHealed(ctx context.Context, p Program, d driver, h *healer) (played, string) {
	if h.want.Retries == 0 {
		h.want.Retries = 5
	}
	state := ""
	healed := h.heal(p)
	after := healed.After
	healed.After = func(l *Lab) {
		after(l)
		state = l.visible()
	}
	done := l.playProgram(ctx, healed, d)
	if done.report.Verdict != VerdictNotRun && !done.cut {
		done.report = l.judged(ctx, p.Law, done)
	}
	return done, state
}
