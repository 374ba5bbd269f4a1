package webhook

import (
	"net/http"
	"strings"
	"time"
)

const (
	slackSignature = "X-Slack-Signature"
	slackTimestamp = "X-Slack-Request-Timestamp"
)

type slack struct{ keys }

// NewSlack verifies X-Slack-Signature, version v0, which signs X-Slack-Request-Timestamp and the
// body. The event id is in the body, and so is signed.
func NewSlack(secrets ...string) (Verifier, error) {
	k, err := wholeKeys("Slack", secrets)
	if err != nil {
		return nil, err
	}
	return slack{k}, nil
}

// Verify is [Verifier]'s.
func (s slack) Verify(header http.Header, body []byte, now time.Time) error {
	stamp, err := single(header, slackTimestamp)
	if err != nil {
		return err
	}
	signed, ok := parseTimestamp(stamp)
	if !ok {
		return &SignatureError{slackTimestamp, "malformed"}
	}
	elements, err := listed(header, slackSignature, ",")
	if err != nil {
		return err
	}
	var signatures [][]byte
	for _, element := range elements {
		if text, ok := strings.CutPrefix(element, "v0="); ok {
			signatures = append(signatures, hexMAC(text))
		}
	}
	if err := s.check(slackSignature, signatures, []byte("v0:"+stamp+":"), body); err != nil {
		return err
	}
	return checkTime(slackTimestamp, signed, now)
}

// SlackEvent reads an event of Slack's Events API. There is no revision.
func SlackEvent(header http.Header, body []byte) (Event, error) {
	e := Event{Raw: body, Headers: headersOf(header, slackSignature, slackTimestamp)}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	if e.ID, err = d.needed("event_id"); err != nil {
		return e, err
	}
	if e.Type, err = d.text("event", "type"); err != nil {
		return e, err
	}
	e.Object, err = d.text("event", "channel")
	return e, err
}
