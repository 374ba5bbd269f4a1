package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"webhooklab/lab/postgres"
)

// Process makes receivers that are processes of their own, in any language: each session starts
// the program anew, tells it by DATABASE_URL where its wire is, and speaks with it in lines of JSON
// over standard input and output, one request and one answer a line.
//
//	→ {"id":1,"do":"receive","delivery":{"source":"shop","event_id":"evt_1","object_id":"order",
//	   "revision":1,"snapshot":"{\"paid\": true}","type":"","payload":null,"body":null}}
//	← {"id":1,"outcome":"applied","acked":true}
//	→ {"id":2,"do":"work"}
//	← {"id":2,"error":"connection reset by peer"}
//
// Answers may come in any order, each once, under the id of its request. An error says that the
// sender learned nothing. "do" names what is asked: "receive", or an ability of the receiver's
// with its "args", texts. Text that is not UTF-8 is written {"base64":"/w=="}; null is not "".
// A program whose standard input ends shall leave. PG* variables are kept from it. What it writes
// to standard error is shown when it fails.
func Process(argv ...string) NewReceiver {
	return func(_ context.Context, dsn string) (Receiver, error) { return launch(dsn, argv) }
}

// A ChildProcess is a running receiver that Process has started. It is safe for concurrent use.
type ChildProcess struct {
	name     string
	pid      int           // read after forked
	forked   chan struct{} // closed when the program runs
	requests chan []byte
	leave    func()        // ends its standard input
	leaving  chan struct{} // closed by leave
	ended    chan struct{} // closed when it has ended and its last answer was taken
	err      error         // how it ended; read after ended
	tasks    sync.WaitGroup
	stderr   tail

	mu      sync.Mutex
	last    int                // the id of the last request
	waiting map[int]chan reply // by id, nil where nobody waits any more
	broken  error              // it was killed, or did not keep to the protocol
}

// closeBound is how long a program may take to leave before it is killed.
const closeBound = 5 * time.Second

func launch(dsn string, argv []string) (*ChildProcess, error) {
	if len(argv) == 0 {
		return nil, errors.New("lab: start a receiver: no program is named")
	}
	p := &ChildProcess{
		name: argv[0], requests: make(chan []byte), leaving: make(chan struct{}),
		forked: make(chan struct{}), ended: make(chan struct{}), waiting: map[int]chan reply{},
	}
	p.leave = sync.OnceFunc(func() { close(p.leaving) })
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(postgres.Environment(), "DATABASE_URL="+dsn)
	cmd.Stdout, cmd.Stderr = &lines{hear: p.hear}, &p.stderr
	cmd.SysProcAttr = ownGroup()
	cmd.WaitDelay = time.Second // children of its own may hold its output open
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("lab: start the receiver %s: %w", p.name, err)
	}
	if err := p.start(cmd); err != nil {
		return nil, fmt.Errorf("lab: start the receiver %s: %w", p.name, err)
	}
	p.tasks.Go(func() { p.write(in) })
	return p, nil
}

// start forks from a thread that lives as long as the program: the kernel takes the end of the
// thread that forked for our death.
func (p *ChildProcess) start(cmd *exec.Cmd) error {
	started := make(chan error)
	p.tasks.Go(func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
			close(p.forked)
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			killGroup(p.pid) // what it has started itself
			close(p.ended)
		}
	})
	return <-started
}

// write hands the requests over. It ends with the program's standard input.
func (p *ChildProcess) write(in io.WriteCloser) {
	defer in.Close()
	for {
		select {
		case line := <-p.requests:
			if _, err := in.Write(line); err != nil {
				p.deaf(err)
				return
			}
		case <-p.leaving:
			return
		case <-p.ended:
			return
		}
	}
}

// deaf: its standard input is closed, so it has ended or will be made to.
func (p *ChildProcess) deaf(err error) {
	select {
	case <-p.ended:
	case <-time.After(time.Second):
		_ = p.breaks("reads no more requests: %v", err)
	}
}

