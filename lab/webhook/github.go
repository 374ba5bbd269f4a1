package webhook

import (
	"net/http"
	"strings"
	"time"
)

const gitHubSignature = "X-Hub-Signature-256"

type gitHub struct{ keys }

// NewGitHub verifies X-Hub-Signature-256, which signs the body and nothing else: neither a time nor
// the event id. Whoever captured a delivery can send it again at any time under a fresh
// X-GitHub-Delivery, and it is taken for a new event. operator_same_body shows such bodies.
func NewGitHub(secrets ...string) (Verifier, error) {
	k, err := wholeKeys("GitHub", secrets)
	if err != nil {
		return nil, err
	}
	return gitHub{k}, nil
}

// Verify is [Verifier]'s. There is no time to compare.
func (g gitHub) Verify(header http.Header, body []byte, _ time.Time) error {
	elements, err := listed(header, gitHubSignature, ",")
	if err != nil {
		return err
	}
	var signatures [][]byte
	for _, element := range elements {
		if text, ok := strings.CutPrefix(element, "sha256="); ok {
			signatures = append(signatures, hexMAC(text))
		}
	}
	return g.check(gitHubSignature, signatures, body)
}

// GitHubEvent takes id and type from headers that nobody signed; the id is the same for every
// endpoint, so each endpoint that has effects of its own needs a source of its own. There is no
// revision.
func GitHubEvent(header http.Header, body []byte) (Event, error) {
	e := Event{Raw: body, Headers: headersOf(header, gitHubSignature)}
	var err error
	if e.ID, err = identity(header, "X-GitHub-Delivery"); err != nil {
		return e, err
	}
	if e.Type, err = single(header, "X-GitHub-Event"); err != nil {
		return e, invalid("event_type_missing")
	}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	e.Object, err = d.text("repository", "full_name")
	return e, err
}
