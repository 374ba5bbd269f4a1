package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"webhooklab/toxiproxy"
)

// Sweeping says what to cut, and how.
type Sweeping struct {
	Program Program
	Faults  []Fault // nil: Cuts of one session, PairCuts of two

	// Process makes the same receiver as a process of its own, for faults that kill it. Nil: the
	// cells of those faults do not exist.
	Process NewReceiver

	First    bool               // end with the first cell that broke a law
	Retries  int                // how often a sender comes again; 0: 5
	Progress func(done, of int) // cells; of two sessions nobody knows beforehand how many: 0
}

// Cuts are the faults at each command of a session that need no server of the lab's own.
func Cuts() []Fault {
	var all []Fault
	for _, kind := range []FaultKind{LostRequest, LostAck} {
		for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST, toxiproxy.Hang} {
			all = append(all, Fault{kind, how})
		}
	}
	return append(all, Fault{Kind: Terminated}, Fault{Kind: Cancelled}, Fault{Kind: ReceiverKilled})
}

// ServerKills are the faults that kill PostgreSQL: before the command, and behind it.
func ServerKills() []Fault { return []Fault{{Kind: ServerKilled}, {Kind: ServerKilledAfter}} }

// PairCuts are the faults that one of two sessions meets, wherever the other stands.
func PairCuts() []Fault {
	return []Fault{{Kind: LostRequest}, {Kind: LostAck}, {Kind: Terminated}}
}

// Swept is what came of a sweep. Its cells are complete: every command with every fault, in this
// order; a cell that can't exist says why.
type Swept struct {
	Program string
	Law     string
	Verdict Verdict
	Faults  []Fault
	Points  []string // the commands of a run without faults, in its order
	Cells   []Cell
	Elapsed time.Duration

	// Offences are what was wrong before anything was cut.
	Offences []Offence `json:",omitempty"`
}

// Struck counts the cells whose fault fired.
func (s Swept) Struck() (n int) {
	for _, c := range s.Cells {
		if c.None == "" && c.Verdict != VerdictUnknown {
			n++
		}
	}
	return n
}

// None counts the cells that can't exist.
func (s Swept) None() (n int) {
	for _, c := range s.Cells {
		if c.None != "" {
			n++
		}
	}
	return n
}

// Failures are the cells that broke a law or could not be judged.
func (s Swept) Failures() (bad []Cell) {
	for _, c := range s.Cells {
		if c.Verdict == VerdictInvalid || c.Verdict == VerdictUnknown {
			bad = append(bad, c)
		}
	}
	return bad
}

// A sweep in progress.
type sweep struct {
	lab   *Lab
	want  Sweeping
	clean clean
	done  Swept
	crew  *crew

	broken bool // a law, and that is enough
}

// Sweep runs a program once for each of its commands and each fault, and cuts it there: at the 1st
// command, the 2nd, … until there is none left to cut. After a cut the sender comes again until it
// has its answer, and the laws must hold.
//
// With two sessions the first is cut at each of its commands while the second stands at each of its
// own.
func (l *Lab) Sweep(ctx context.Context, want Sweeping) Swept {
	began := time.Now()
	w := &sweep{lab: l, want: want}
	if want.Retries == 0 {
		w.want.Retries = 5
	}
	pair := len(want.Program.Sessions) == 2
	if want.Faults == nil {
		w.want.Faults = map[bool][]Fault{false: Cuts(), true: PairCuts()}[pair]
	}
	w.done = Swept{Program: want.Program.Name, Law: want.Program.Law, Faults: w.want.Faults}
	if err := w.gatesFor(ctx)(l); err != nil {
		w.unknown("%v", err)
	}
	kills := slices.ContainsFunc(w.want.Faults, Fault.killsServer)
	w.crew = l.gather(kills, w.gatesFor(ctx))
	defer w.crew.dismiss()
	switch {
	case w.done.Verdict == VerdictUnknown:
	case len(want.Program.Sessions) > 2 || len(want.Program.Sessions) == 0:
		w.unknown("a sweep is of one session or of two")
	case !w.baseline(ctx):
	case pair:
		w.pairs(ctx)
	default:
		w.places(ctx)
	}
	for _, c := range w.done.Cells {
		w.done.Verdict = max(w.done.Verdict, c.Verdict)
	}
	if ctx.Err() != nil {
		w.unknown("the sweep was interrupted: %v", context.Cause(ctx))
	}
	w.done.Elapsed = time.Since(began)
	return w.done
}

func (w *sweep) unknown(format string, args ...any) {
	w.done.Verdict = max(w.done.Verdict, VerdictUnknown)
	w.done.Offences = append(w.done.Offences, Offence{
		Verdict: VerdictUnknown, Law: w.want.Program.Law, Text: fmt.Sprintf(format, args...)})
}

// baseline runs the program without a fault: it must hold before anything is cut.
func (w *sweep) baseline(ctx context.Context) bool {
	c, r := w.lab.cleanRun(ctx, w.want)
	w.clean = c
	if r.Verdict != VerdictValid {
		w.done.Verdict, w.done.Offences = r.Verdict, r.Offences
		return false
	}
	if len(c.points) == 0 {
		w.unknown("the program sends no command that could be cut")
		return false
	}
	for _, p := range c.points {
		w.done.Points = append(w.done.Points, p.step.What)
	}
	return true
}

