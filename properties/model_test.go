package properties_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/properties"
)

// told is one delivery of source shop and the answer that the contract wants.
type told struct {
	event, object string
	revision      int64
	snapshot      string
	want          lab.Answer
}

func (d told) delivery() lab.Delivery {
	return lab.Delivery{
		Source: "shop", EventID: d.event, ObjectID: d.object, Revision: d.revision,
		Snapshot: []byte(d.snapshot),
	}
}

func TestModel(t *testing.T) {
	for name, story := range map[string][]told{
		"retries": {
			{"e1", "order", 1, `{"a": 1, "b": 2}`, lab.Applied},
			{"e1", "order", 1, `{"a": 1, "b": 2}`, lab.Duplicate},
			{"e1", "order", 1, `{"b":2.0,"a":1e0}`, lab.Duplicate},
		},
		"out of order": {
			{"e3", "order", 3, `{}`, lab.Applied},
			{"e1", "order", 1, `{}`, lab.Stale},
			{"e5", "order", 5, `{}`, lab.Applied},
			{"e3", "order", 3, `{}`, lab.Duplicate},
			{"e1", "user", 1, `{}`, lab.ReusedEventID},
			{"e9", "user", 1, `{}`, lab.Applied},
		},
		"reused event id": {
			{"e1", "order", 1, `{"value": true}`, lab.Applied},
			{"e1", "order", 1, `{"value": 1}`, lab.ReusedEventID},
			{"e1", "order", 2, `{"value": true}`, lab.ReusedEventID},
			{"e1", "user", 1, `{"value": true}`, lab.ReusedEventID},
			{"e1", "order", 1, `{"value": true}`, lab.Duplicate},
		},
		"reused revision": {
			{"e1", "order", 1, `{}`, lab.Applied},
			{"e2", "order", 1, `{}`, lab.ReusedRevision},
			{"e2", "order", 2, `{}`, lab.Applied},
			// Both are taken: the event id is what the sender is told of.
			{"e1", "order", 2, `{}`, lab.ReusedEventID},
		},
		"invalid leaves nothing": {
			{"e1", "order", 0, `{}`, lab.Invalid},
			{"e1", "order", 1, `[]`, lab.Invalid},
			{"", "order", 1, `{}`, lab.Invalid},
			{"e1", "", 1, `{}`, lab.Invalid},
			{"e1", "order", 1, `{"a": "\ud800"}`, lab.Invalid},
			{"e1", "order", 1, `{}`, lab.Applied},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &properties.Model{}
			for i, d := range story {
				got := m.Deliver(d.delivery())
				require.Equal(t, d.want, got, "delivery %d: %s", i, d.delivery())
			}
		})
	}
}

func TestModelKeepsSourcesApart(t *testing.T) {
	m := &properties.Model{}
	d := told{"e1", "order", 1, `{}`, lab.Applied}.delivery()
	require.Equal(t, lab.Applied, m.Deliver(d))
	d.Source = "bank"
	require.Equal(t, lab.Applied, m.Deliver(d))
	d.Source = strings.Repeat("s", 256)
	require.Equal(t, lab.Invalid, m.Deliver(d))
}

func TestModelBackfill(t *testing.T) {
	m := &properties.Model{}
	require.NoError(t, m.Backfill("shop", "order", 3, []byte(`{"backfill": true}`)))
	require.Error(t, m.Backfill("shop", "order", 0, []byte(`{}`)))
	for _, d := range []told{
		{"e3", "order", 3, `{}`, lab.Stale},
		{"e2", "order", 2, `{}`, lab.Stale},
		{"e4", "order", 4, `{}`, lab.Applied},
	} {
		require.Equal(t, d.want, m.Deliver(d.delivery()))
	}
}

// A body is read as the contract says: each field once, digits for a revision, and no say for a
// source.
func TestModelReadsBodies(t *testing.T) {
	sound := `"event_id":"e1","object_id":"order","revision":1,"snapshot":{"a":1}`
	for body, want := range map[string]lab.Answer{
		`{` + sound + `}`:                                         lab.Applied,
		` {"source":"bank",` + sound + `} `:                       lab.Applied,
		`{"Event_ID":"e2",` + sound + `}`:                         lab.Applied,
		`{"more":{"event_id":"e2"},` + sound + `}`:                lab.Applied,
		`{"x":"\ud800",` + sound + `}`:                            lab.Applied,
		`{"event_id":"e2",` + sound + `}`:                         lab.Invalid,
		`{"\u0065vent_id":"e2",` + sound + `}`:                    lab.Invalid,
		`{` + sound + `,"snapshot":{}}`:                           lab.Invalid,
		`{` + sound + `}{}`:                                       lab.Invalid,
		`{` + sound:                                               lab.Invalid,
		`[{` + sound + `}]`:                                       lab.Invalid,
		``:                                                        lab.Invalid,
		"\ufeff{" + sound + `}`:                                   lab.Invalid,
		`{` + strings.Replace(sound, `1,`, `1.0,`, 1) + `}`:       lab.Invalid,
		`{` + strings.Replace(sound, `1,`, `"1",`, 1) + `}`:       lab.Invalid,
		`{` + strings.Replace(sound, `"e1"`, `"\u0000"`, 1) + `}`: lab.Invalid,
		`{` + strings.Replace(sound, `"e1"`, `1`, 1) + `}`:        lab.Invalid,
		`{` + strings.Replace(sound, `{"a":1}`, `null`, 1) + `}`:  lab.Invalid,
	} {
		m := &properties.Model{}
		require.Equal(t, want, m.Deliver(lab.Delivery{Source: "shop", Body: []byte(body)}), body)
		if want == lab.Applied {
			d := told{"e1", "order", 1, `{"a":1}`, lab.Duplicate}.delivery()
			require.Equal(t, lab.Duplicate, m.Deliver(d), body)
		}
	}
}

func TestModelDiffers(t *testing.T) {
	m := &properties.Model{}
	row := func(event, object string, revision int64, snapshot string) lab.Delivery {
		return told{event, object, revision, snapshot, lab.Applied}.delivery()
	}
	m.Deliver(row("e1", "order", 1, `{"a":1}`))
	agreed := properties.Stored{
		Events:  []lab.Delivery{row("e1", "order", 1, `{"a": 1.0}`)},
		Objects: []lab.Delivery{row("", "order", 1, `{"a": 1.0}`)},
	}
	require.Empty(t, m.Differs(agreed))
	once := agreed.Events[0]
	for name, change := range map[string]func(s *properties.Stored){
		"no event":       func(s *properties.Stored) { s.Events = nil },
		"no object":      func(s *properties.Stored) { s.Objects = nil },
		"event twice":    func(s *properties.Stored) { s.Events = append(s.Events, once) },
		"object twice":   func(s *properties.Stored) { s.Objects = append(s.Objects, once) },
		"other snapshot": func(s *properties.Stored) { s.Events[0].Snapshot = []byte(`{}`) },
		"other revision": func(s *properties.Stored) { s.Objects[0].Revision = 2 },
		"second event": func(s *properties.Stored) {
			s.Events = append(s.Events, row("e2", "order", 2, `{}`))
		},
		"revision twice": func(s *properties.Stored) {
			s.Events = append(s.Events, row("e2", "order", 1, `{"a":1}`))
		},
	} {
		s := properties.Stored{
			Events:  append([]lab.Delivery(nil), agreed.Events...),
			Objects: append([]lab.Delivery(nil), agreed.Objects...),
		}
		change(&s)
		require.NotEmpty(t, m.Differs(s), name)
	}
}
