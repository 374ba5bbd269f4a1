package webhook

import (
	"net/http"

	"webhooklab/lab/inbox"
)

// SnapshotBody reads {"event_id": …, "object_id": …, "revision": …, "snapshot": …}, whoever
// signed it. Other fields have no effect, a "source" neither.
func SnapshotBody(_ http.Header, body []byte) (Event, error) {
	e := Event{Type: "snapshot", Raw: body}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	if e.ID, err = d.needed("event_id"); err != nil {
		return e, err
	}
	if e.Object, err = d.needed("object_id"); err != nil {
		return e, err
	}
	if e.Revision, err = d.integer("revision"); err != nil {
		return e, err
	}
	e.Snapshot, err = d.find("snapshot")
	if err == nil && e.Snapshot == nil {
		err = invalid("snapshot_missing")
	}
	return e, err
}

// snapshotEvent is the event as its receiver knows it.
func (e Event) snapshotEvent() inbox.SnapshotEvent {
	return inbox.SnapshotEvent{
		Source: e.Source, EventID: e.ID, ObjectID: e.Object, Revision: e.Revision,
		Snapshot: e.Snapshot,
	}
}
