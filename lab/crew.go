package lab

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A crew is the labs that share the runs of an exploration or a sweep, each on a database of its
// own: no run sees another's rows or waits for its locks.
//
// What comes of it does not depend on how many they are, nor on who is faster: up to lookahead runs
// are under way, chosen by what was known of those before them, and entered in the order in which
// they were chosen.
type crew struct {
	labs    []*Lab
	prepare func(*Lab) error // of everybody who joins the first
	alone   bool             // nobody may join
	jobs    chan *job
	late    []*job // sent and not begun: a lab that is alone begins when it must
	work    sync.WaitGroup
}

// lookahead is how many runs are chosen before the first of them is entered. It is not a matter of
// the machine: other runs would be chosen.
const lookahead = 4

// A job is one run that somebody of the crew plays.
type job struct {
	play func(*Lab)
	done chan struct{}
}

func (j *job) do(l *Lab) {
	defer close(j.done)
	j.play(l)
}

// A twin is a lab that others borrow, with what removes its database.
type twin struct {
	lab  *Lab
	drop func(context.Context) error
}

// part closes the labs that runs were shared with. A database that can't be dropped goes with its
// server, or at the next start on it.
func (l *Lab) part() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, t := range l.twins {
		t.lab.Close()
		_ = t.drop(ctx)
	}
	l.twins = nil
}

// seasoned is how many runs a lab has behind it before others join it: a database and its
// connections cost as much as some dozens. A cell of a sweep counts for perCell of them.
const seasoned, perCell = 100, 10

// gather makes the crew of one exploration or sweep. It works until it is dismissed.
func (l *Lab) gather(alone bool, prepare func(*Lab) error) *crew {
	c := &crew{labs: []*Lab{l}, alone: alone, prepare: prepare, jobs: make(chan *job, lookahead)}
	for _, t := range l.twins {
		if !alone {
			c.join(t.lab)
		}
	}
	if len(c.labs) > 1 {
		c.serve(l)
	}
	return c
}

// join takes one more lab in, if it can do what is wanted.
func (c *crew) join(twin *Lab) {
	if c.prepare(twin) != nil {
		return // what is wrong shows where it is judged
	}
	c.labs = append(c.labs, twin)
	c.serve(twin)
}

func (c *crew) serve(l *Lab) {
	c.work.Go(func() {
		over := false
		defer func() {
			if !over { // somebody's code has ended this goroutine, as a test does that fails
				c.serve(l)
			}
		}()
		for j := range c.jobs {
			j.do(l)
		}
		over = true
	})
}

// grow opens the labs that are worth it by now. A server that has no room for more is none the
// worse explored by one.
func (c *crew) grow(ctx context.Context) {
	l := c.labs[0]
	if len(l.twins) > 0 || c.alone || l.cfg.Twin == nil || l.explored < seasoned {
		return
	}
	for range min(runtime.NumCPU()+1, lookahead) - 1 {
		other, drop, err := l.cfg.Twin(ctx)
		if err != nil && ctx.Err() == nil {
			l.cfg.Twin = nil
		}
		if err != nil {
			break
		}
		other.cfg.New = l.cfg.New // of a sweep, it may be another one meanwhile
		l.twins = append(l.twins, twin{other, drop})
		c.join(other)
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
func (c *crew) send(play func(*Lab)) *job {
	j := &job{play: play, done: make(chan struct{})}
	if len(c.labs) > 1 {
		c.jobs <- j
	} else {
		c.late = append(c.late, j)
	}
	return j
}

// begin has the job under way. A lab that is alone has done it then.
func (c *crew) begin(j *job) {
	if c.recall(j) {
		j.do(c.labs[0])
	}
}

// wait returns when the job is done.
func (c *crew) wait(j *job) {
	c.begin(j)
	<-j.done
}

// drop is wait for a job that is of no interest any more: it need not be begun.
func (c *crew) drop(j *job) {
	if !c.recall(j) {
		<-j.done
	}
}

// recall takes back a job that nobody has begun, and says whether it was one.
func (c *crew) recall(j *job) bool {
	i := slices.Index(c.late, j)
	if i >= 0 {
		c.late = slices.Delete(c.late, i, i+1)
	}
	return i >= 0
}

// rest returns when nobody is at the job: it is done, or not begun.
func (c *crew) rest(j *job) {
	if !slices.Contains(c.late, j) {
		<-j.done
	}
}

// dismiss returns when nobody plays any more.
func (c *crew) dismiss() {
	close(c.jobs)
	c.work.Wait()
}
