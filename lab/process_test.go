package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
)

// program starts a shell script as a receiver.
func program(t *testing.T, script string) *lab.ChildProcess {
	t.Helper()
	r, err := lab.Process("sh", "-c", script)(t.Context(), "postgres://nobody@nowhere/nothing")
	require.NoError(t, err)
	p := r.(*lab.ChildProcess)
	t.Cleanup(p.Kill)
	return p
}

func asked(t *testing.T, p *lab.ChildProcess) (lab.Answer, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return p.Do(ctx, "work")
}

func TestAProgramAnswers(t *testing.T) {
	for name, of := range map[string]struct {
		script string
		want   lab.Answer
	}{
		"outcome": {`read q; echo '{"id":1,"outcome":"applied","acked":true}'; cat`, lab.Applied},
		"in pieces, and a blank line": {
			`read q; echo; printf '{"id":1,"out'; printf 'come":"stale","acked":true}\n'; cat`,
			lab.Stale,
		},
		"as its last word": {`read q; echo '{"id":1,"outcome":"invalid"}'; exit 3`, lab.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := asked(t, program(t, of.script))
			require.NoError(t, err)
			require.Equal(t, of.want, got)
		})
	}
}

// Whatever a program does wrong, its sender learns nothing and the reason can be read.
func TestAProgramFails(t *testing.T) {
	for name, of := range map[string]struct{ script, says string }{
		"an error":        {`read q; echo '{"id":1,"error":"no luck"}'; cat`, "no luck"},
		"it ends":         {`read q; echo why >&2; exit 3`, "exit status 3"},
		"last words":      {`read q; echo why it ended >&2; exit 3`, "why it ended"},
		"it ends at once": {`exit 0`, "ended (exit status 0)"},
		"no JSON":         {`read q; echo hello; cat`, "no answer"},
		"garbage at once": {`echo hello; cat`, "no answer"},
		"no outcome":      {`read q; echo '{"id":1}'; cat`, "either an outcome or an error"},
		"not asked":       {`read q; echo '{"id":7,"outcome":"applied"}'; cat`, "not asked"},
		"without an end":  {`read q; yes | tr -d '\n'`, "no answer"},
		"twice": {
			`read q; a='{"id":1,"outcome":"done","acked":true}'; echo $a; echo $a; cat`,
			"not asked",
		},
		"its input is shut": {
			`read q; exec <&-; echo '{"id":1,"outcome":"done","acked":true}'; exec sleep 1000`,
			"reads no more requests",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, of.script)
			got, err := asked(t, p)
			if got == lab.Done {
				_, err = asked(t, p)
			}
			require.ErrorContains(t, err, of.says)
		})
	}
}

func TestNoProgram(t *testing.T) {
	_, err := lab.Process("/nowhere/receiver")(t.Context(), "")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = lab.Process()(t.Context(), "")
	require.ErrorContains(t, err, "no program is named")
}

// A sender that gives up does not disturb the next one, although its answer still comes.
func TestALateAnswerIsForgotten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "read")
	p := program(t, `
read one; echo 1 >`+file+`.new; mv `+file+`.new `+file+`; read two
echo '{"id":1,"outcome":"applied","acked":true}'
echo '{"id":2,"outcome":"stale","acked":true}'
cat`)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := p.Do(ctx, "work")
		left <- err
	}()
	pidsIn(t, file)
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	got, err := asked(t, p)
	require.NoError(t, err)
	require.Equal(t, lab.Stale, got)
}

// Kill takes what the program has started along, and whoever waits learns nothing.
func TestKillLeavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	p := program(t, `sleep 1000 & echo $$ $! >`+file+`.new; mv `+file+`.new `+file+`; wait`)
	waits := make(chan error)
	go func() {
		_, err := p.Do(context.Background(), "work")
		waits <- err
	}()
	pids := pidsIn(t, file)
	p.Kill()
	require.ErrorContains(t, <-waits, "was killed")
	p.Kill() // and again
	for _, pid := range pids {
		isGone(t, pid)
	}
}

func TestCloseEndsItsInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "left")
	p := program(t, `cat >/dev/null; echo 1 >`+file)
	p.Close()
	require.FileExists(t, file)
	_, err := asked(t, p)
	require.ErrorContains(t, err, "receiver sh")
	p.Close()
}

func TestCloseKillsWhatWillNotLeave(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits out the time that a program has to leave")
	}
	p := program(t, `exec sleep 1000`)
	p.Close()
	_, err := asked(t, p)
	require.Error(t, err)
}

