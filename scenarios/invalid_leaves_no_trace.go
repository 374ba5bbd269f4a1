package scenarios

import (
	"strings"

	"webhooklab/lab"
)

// An authenticated sender delivers what breaks the shape. Each must end at once, or it comes back
// for days.
var InvalidLeavesNoTrace = lab.Scenario{
	Name: "invalid_leaves_no_trace",
	Law:  "a delivery that breaks the shape is refused once and for all, and leaves no trace",
	Play: func(l *lab.Lab) {
		sender := l.Session("sender")

		for _, broken := range brokenShapes() {
			sender.Deliver(broken).Answers(lab.Invalid)
		}

		l.Stored(0)
		sender.Deliver(paid).Answers(lab.Applied)
	},
}

// brokenShapes are deliveries that each break the shape in one place.
func brokenShapes() (all []lab.Delivery) {
	for _, breakIt := range []func(*lab.Delivery){
		func(d *lab.Delivery) { d.Source = "" },
		func(d *lab.Delivery) { d.Source = strings.Repeat("x", 256) },
		func(d *lab.Delivery) { d.EventID = "" },
		func(d *lab.Delivery) { d.EventID = strings.Repeat("x", 1025) },
		func(d *lab.Delivery) { d.EventID = "evt\x00" },
		func(d *lab.Delivery) { d.ObjectID = "\xff" },
		func(d *lab.Delivery) { d.Revision = 0 },
		func(d *lab.Delivery) { d.Revision = -1 },
		func(d *lab.Delivery) { d.Snapshot = []byte(`[1]`) },
		func(d *lab.Delivery) { d.Snapshot = []byte(`{"a": "\u0000"}`) },
		func(d *lab.Delivery) { d.Snapshot = []byte(`{"a": "\ud800"}`) },
		func(d *lab.Delivery) { d.Snapshot = []byte(`{"a": 1e131072}`) },
		func(d *lab.Delivery) { d.Snapshot = []byte(strings.Repeat(`{"a":`, 20000)) },
		func(d *lab.Delivery) { d.Snapshot = nil },
	} {
		all = append(all, variant(paid, breakIt))
	}
	return all
}
