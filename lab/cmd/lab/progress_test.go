package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"webhooklab/lab/report"
)

func TestTheFootLineNeverMixesWithOutput(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	require.NoError(t, report.Append(dir, report.Entry{Name: "a"}))
	var out bytes.Buffer
	tick := make(chan time.Time)
	p := startProgress(&out, dir, tick)
	at := p.began.Add(61 * time.Second)
	foot := "  1m1s · verdicts so far: 1 · Ctrl-C stops"

	p.draw(at)
	p.Write([]byte("PASS a\n"))
	p.draw(at)
	p.Write([]byte("half of"))
	p.draw(at) // not inside a line
	p.Write([]byte(" a line\n"))
	p.end()
	require.Equal(t, foot+erase+"PASS a\n"+foot+erase+"half of a line\n", out.String())
}
