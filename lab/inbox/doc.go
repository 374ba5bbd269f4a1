// Package inbox holds receivers of webhooks that are safe to retry: an event takes effect once,
// however often, late, overlapping or out of order it is delivered.
package inbox
