package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// erase returns to the start of the terminal's line and clears it.
const erase = "\r\x1b[K"

// progress keeps one line at the foot of a terminal: how long the run has taken and how many
// verdicts there are. What is written through it scrolls above that line.
type progress struct {
	out   io.Writer
	dir   string
	began time.Time

	mu     sync.Mutex
	shown  bool // the foot line stands
	midway bool // the last write ended inside a line, which the foot line must not cut

	done chan struct{}
	gone sync.WaitGroup
}

// startProgress draws the line anew at every tick, until end.
func startProgress(out io.Writer, dir string, tick <-chan time.Time) *progress {
	p := &progress{out: out, dir: dir, began: time.Now(), done: make(chan struct{})}
	p.gone.Go(func() {
		for {
			select {
			case now := <-tick:
				p.draw(now)
			case <-p.done:
				return
			}
		}
	})
	return p
}

func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	if len(text) > 0 {
		p.midway = text[len(text)-1] != '\n'
	}
	return p.out.Write(text)
}

func (p *progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.midway {
		return
	}
	p.clear()
	fmt.Fprintf(p.out, "  %s · verdicts so far: %d · Ctrl-C stops",
		now.Sub(p.began).Round(time.Second), countVerdicts(p.dir))
	p.shown = true
}

func (p *progress) clear() {
	if p.shown {
		io.WriteString(p.out, erase)
		p.shown = false
	}
}

// end removes the line for good.
func (p *progress) end() {
	close(p.done)
	p.gone.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func countVerdicts(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "verdicts.jsonl"))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte{'\n'})
}
