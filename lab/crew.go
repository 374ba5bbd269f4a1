package lab

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// A crew is the labs that explore a tree side by side, each on a database of its own, so that no
// run can stand in another's way.
//
// What comes of an exploration does not depend on how many they are, nor on who is faster: runs are
// chosen with up to lookahead others under way, and entered in the order in which they were chosen.
type crew struct {
	labs []*Lab
	jobs chan *job
	late []*job // sent and not begun: a lab that is alone begins when it is waited for
	work sync.WaitGroup
}

// lookahead is how many runs are chosen before the first of them is entered.
const lookahead = 4

// A job is one run that somebody of the crew plays.
type job struct {
	play func(*Lab) leaf
	walk *walk // nil: not of the tree
	done chan struct{}
	leaf leaf
}

// A twin is a lab that others borrow, with what removes its database.
type twin struct {
	lab  *Lab
	drop func(context.Context) error
}

// parted closes the labs that explorations were shared with. A database that can't be dropped goes
// with its server, or at the next start on it.
func (l *Lab) parted() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, t := range l.twins {
		t.lab.Close()
		_ = t.drop(ctx)
	}
	l.twins = nil
}

// seasoned is how many runs a lab has behind it before others join it: a database and its
// connections cost as much as some dozens.
const seasoned = 100

// gather makes the crew of one exploration.
func (l *Lab) gather(ctx context.Context, want Exploration) *crew {
	c := &crew{labs: []*Lab{l}, jobs: make(chan *job, lookahead)}
	for _, t := range l.twins {
		c.join(ctx, l, t.lab, want)
	}
	if len(c.labs) > 1 {
		c.serve(l)
	}
	return c
}

// join takes one more lab in, if it can do what is wanted.
func (c *crew) join(ctx context.Context, first, twin *Lab, want Exploration) {
	if twin.placeGates(ctx, want.Gated) != nil {
		return // what is wrong shows where it is judged
	}
	twin.prints = first.prints
	c.labs = append(c.labs, twin)
	c.serve(twin)
}

func (c *crew) serve(l *Lab) {
	c.work.Go(func() {
		for j := range c.jobs {
			j.do(l)
		}
	})
}

func (j *job) do(l *Lab) {
	j.leaf = j.play(l)
	close(j.done)
}

// grow opens the labs that are worth it by now. A server that has no room for more is none the worse
// explored by one.
func (c *crew) grow(ctx context.Context, l *Lab, want Exploration) {
	if l.cfg.Twin == nil || l.explored < seasoned || len(c.labs) > 1 || l.alone {
		return
	}
	for range min(runtime.NumCPU()+1, lookahead) - 1 {
		other, drop, err := l.cfg.Twin(ctx)
		if err != nil {
			l.alone = true
			break
		}
		l.twins = append(l.twins, twin{other, drop})
		c.join(ctx, l, other, want)
	}
	if len(c.labs) == 1 {
		return
	}
	c.serve(l)
	for _, j := range c.late {
		c.jobs <- j
	}
	c.late = nil
}

// send has a run played, at the latest when it is waited for.
func (c *crew) send(j *job) *job {
	j.done = make(chan struct{})
	if len(c.labs) > 1 {
		c.jobs <- j
	} else {
		c.late = append(c.late, j)
	}
	return j
}

// wait returns when the job is done. Jobs are waited for in the order in which they were sent.
func (c *crew) wait(j *job) {
	if len(c.late) > 0 {
		c.late = c.late[1:]
		j.do(c.labs[0])
	}
	<-j.done
}

// rest returns when nobody plays any more.
func (c *crew) rest(sent []*job) {
	for _, j := range sent {
		if len(c.late) == 0 {
			<-j.done
		}
	}
}

// dismiss ends what the crew does in this exploration.
func (c *crew) dismiss() {
	close(c.jobs)
	c.work.Wait()
	for _, twin := range c.labs[1:] {
		twin.prints = nil
	}
}
