package properties

import (
	"fmt"
	"maps"

	"webhooklab/lab"
)

// Model decides what every delivery must be answered when deliveries come one after the other. It
// knows nothing of PostgreSQL. Its zero value is an empty inbox. It is not safe for concurrent
// use.
type Model struct {
	events  map[eventKey]accepted
	owners  map[revisionKey]string // the event that a revision belongs to
	objects map[objectKey]standing
}

type eventKey struct{ source, event string }

type revisionKey struct {
	source, object string
	revision       int64
}

type objectKey struct{ source, object string }

// accepted is what an event carried, its snapshot in canonical form.
type accepted struct {
	object   string
	revision int64
	snapshot string
}

// standing is where an object is.
type standing struct {
	revision int64
	snapshot string
}

func (e event) key() eventKey            { return eventKey{e.source, e.id} }
func (e event) revisionKey() revisionKey { return revisionKey{e.source, e.object, e.revision} }
func (e event) objectKey() objectKey     { return objectKey{e.source, e.object} }
func (e event) content() accepted        { return accepted{e.object, e.revision, e.snapshot} }

// Deliver says what the delivery must be answered, and accepts it if it is to be accepted.
func (m *Model) Deliver(d lab.Delivery) lab.Answer {
	e, sound := read(d)
	if !sound {
		return lab.Invalid
	}
	a := m.judge(e)
	m.take(e, a)
	return a
}

// Backfill sets an object's state from elsewhere than the inbox. It fails on what no delivery
// could carry.
func (m *Model) Backfill(source, object string, revision int64, snapshot []byte) error {
	e, sound := read(lab.Delivery{
		Source: source, EventID: "backfill", ObjectID: object, Revision: revision,
		Snapshot: snapshot,
	})
	if !sound {
		return fmt.Errorf("model: backfill of %q@%d is not of a sound shape: %.80s",
			object, revision, snapshot)
	}
	m.fill()
	m.objects[e.objectKey()] = standing{revision, e.snapshot}
	return nil
}

// judge says what an event must be answered now. It changes nothing.
func (m *Model) judge(e event) lab.Answer {
	if known, there := m.events[e.key()]; there {
		if known == e.content() {
			return lab.Duplicate
		}
		return lab.ReusedEventID
	}
	if _, taken := m.owners[e.revisionKey()]; taken {
		return lab.ReusedRevision
	}
	if now, there := m.objects[e.objectKey()]; there && now.revision >= e.revision {
		return lab.Stale
	}
	return lab.Applied
}

// take makes the event's answer true.
func (m *Model) take(e event, a lab.Answer) {
	if a != lab.Applied && a != lab.Stale {
		return
	}
	m.fill()
	m.events[e.key()] = e.content()
	m.owners[e.revisionKey()] = e.id
	if a == lab.Applied {
		m.objects[e.objectKey()] = standing{e.revision, e.snapshot}
	}
}

func (m *Model) fill() {
	if m.events == nil {
		m.events = map[eventKey]accepted{}
		m.owners = map[revisionKey]string{}
		m.objects = map[objectKey]standing{}
	}
}

func (m *Model) clone() *Model {
	return &Model{
		events: maps.Clone(m.events), owners: maps.Clone(m.owners), objects: maps.Clone(m.objects),
	}
}

// same: both hold the same events and objects, and so the same owners.
func (m *Model) same(o *Model) bool {
	return maps.Equal(m.events, o.events) && maps.Equal(m.objects, o.objects)
}