// places cuts one session everywhere. Statements are cancelled first, over connections that the run
// without faults has left: preparing a SELECT locks its table already, and then nothing makes it wait
// there. The cells that need a process of the receiver's own come last: each starts
// two.
func (w *sweep) places(ctx context.Context) {
	cells := map[cutAt]Cell{}
	var first, cuts, killed []Fault
	for _, f := range w.want.Faults {
		switch f.Kind {
		case Cancelled:
			first = append(first, f)
		case ReceiverKilled:
			killed = append(killed, f)
		default:
			cuts = append(cuts, f)
		}
	}
	w.each(ctx, first, cells, 1)
	w.each(ctx, cuts, cells, lookahead)
	w.asProcess(func() { w.each(ctx, killed, cells, lookahead) })
	for place := range w.clean.points {
		for _, f := range w.want.Faults {
			if c, ok := cells[cutAt{place + 1, f}]; ok {
				w.done.Cells = append(w.done.Cells, c)
			}
		}
	}
}

// cutAt is a place, counted from 1, and what happens there.
type cutAt struct {
	place int
	fault Fault
}

func (f Fault) killsReceiver() bool { return f.Kind == ReceiverKilled }

// A strike is a cell that is being played.
type strike struct {
	at      cutAt
	job     *job
	cell    Cell
	reached bool
}

// strike has a cell played, by this lab itself unless it may be shared.
func (w *sweep) strike(ctx context.Context, at cutAt, shared bool) *strike {
	s := &strike{at: at}
	play := func(l *Lab) { s.cell, s.reached = w.cell(ctx, l, at) }
	if shared {
		w.lab.explored += perCell
		w.crew.grow(ctx)
		s.job = w.crew.send(play)
	} else {
		play(w.lab)
	}
	return s
}

// each cuts at the 1st command, the 2nd, … until there is none left to cut, with so many cells
// under way.
func (w *sweep) each(ctx context.Context, faults []Fault, cells map[cutAt]Cell, ahead int) {
	var all []cutAt
	for place := range w.clean.points {
		for _, f := range faults {
			all = append(all, cutAt{place + 1, f})
		}
	}
	var sent []*strike
	for len(all)+len(sent) > 0 && !w.broken && ctx.Err() == nil {
		for len(sent) < ahead && len(all) > 0 {
			sent = append(sent, w.strike(ctx, all[0], ahead > 1))
			all = all[1:]
		}
		s := sent[0]
		sent = sent[1:]
		w.await(s)
		if !s.reached && ctx.Err() == nil {
			s.cell.doubt("the program ended before it came to this command")
		}
		if ctx.Err() == nil {
			w.keep(cells, s.at, s.cell)
		}
	}
	for _, s := range sent {
		w.crew.drop(s.job)
	}
	w.beyond(ctx, faults)
}

func (w *sweep) await(s *strike) {
	if s.job != nil {
		w.crew.wait(s.job)
	}
}

// beyond looks for a command that the run without faults did not have.
func (w *sweep) beyond(ctx context.Context, faults []Fault) {
	if len(faults) == 0 || w.broken || ctx.Err() != nil || faults[0].killsServer() {
		return
	}
	at := cutAt{len(w.clean.points) + 1, faults[0]}
	if c, reached := w.cell(ctx, w.lab, at); reached && ctx.Err() == nil {
		w.unknown("there was a command more than in the run without faults: %s", c.Command)
	}
}

func (w *sweep) keep(cells map[cutAt]Cell, at cutAt, c Cell) {
	cells[at] = c
	w.broken = w.want.First && c.Verdict == VerdictInvalid
	if w.want.Progress != nil {
		w.want.Progress(len(cells), len(w.clean.points)*len(w.want.Faults))
	}
}

func (f Fault) killsServer() bool { return f.Kind == ServerKilled || f.Kind == ServerKilledAfter }

// asProcess has the receiver run as a process of its own meanwhile.
func (w *sweep) asProcess(run func()) {
	if w.want.Process == nil { // it is told of each that it can't be
		run()
		return
	}
	own := w.lab.cfg.New
	w.runs(w.want.Process)
	defer w.runs(own)
	run()
}

// runs gives everybody another receiver. Whoever joins later than this has it from the start.
func (w *sweep) runs(r NewReceiver) {
	for _, l := range w.crew.labs {
		l.dismiss("")
		l.cfg.New = r
	}
}

// gatesFor prepares a lab for the faults that need gates.
func (w *sweep) gatesFor(ctx context.Context) func(*Lab) error {
	return func(l *Lab) error {
		if !slices.Contains(w.want.Faults, Fault{Kind: Cancelled}) {
			return nil
		}
		return l.placeGatesFor(ctx)
	}
}

// placeGatesFor places gates that stay open until a statement is to be cancelled at one.
func (l *Lab) placeGatesFor(ctx context.Context) error {
	before := l.gated()
	err := l.placeGates(ctx, true)
	l.gates.again(before)
	return err
}

// dismiss ends the sessions of this name that were kept for later; those of any name for "".
func (l *Lab) dismiss(name string) {
	for key, s := range l.kept {
		if name == "" || s.Name == name {
			s.close()
			delete(l.kept, key)
		}
	}
}
