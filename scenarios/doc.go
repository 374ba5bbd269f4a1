// Package scenarios is the table of what a webhook receiver must survive: one situation a file,
// each a short story that any lab.Receiver can be put through, gathered in one suite for each
// contract.
//
//	func TestMyReceiver(t *testing.T) { scenarios.Run(t, newMyReceiver) }
//
// runs the snapshot suite against a disposable PostgreSQL, and fails with the broken law, the
// transcript and the locks that were seen.
package scenarios