// Receive hands over a delivery. When ctx ends first, the answer is forgotten; the program goes on.
func (p *ChildProcess) Receive(ctx context.Context, d Delivery) (Answer, error) {
	return p.ask(ctx, request{Do: "receive", Delivery: (*wireDelivery)(&d)})
}

// Do has the program do something else than receive: "work", "recover".
func (p *ChildProcess) Do(ctx context.Context, what string, args ...string) (Answer, error) {
	r := request{Do: what}
	for _, a := range args {
		r.Args = append(r.Args, text(a))
	}
	return p.ask(ctx, r)
}

func (p *ChildProcess) ask(ctx context.Context, r request) (Answer, error) {
	answer := make(chan reply, 1)
	r.ID = p.expect(answer)
	line, err := json.Marshal(r)
	if err != nil {
		return Unknown, fmt.Errorf("lab: write a request: %w", err)
	}
	select {
	case p.requests <- append(line, '\n'):
	case <-ctx.Done():
		return Unknown, p.giveUp(ctx, r)
	case <-p.leaving:
		return Unknown, fmt.Errorf("lab: the receiver %s is closed", p.name)
	case <-p.ended:
		return Unknown, p.why(r)
	}
	select {
	case a := <-answer:
		return a.answer()
	case <-ctx.Done():
		return Unknown, p.giveUp(ctx, r)
	case <-p.ended:
	}
	select {
	case a := <-answer: // the last thing that it said
		return a.answer()
	default:
		return Unknown, p.why(r)
	}
}

func (p *ChildProcess) expect(answer chan reply) (id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.waiting[p.last] = answer
	return p.last
}

func (p *ChildProcess) giveUp(ctx context.Context, r request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.waiting[r.ID]; open {
		p.waiting[r.ID] = nil
	}
	return fmt.Errorf("lab: %s %s: %w", p.name, r.Do, context.Cause(ctx))
}

// hear takes a line that the program has written.
func (p *ChildProcess) hear(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var a reply
	if err := json.Unmarshal(line, &a); err != nil {
		return p.breaks("wrote a line that is no answer (%v): %.200q", err, line)
	}
	if (a.Outcome == "") == (a.Error == "") {
		return p.breaks("wants either an outcome or an error in each answer: %.200q", line)
	}
	p.mu.Lock()
	answer, open := p.waiting[a.ID]
	delete(p.waiting, a.ID)
	p.mu.Unlock()
	if !open {
		return p.breaks("answered what was not asked: %.200q", line)
	}
	if answer != nil {
		answer <- a
	}
	return nil
}

// breaks ends a program of which no further answer could be trusted.
func (p *ChildProcess) breaks(format string, args ...any) error {
	err := fmt.Errorf("lab: the receiver %s "+format, append([]any{p.name}, args...)...)
	p.strike(err)
	return err
}

func (p *ChildProcess) strike(why error) {
	p.mu.Lock()
	if p.broken == nil {
		p.broken = why
	}
	p.mu.Unlock()
	<-p.forked // it may speak before we know its number
	killGroup(p.pid)
}

// why says why there is no answer to this request. The program has ended.
func (p *ChildProcess) why(r request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	why := p.broken
	if why == nil {
		how := "exit status 0"
		if p.err != nil {
			how = p.err.Error()
		}
		why = fmt.Errorf("lab: the receiver %s ended (%s) before it answered %s", p.name, how, r.Do)
	}
	if said := strings.TrimSpace(p.stderr.String()); said != "" {
		why = fmt.Errorf("%w; it wrote:\n%s", why, said)
	}
	return why
}

// Kill ends the program by SIGKILL, with whatever it has started, and returns when it is gone.
// Whoever waits for an answer learns nothing.
func (p *ChildProcess) Kill() {
	select {
	case <-p.ended:
	default:
		p.strike(fmt.Errorf("lab: the receiver %s was killed", p.name))
	}
	p.tasks.Wait()
}

// Close ends the program's standard input, and kills what has not left soon after.
func (p *ChildProcess) Close() {
	p.leave()
	select {
	case <-p.ended:
		p.tasks.Wait()
	case <-time.After(closeBound):
		p.Kill()
	}
}

// killGroup ends what is left of a program and of what it has started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
