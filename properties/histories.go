package properties

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"webhooklab/lab"
)

// Linearizable is the law that concurrent deliveries are answered as if they had come one after
// the other, each at some moment between its call and its answer, and that the database holds what
// that order comes to.
type Linearizable struct {
	Before *Model        // what was there when the history began; nil: nothing
	Bound  time.Duration // of the search for an order; 0: 10 s
	Dir    string        // for a history that has no order, and its picture; "": none is kept
}

// linearizableLaw is quoted by every verdict but valid.
const linearizableLaw = "concurrent deliveries are answered as some one-by-one order would be"

// Check judges a history by what the database held afterwards, when nothing of it was in progress
// any more. It returns no offence, or one: invalid with the path of the picture, or unknown when
// the bound was over first.
//
// A delivery with an unknown outcome is looked up first. If its event is stored as it was
// delivered, it has its place somewhere between its call and the end; if not, it never happened.
func (l Linearizable) Check(name string, h *lab.History, after Stored) []lab.Offence {
	found, err := after.model()
	if err != nil {
		return offence(lab.VerdictInvalid, "%v", err)
	}
	ops := l.operations(h.Operations(), found)
	if stray := strays(ops, found, l.Before); len(stray) > 0 {
		return offence(lab.VerdictInvalid, "the database holds what nobody delivered:\n%s", stray)
	}
	m := l.model()
	switch porcupine.CheckOperationsTimeout(m, ops, l.bound()) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return offence(lab.VerdictUnknown,
			"no order of %d deliveries was found or ruled out within %v; make the history shorter",
			len(ops), l.bound())
	}
	return offence(lab.VerdictInvalid, "no order of the deliveries explains the answers%s",
		l.keep(name, m, ops, h))
}

func offence(v lab.Verdict, format string, args ...any) []lab.Offence {
	return []lab.Offence{{Verdict: v, Law: linearizableLaw, Text: fmt.Sprintf(format, args...)}}
}

// keep writes the history as it was recorded, and draws it. It says where the picture is, or why
// there is none.
func (l Linearizable) keep(
	name string, m porcupine.Model, ops []porcupine.Operation, h *lab.History,
) string {
	if l.Dir == "" {
		return ""
	}
	var recorded bytes.Buffer
	_, err := h.WriteTo(&recorded)
	path := filepath.Join(l.Dir, name)
	err = errors.Join(err, os.MkdirAll(l.Dir, 0o755),
		os.WriteFile(path+".jsonl", recorded.Bytes(), 0o644),
		l.draw(path+".html", m, ops, h.Notes()))
	if err != nil {
		return fmt.Sprintf("; it could not be kept as %s.jsonl and .html: %v", path, err)
	}
	return fmt.Sprintf(", see %s.html", path)
}

// draw makes a page of the history, the longest orders that were found, and the faults beside
// them.
func (l Linearizable) draw(
	path string, m porcupine.Model, ops []porcupine.Operation, notes []lab.Note,
) error {
	_, info := porcupine.CheckOperationsVerbose(m, ops, l.bound())
	var marks []porcupine.Annotation
	for _, n := range notes {
		marks = append(marks, porcupine.Annotation{
			Tag: n.Kind, Start: n.At, Description: n.Session + ": " + n.Text,
		})
	}
	info.AddAnnotations(marks)
	return porcupine.VisualizePath(m, info, path)
}

func (l Linearizable) bound() time.Duration { return cmp.Or(l.Bound, 10*time.Second) }

// call is one delivery, or the look into the database at the end, as the search takes it.
type call struct {
	delivery lab.Delivery
	event    event
	sound    bool
	look     *Model // not nil: the look, and what it saw; only keys count
	keys     keys
}

// operations turns the history into calls and returns, resolved against what was found.
func (l Linearizable) operations(ops []lab.Operation, found *Model) []porcupine.Operation {
	var all []porcupine.Operation
	sessions := map[string]int{}
	end := int64(1)
	for _, op := range ops {
		end = max(end, op.Call, op.Return)
	}
	for _, op := range ops {
		if _, seen := sessions[op.Session]; !seen {
			sessions[op.Session] = len(sessions)
		}
		c := call{delivery: op.Delivery}
		c.event, c.sound = read(op.Delivery)
		returned := op.Return
		if op.Answer == lab.Unknown {
			if !c.sound || found.judge(c.event) != lab.Duplicate {
				continue
			}
			returned = end + 1
		}
		all = append(all, porcupine.Operation{
			ClientId: sessions[op.Session], Input: c, Call: op.Call,
			Output: op.Answer, Return: returned,
		})
	}
	return append(all, looks(all, found, len(sessions), end+2)...)
}

// looks adds, for each group of deliveries that can influence each other, a look at what the
// database came to hold of it.
func looks(ops []porcupine.Operation, found *Model, session int, at int64) []porcupine.Operation {
	var all []porcupine.Operation
	for _, group := range partition(ops) {
		k := keysOf(group)
		if len(k.events) == 0 {
			continue
		}
		all = append(all, porcupine.Operation{
			ClientId: session, Input: call{look: found, keys: k}, Call: at,
			Output: lab.Done, Return: at,
		})
	}
	return all
}

// strays are stored rows that no delivery explains.
func strays(ops []porcupine.Operation, found, before *Model) []string {
	known := keysOf(ops)
	events, objects := found.clone(), found.clone()
	for key := range known.events {
		delete(events.events, key)
	}
	for key := range known.objects {
		delete(objects.objects, key)
	}
	if before == nil {
		before = &Model{}
	}
	all := differences("event", nil, without(events.events, before.events))
	all = append(all, differences("object", nil, without(objects.objects, before.objects))...)
	slices.Sort(all)
	return all
}

func without[K, V comparable](all, some map[K]V) map[K]V {
	for key, value := range some {
		if all[key] == value {
			delete(all, key)
		}
	}
	return all
}
