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
// X-GitHub-Delivery, and it is taken for a new event. See [Options] for how to notice that.
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