// orphan makes this test program start a receiver and die of SIGKILL.
const orphan = "LAB_TEST_ORPHAN"

func leaveAnOrphan(file string) {
	pipe := file + ".pipe"
	err := syscall.Mkfifo(pipe, 0o600)
	if err == nil {
		_, err = lab.Process("sh", "-c", `echo $$ >`+pipe+`
exec sleep 1000`)(context.Background(), "")
	}
	var pid []byte
	if err == nil {
		pid, err = os.ReadFile(pipe) // waits for its word
	}
	if err == nil {
		err = os.WriteFile(file, pid, 0o600)
	}
	if err == nil {
		err = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func TestAProgramDiesWithTheLab(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("only Linux kills the children of the dead")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "pid")
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), orphan+"="+file)
	err = cmd.Run()
	var died *exec.ExitError
	require.True(t, errors.As(err, &died), "%v", err)
	for _, pid := range pidsIn(t, file) {
		isGone(t, pid)
	}
}

// pidsIn waits for a file of numbers.
func pidsIn(t *testing.T, file string) (pids []int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(file)
		return err == nil
	}, 20*time.Second, time.Millisecond)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	require.NotEmpty(t, pids)
	return pids
}

// isGone waits until nothing of a process is left but perhaps what its new parent has to collect.
func isGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return syscall.Kill(pid, 0) != nil || bytes.Contains(stat, []byte(") Z "))
	}, 20*time.Second, time.Millisecond, "process %d", pid)
}

// echo answers by what it was told.
type echo struct{ got chan lab.Delivery }

func (e echo) Receive(ctx context.Context, d lab.Delivery) (lab.Answer, error) {
	e.got <- d
	if d.EventID == "wait" {
		<-ctx.Done()
		return lab.Unknown, ctx.Err()
	}
	if d.EventID == "panic" {
		panic("at the disco")
	}
	return lab.Applied, nil
}

// Every byte of a delivery reaches the other end, also what JSON cannot hold.
func TestServeKeepsEveryByte(t *testing.T) {
	for name, d := range map[string]lab.Delivery{
		"nothing": {},
		"a snapshot": {Source: "shop", EventID: "evt", ObjectID: "order", Revision: 1<<63 - 1,
			Snapshot: []byte(`{"a": "\u0000 <&> 💌"}`)},
		"empty is not nothing": {Snapshot: []byte{}, Payload: []byte{}, Body: []byte{}},
		"hostile": {
			Source: "\xff", EventID: "\x00", Type: "\xc0\x80", Body: []byte("\x80\n"),
		},
		"like its own escape": {EventID: `{"base64":"/w=="}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := echo{make(chan lab.Delivery, 1)}
			served(t, e, wireLine(t, d), `{"id":1,"outcome":"applied","acked":true}`)
			require.Equal(t, d, <-e.got)
		})
	}
}

func TestServeAnswers(t *testing.T) {
	e := func() echo { return echo{make(chan lab.Delivery, 1)} }
	served(t, e(), `{"id":4,"do":"work"}`, `{"id":4,"error":"the receiver has no ability to work"}`)
	served(t, e(), `{"id":5,"do":"receive"}`,
		`{"id":5,"error":"a request to receive has no delivery"}`)
	served(t, e(), `{"id":6,"do":"receive","delivery":{"event_id":"wait"}}`,
		`{"id":6,"error":"context canceled"}`)
	var out bytes.Buffer
	panics := `{"id":7,"do":"receive","delivery":{"event_id":"panic"}}` + "\n"
	require.NoError(t, lab.Serve(t.Context(), e(), strings.NewReader(panics), &out))
	require.Contains(t, out.String(), "at the disco")
	require.ErrorContains(t, lab.Serve(t.Context(), e(), strings.NewReader("hello\n"), io.Discard),
		"read a request")
}

func served(t *testing.T, r lab.Receiver, in, want string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, lab.Serve(t.Context(), r, strings.NewReader(in+"\n"), &out))
	require.JSONEq(t, want, out.String())
}

// wireLine is the request that a program gets for a delivery.
func wireLine(t *testing.T, d lab.Delivery) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "line")
	p := program(t, `read -r q; printf '%s\n' "$q" >`+file+`; echo '{"id":1,"outcome":"done"}'; cat`)
	_, err := p.Receive(t.Context(), d)
	require.NoError(t, err)
	line, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, json.Valid(line))
	return strings.TrimSpace(string(line))
}
