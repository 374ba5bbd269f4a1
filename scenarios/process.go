package scenarios

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"webhooklab/lab"
)

// AsProcess makes receivers that are processes of their own (see lab.Process), with the abilities
// that the suites ask for.
func AsProcess(argv ...string) lab.NewReceiver {
	start := lab.Process(argv...)
	return func(ctx context.Context, dsn string) (lab.Receiver, error) {
		r, err := start(ctx, dsn)
		if err != nil {
			return nil, err
		}
		return remote{r.(*lab.ChildProcess)}, nil
	}
}

// ServeReceiver is such a process: the reference receiver of a suite, on the database that
// DATABASE_URL names, until in ends.
func ServeReceiver(name string, in io.Reader, out io.Writer) (err error) {
	var names []string
	for _, suite := range Suites {
		if suite.Name == name && name != DoorSuite.Name {
			return serve(suite.Receiver, in, out)
		}
		names = append(names, suite.Name)
	}
	return fmt.Errorf("there is no receiver %q to serve: want one of %s, without %s",
		name, strings.Join(names, ", "), DoorSuite.Name)
}

func serve(newReceiver lab.NewReceiver, in io.Reader, out io.Writer) error {
	dsn := os.Getenv("DATABASE_URL")
	if dsn == "" {
		return fmt.Errorf("serve a receiver: DATABASE_URL is not set")
	}
	r, err := newReceiver(context.Background(), dsn)
	if err != nil {
		return err
	}
	if c, ok := r.(interface{ Close() }); ok {
		defer c.Close()
	}
	return lab.Serve(context.Background(), able{r}, in, out)
}

// remote calls the abilities of a process by their names; able, at its other end, finds them.
type remote struct{ *lab.ChildProcess }

var _ interface {
	Clerk
	Mailer
	Poster
} = remote{}

func (r remote) Work(ctx context.Context) (lab.Answer, error)     { return r.Do(ctx, "work") }
func (r remote) Recover(ctx context.Context) (lab.Answer, error)  { return r.Do(ctx, "recover") }
func (r remote) Claim(ctx context.Context) (lab.Answer, error)    { return r.Do(ctx, "claim") }
func (r remote) Complete(ctx context.Context) (lab.Answer, error) { return r.Do(ctx, "complete") }
func (r remote) Fail(ctx context.Context) (lab.Answer, error)     { return r.Do(ctx, "fail") }
func (r remote) Release(ctx context.Context) (lab.Answer, error)  { return r.Do(ctx, "release") }
func (r remote) Dispatch(ctx context.Context) (lab.Answer, error) { return r.Do(ctx, "dispatch") }

func (r remote) Heartbeat(ctx context.Context) (lab.Answer, error) {
	return r.Do(ctx, "heartbeat")
}

func (r remote) Requeue(ctx context.Context, source, event string) (lab.Answer, error) {
	return r.Do(ctx, "requeue", source, event)
}

func (r remote) AddMessage(ctx context.Context, source, message, recipient string) (
	lab.Answer, error) {
	return r.Do(ctx, "add message", source, message, recipient)
}

func (r remote) Correct(ctx context.Context, source, event, voids string) (lab.Answer, error) {
	return r.Do(ctx, "correct", source, event, voids)
}

type able struct{ lab.Receiver }

func (a able) Do(ctx context.Context, what string, args ...string) (lab.Answer, error) {
	if r, ok := a.Receiver.(interface {
		Recover(context.Context) (lab.Answer, error)
	}); ok && what == "recover" {
		return r.Recover(ctx)
	}
	args = append(args, "", "", "") // what is missing is empty
	switch r := a.Receiver.(type) {
	case Clerk:
		return clerkDoes(ctx, r, what, args)
	case Mailer:
		return mailerDoes(ctx, r, what, args)
	case Poster:
		if what == "dispatch" {
			return r.Dispatch(ctx)
		}
	}
	return cannot(what)
}

func clerkDoes(ctx context.Context, r Clerk, what string, args []string) (lab.Answer, error) {
	switch what {
	case "work":
		return r.Work(ctx)
	case "claim":
		return r.Claim(ctx)
	case "heartbeat":
		return r.Heartbeat(ctx)
	case "complete":
		return r.Complete(ctx)
	case "fail":
		return r.Fail(ctx)
	case "release":
		return r.Release(ctx)
	case "requeue":
		return r.Requeue(ctx, args[0], args[1])
	}
	return cannot(what)
}

func mailerDoes(ctx context.Context, r Mailer, what string, args []string) (lab.Answer, error) {
	switch what {
	case "add message":
		return r.AddMessage(ctx, args[0], args[1], args[2])
	case "correct":
		return r.Correct(ctx, args[0], args[1], args[2])
	}
	return cannot(what)
}

func cannot(what string) (lab.Answer, error) {
	return lab.Unknown, fmt.Errorf("the receiver has no ability to %s", what)
}
