package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"webhooklab/lab/report"
)

// bars stand at the foot of a terminal, one for each kind of case, and below them how long the run
// has taken and about how long it still takes. What is written through them scrolls above.
//
// A nil *bars shows nothing.
type bars struct {
	out   io.Writer
	began time.Time
	board *mpb.Progress
	all   []*bar
	foot  *mpb.Bar

	mu       sync.Mutex
	estimate estimate
	started  bool // the tests are built
}

// A bar counts the cases of some suites.
type bar struct {
	title  string
	suites []string
	test   string // "TestLoops/": the tests below it are cases of this bar
	shown  *mpb.Bar

	done, of int
	current  string
}

// startBars draws them, at every tick of refresh or, without one, some times a second.
func startBars(out io.Writer, x expectation, refresh <-chan any) *bars {
	options := []mpb.ContainerOption{mpb.WithOutput(out)}
	if refresh != nil {
		options = append(options, mpb.ForceTTY(), mpb.WithManualRefresh(refresh), mpb.WithWidth(80))
	}
	b := &bars{out: out, began: time.Now(), board: mpb.New(options...), estimate: x.estimate()}
	b.all = []*bar{
		{title: "broken receivers", suites: []string{report.Flawed},
			test: "TestFlawedReceiversAreCaught/"},
		{title: "scenarios", suites: []string{report.Scenario, report.Replay},
			test: "TestScenarios/"},
		{title: "loops", suites: []string{report.Loop, report.Free}, test: "TestLoops/"},
		{title: "programs explored", suites: []string{report.Exploration}, test: "TestEveryOrder/"},
		{title: "laws", suites: []string{report.Law}},
	}
	for place, bar := range b.all {
		if bar.of = x.count(bar.suites...); bar.of > 0 {
			b.draw(bar, place)
		}
	}
	b.foot = b.board.New(0, mpb.NopStyle(), mpb.BarPriority(len(b.all)),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
			return b.footLine(time.Now())
		})))
	return b
}

// barWidth is how wide a bar is, in columns, its counts beside it.
const barWidth = 30

func (b *bars) draw(bar *bar, place int) {
	style := mpb.BarStyle().Lbound("").Filler("━").Tip("━").Padding("─").Rbound("")
	counts := func(decor.Statistics) string {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.TrimRight(fmt.Sprintf(" %d/%d  %s", bar.done, bar.of, bar.current), " ")
	}
	bar.shown = b.board.New(0, style, mpb.BarWidth(barWidth), mpb.BarFillerTrim(),
		mpb.BarPriority(place),
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("  %-18s", bar.title))),
		mpb.AppendDecorators(decor.Any(counts)))
	bar.shown.SetTotal(int64(bar.of), false)
}

func (b *bars) footLine(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := "  " + now.Sub(b.began).Truncate(time.Second).String()
	if b.started {
		text += " · " + b.estimate.say(now)
	} else {
		text += " · building the tests"
	}
	return text + " · Ctrl-C stops"
}

// running hears that a test has begun.
func (b *bars) running(e event) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = true
	lane := b.lane(e.Package)
	if lane == nil {
		return
	}
	now := time.Now()
	if lane.began.IsZero() {
		lane.began = now
	}
	for _, bar := range b.all {
		name, below := strings.CutPrefix(e.Test, bar.test)
		for _, suite := range bar.suites {
			if key := suite + " " + name; below && lane.left[key] > 0 {
				bar.current = name
				lane.start(key, now)
			}
		}
	}
}

func (b *bars) lane(pkg string) *lane {
	return b.estimate.lanes[path.Base(pkg)]
}

// judged counts a verdict. A case that nobody expected makes the whole longer by one.
func (b *bars) judged(e report.Entry) {
	if b == nil {
		return
	}
	for _, bar := range b.all {
		if slices.Contains(bar.suites, e.Suite) {
			b.count(bar, e)
		}
	}
}

// count must not hold the lock while it tells the bar: the bar may be waiting for it to be drawn.
func (b *bars) count(bar *bar, e report.Entry) {
	b.mu.Lock()
	if lane := b.lane(packageOf(e.Suite)); lane != nil {
		lane.judged(e.Suite+" "+e.Name, e.Elapsed)
	}
	bar.done++
	bar.of = max(bar.of, bar.done)
	if bar.done == bar.of {
		bar.current = ""
	}
	done, of := bar.done, bar.of
	b.mu.Unlock()
	if bar.shown != nil {
		bar.shown.SetTotal(int64(of), false)
		bar.shown.SetCurrent(int64(done))
	}
}

// Write scrolls whole lines above the bars; where those have failed it just writes.
func (b *bars) Write(text []byte) (int, error) {
	n, err := b.board.Write(text)
	if err != nil {
		return b.out.Write(text)
	}
	return n, nil
}

// ended hears that a test is over, or a whole package. What left no verdict is not waited for.
func (b *bars) ended(e event) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	lane := b.lane(e.Package)
	if lane == nil {
		return
	}
	for _, bar := range b.all {
		name, below := strings.CutPrefix(e.Test, bar.test)
		over := e.Test == "" && packageOf(bar.suites[0]) == path.Base(e.Package)
		if over || below && name == bar.current {
			bar.current = ""
		}
		for _, suite := range bar.suites {
			if below {
				delete(lane.left, suite+" "+name)
			}
		}
	}
	lane.over = lane.over || e.Test == ""
}

// end takes the bars away.
func (b *bars) end() {
	if b == nil {
		return
	}
	for _, bar := range b.all {
		if bar.shown != nil {
			bar.shown.Abort(true)
		}
	}
	b.foot.Abort(true)
	b.board.Wait()
}
