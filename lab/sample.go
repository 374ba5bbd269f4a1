package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A sampler draws one schedule by probabilistic concurrency testing: sessions get random
// priorities, the highest that can go on always does, and at depth-1 random steps the running one
// falls to the lowest. A fault that needs d ordering constraints among n sessions and k steps is
// then hit with a probability of at least 1/(n·k^(d-1)), whatever the program (Burckhardt, Kothari,
// Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs).
type sampler struct {
	random     *rand.Rand
	priorities map[string]int
	drops      []int // steps before which the running session falls
	lowest     int
	at         int
}

// sampleDepth is how many ordering constraints the samples aim at.
const sampleDepth = 3

func newSampler(r *rand.Rand, p Program, steps int) *sampler {
	s := &sampler{random: r, priorities: map[string]int{}}
	for i, place := range r.Perm(len(p.Sessions)) {
		s.priorities[p.Sessions[i].Name] = place + 1
	}
	for range sampleDepth - 1 {
		s.drops = append(s.drops, r.IntN(max(1, steps)))
	}
	return s
}

func (s *sampler) next(at position) (Step, bool) {
	best := s.best(at.enabled)
	if slices.Contains(s.drops, s.at) {
		s.lowest--
		s.priorities[best.Session] = s.lowest
		best = s.best(at.enabled)
	}
	s.at++
	return best, true
}

func (s *sampler) best(steps []Step) Step {
	return slices.MaxFunc(steps, func(a, b Step) int {
		return s.priorities[a.Session] - s.priorities[b.Session]
	})
}

func (s *sampler) wake(free []Step) Step { return free[s.random.IntN(len(free))] }
func (s *sampler) passed(passage)        {}

// random draws what the budget left, and says what that is worth.
func (x *explorer) random(ctx context.Context) {
	if x.want.Samples == 0 || x.tree.left() == 0 || len(x.done.Failures) >= x.want.Stop {
		return
	}
	k := 0
	for _, n := range x.steps {
		k += n
	}
	for drawn := uint64(0); ; {
		for ; len(x.sent) < lookahead && drawn < uint64(x.want.Samples) && ctx.Err() == nil &&
			len(x.done.Failures) < x.want.Stop; drawn++ {
			own := rand.New(rand.NewPCG(x.lab.cfg.Seed, 0x9e3779b97f4a7c15+drawn))
			x.send(ctx, newSampler(own, x.want.Program, k), nil)
		}
		r := x.oldest(ctx)
		if r == nil {
			break
		}
		if r.leaf.outrun && r.leaf.report.Verdict != VerdictUnknown {
			x.outrun.Add(1)
			continue
		}
		r.leaf.drawn = true
		x.enter(ctx, &r.leaf)
		x.done.Sampled++
	}
	x.done.Bound = bound(len(x.want.Program.Sessions), k, x.done.Sampled)
}

// bound is what so many samples are worth: the chance that a fault of the given depth was missed.
func bound(sessions, steps, samples int) string {
	text := fmt.Sprintf("%d random schedules", samples)
	for depth := 1; depth <= sampleDepth; depth++ {
		p := 1 / (float64(sessions) * math.Pow(float64(steps), float64(depth-1)))
		text += fmt.Sprintf("; a fault of depth %d was missed with a probability of at most %.2g",
			depth, math.Pow(1-p, float64(samples)))
	}
	return text
}
