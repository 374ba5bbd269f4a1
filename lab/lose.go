package lab

import (
	"slices"

	"webhooklab/toxiproxy"
)

// A truth is what the server itself says became of a transaction.
type truth struct {
	xid    string // "" before the first write, and for a command that is its own transaction
	status string // committed, aborted or in progress; "" without xid
}

// loseRequest cuts the lane's held command before it reaches the server.
func (s *Session) loseRequest(ln *lane, how toxiproxy.Close) truth {
	xid := s.xid(ln)
	s.cut(ln, &toxiproxy.Fault{At: toxiproxy.BeforeCommand, Close: how})
	return s.lab.settled(s, ln.pid, xid, "aborted", how)
}

// loseAck lets the server execute the lane's held command and drops its acknowledgement.
func (s *Session) loseAck(ln *lane, how toxiproxy.Close) truth {
	xid, want := s.executed(ln, how)
	return s.lab.settled(s, ln.pid, xid, want, how)
}

// executed cuts the lane behind its held command, and returns its transaction and what must have
// become of it.
func (s *Session) executed(ln *lane, how toxiproxy.Close) (xid, want string) {
	l := s.lab
	f := &toxiproxy.Fault{At: toxiproxy.AfterCommand, Close: how}
	var seen string
	var seenErr error
	commits := ln.command.Label() == "COMMIT"
	xid = s.xid(ln)
	f.OnFire = func(toxiproxy.Event) {
		switch {
		case commits && xid != "":
			seen, seenErr = l.observer.status(l.ctx, xid)
		case xid == "": // the command may have been the first to write
			xid, seenErr = l.observer.xid(l.ctx, ln.pid)
		}
	}
	known := xid != ""
	s.cut(ln, f)
	if tags := f.Executed().Tags; commits && (len(tags) != 1 || tags[0] != "COMMIT") {
		l.give(VerdictUnknown, "the server answered the COMMIT of %s by %v", s.Name, tags)
	}
	if seenErr != nil || commits && known && seen != "committed" {
		l.give(VerdictUnknown, "transaction %s should be committed before %s is cut off: %s%s",
			xid, s.Name, seen, because(seenErr))
	}
	if commits {
		return xid, "committed"
	}
	return xid, "aborted"
}

// xid is the lane's transaction, "" when it has none yet.
func (s *Session) xid(ln *lane) string {
	l := s.lab
	xid, err := l.observer.xid(l.ctx, ln.pid)
	if err != nil {
		l.give(VerdictUnknown, "ask for the transaction of %s: %v", s.Name, err)
	}
	return xid
}

// cut releases the lane's command into the fault and waits until the client has noticed. A command
// that has to wait first is waited for: whoever holds it up goes on meanwhile.
func (s *Session) cut(ln *lane, f *toxiproxy.Fault) {
	s.spoiled = true
	s.stepLane(ln, f)
	for n := 0; n < maxSteps && ln.state == laneBlocked; n++ {
		holder := s.lab.owner(ln.wait.Blockers[0])
		if holder == nil || len(holder.standing()) == 0 {
			break
		}
		holder.stepLane(holder.standing()[0], nil)
	}
	s.lab.Fired(s, f)
}

// settled waits until the backend of a cut connection is gone, with its locks, and then demands
// that the server has this to say of its transaction.
func (l *Lab) settled(s *Session, pid uint32, xid, want string, how toxiproxy.Close) truth {
	if how == toxiproxy.Hang {
		l.giveUp(s)
	}
	l.gone(s, pid)
	l.settle(nil)
	return l.became(s, xid, want)
}

// giveUp ends what was left hanging, as the network does at last. What its receiver has opened
// meanwhile falls too, and is waited for: nobody may release a command of it any more.
func (l *Lab) giveUp(s *Session) {
	var open []*lane
	for _, ln := range s.lanes {
		open = append(open, ln)
	}
	s.wire.Sever(toxiproxy.FIN)
	l.poll("the connections of "+s.Name+" to fall", func() (bool, error) {
		l.drain()
		return !slices.ContainsFunc(open, func(ln *lane) bool { return !ln.dying }), nil
	})
}

// became demands that the server says this of a transaction.
func (l *Lab) became(s *Session, xid, want string) truth {
	if xid == "" {
		return truth{}
	}
	got, err := l.observer.status(l.ctx, xid)
	if err != nil || got != want {
		l.give(VerdictUnknown, "transaction %s of %s should be %s: %s%s",
			xid, s.Name, want, got, because(err))
	}
	l.History.Note(s.Name, "transaction", xid+" "+got)
	return truth{xid, got}
}
