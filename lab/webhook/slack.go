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
