// Package webhook is the HTTP door of the receivers in package inbox: it lets in what a sender
// signed, and answers so that a retry happens exactly where one can help.
package webhook
