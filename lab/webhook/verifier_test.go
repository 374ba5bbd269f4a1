package webhook_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/webhook"
)

// While secrets rotate each of them verifies; once the old one is gone it verifies no more.
func TestRotation(t *testing.T) {
	for _, s := range schemes() {
		t.Run(s.name, func(t *testing.T) {
			v, last := s.vectors[0], s.secrets[1]
			accepts := func(secrets ...string) bool {
				verifier, err := s.build(secrets...)
				require.NoError(t, err)
				return verifier.Verify(headers(v.header), []byte(v.body), time.Unix(v.at, 0)) == nil
			}
			require.True(t, accepts(last))
			require.True(t, accepts(last, s.secrets[0]))
			require.True(t, accepts(s.secrets...))
			require.False(t, accepts(s.secrets[0]))
		})
	}
}

// Whoever knows that a secret is empty could sign with it.
func TestEmptySecretsAreRefused(t *testing.T) {
	for _, s := range schemes() {
		for _, secrets := range [][]string{nil, {""}, {s.secrets[0], " \n"}, {"", s.secrets[0]}} {
			_, err := s.build(secrets...)
			require.Error(t, err, "%s %q", s.name, secrets)
		}
	}
	for _, secret := range []string{"whsec_", "whsec_not base64!", "whsec_MfKQ9r8GKYqrTwjUPD8"} {
		_, err := webhook.NewStandardWebhooks(secret)
		require.ErrorContains(t, err, "secret 1 of 1")
		require.NotContains(t, err.Error(), "MfKQ9", "an error never quotes a secret")
	}
}

// "whsec_" means another thing to each of the two schemes that use it.
func TestPrefixBelongsToTheScheme(t *testing.T) {
	for _, s := range schemes()[:2] {
		v := s.vectors[0]
		other := schemes()[1].build
		if s.name == "stripe" {
			other = schemes()[0].build
		}
		verifier, err := other("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		require.NoError(t, err)
		err = verifier.Verify(headers(v.header), []byte(v.body), time.Unix(v.at, 0))
		require.ErrorIs(t, err, webhook.ErrSignature)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	for _, s := range schemes() {
		verifier, err := s.build(s.secrets...)
		require.NoError(t, err)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			text := fmt.Sprintf(verb, struct{ V webhook.Verifier }{verifier})
			require.Contains(t, text, "[2 secrets]")
		}
	}
}
