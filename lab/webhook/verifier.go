package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Verifier tells whether a request was signed by someone who holds one of its secrets.
type Verifier interface {
	// Verify is nil if a header signs exactly these bytes of the body, close enough to now where
	// the scheme signs a time; otherwise its error matches [ErrSignature]. Any other error says that
	// nothing could be found out now. The body is as it came over the wire: re-encoded JSON has
	// other bytes and no valid signature.
	Verify(header http.Header, body []byte, now time.Time) error
}

// ErrSignature is the kind of every refusal by a [Verifier]; [SignatureError] says more.
var ErrSignature = errors.New("the signature does not prove the sender")

// SignatureError says why a request is not authentic. Its text is fit for logs.
type SignatureError struct {
	// Header is the header that was looked at.
	Header string
	// Reason is one of missing, malformed, unknown_version, wrong, stale and early.
	Reason string
}

// Error names the header, the reason and what to look at.
func (e *SignatureError) Error() string {
	return fmt.Sprintf("webhook: verify %s: %v: %s: %s",
		e.Header, ErrSignature, e.Reason, signatureAdvice[e.Reason])
}

// Unwrap gives [ErrSignature].
func (e *SignatureError) Unwrap() error { return ErrSignature }

var signatureAdvice = map[string]string{
	"missing":         "send it exactly once with every delivery",
	"malformed":       "write it as the scheme says",
	"unknown_version": "sign by the scheme's current version too",
	"wrong":           "compare the secrets of both sides, and sign the raw body",
	"stale":           "sign anew for each attempt, and compare the clocks",
	"early":           "compare the clocks",
}

// keys are the active secrets of one sender: two while they rotate, otherwise one. Verifiers embed
// them, so that none is ever printed with its secrets.
type keys [][]byte

// Format writes no secret, whatever the verb.
func (k keys) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "[%d secrets]", len(k)) }

// wholeKeys takes each secret's text for the key.
func wholeKeys(scheme string, secrets []string) (keys, error) {
	return decodedKeys(scheme, secrets, func(secret string) ([]byte, error) {
		return []byte(secret), nil
	})
}

// decodedKeys refuses what anybody could sign with, and says which secret it was, never what.
func decodedKeys(
	scheme string, secrets []string, decode func(string) ([]byte, error),
) (keys, error) {
	if len(secrets) == 0 {
		return nil, fmt.Errorf("webhook: %s: there is no secret: configure at least one", scheme)
	}
	var all keys
	for i, secret := range secrets {
		if strings.TrimSpace(secret) == "" {
			return nil, fmt.Errorf("webhook: %s: secret %d of %d is empty: anybody could sign "+
				"with it; configure the sender's or leave it out", scheme, i+1, len(secrets))
		}
		key, err := decode(secret)
		if err != nil {
			return nil, fmt.Errorf("webhook: %s: secret %d of %d: %w",
				scheme, i+1, len(secrets), err)
		}
		all = append(all, key)
	}
	return all, nil
}

// sign reports whether one of the signatures is one of the keys' HMAC-SHA256 over the parts. Every
// pair is compared, in constant time.
func (k keys) sign(signatures [][]byte, parts ...[]byte) bool {
	found := 0
	for _, key := range k {
		mac := hmac.New(sha256.New, key)
		for _, part := range parts {
			mac.Write(part)
		}
		want := mac.Sum(nil)
		for _, signature := range signatures {
			found |= subtle.ConstantTimeCompare(want, signature)
		}
	}
	return found == 1
}

// check turns what was found in a header into the answer of Verify.
func (k keys) check(name string, signatures [][]byte, parts ...[]byte) error {
	switch {
	case len(signatures) == 0:
		return &SignatureError{name, "unknown_version"}
	case !k.sign(signatures, parts...):
		return &SignatureError{name, "wrong"}
	default:
		return nil
	}
}

// single is the value of a header that must be there once: of two, it would be open which one
// was signed.
func single(header http.Header, name string) (string, error) {
	switch values := header.Values(name); {
	case len(values) == 0, len(values) == 1 && values[0] == "":
		return "", &SignatureError{name, "missing"}
	case len(values) > 1:
		return "", &SignatureError{name, "malformed"}
	default:
		return values[0], nil
	}
}

// listed are the elements of a header that may be repeated, and may hold several in one line.
func listed(header http.Header, name, separator string) ([]string, error) {
	var elements []string
	for _, line := range header.Values(name) {
		for element := range strings.SplitSeq(line, separator) {
			if element = strings.Trim(element, " \t"); element != "" {
				elements = append(elements, element)
			}
		}
	}
	if len(elements) == 0 {
		return nil, &SignatureError{name, "missing"}
	}
	return elements, nil
}

// hexMAC and base64MAC read one signature: nil if it can't be one.
func hexMAC(text string) []byte {
	mac, err := hex.DecodeString(text)
	if err != nil || len(mac) != sha256.Size {
		return nil
	}
	return mac
}

func base64MAC(text string) []byte {
	mac, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(mac) != sha256.Size ||
		len(text) != base64.StdEncoding.EncodedLen(sha256.Size) { // or it had line breaks
		return nil
	}
	return mac
}
