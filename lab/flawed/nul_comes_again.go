package flawed

import (
	"bytes"

	"webhooklab/lab"
)

// NULComesAgain knows every rule of the shape but one: that jsonb can't hold \u0000. The database's
// refusal looks like a passing fault to it, and the sender comes again for days.
var NULComesAgain = with(func(s *steps) {
	s.shape = func(d lab.Delivery) error {
		d.Snapshot = bytes.ReplaceAll(d.Snapshot, []byte(`\u0000`), nil)
		return shape(d)
	}
})
