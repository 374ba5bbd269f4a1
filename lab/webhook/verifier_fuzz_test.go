package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/webhook"
)

func FuzzStandardWebhooks(f *testing.F) { fuzzScheme(f, "standard_webhooks") }
func FuzzStripe(f *testing.F)           { fuzzScheme(f, "stripe") }
func FuzzPostscale(f *testing.F)        { fuzzScheme(f, "postscale") }
func FuzzGitHub(f *testing.F)           { fuzzScheme(f, "github") }
func FuzzShopify(f *testing.F)          { fuzzScheme(f, "shopify") }
func FuzzSlack(f *testing.F)            { fuzzScheme(f, "slack") }

// fuzzScheme: no header makes a verifier panic, or believe what was signed by another secret.
func fuzzScheme(f *testing.F, name string) {
	var verifier webhook.Verifier
	for _, s := range schemes() {
		if s.name != name {
			continue
		}
		var err error
		verifier, err = s.build("whsec_Zm9yZ2V0IGl0")
		require.NoError(f, err)
		for _, v := range s.vectors {
			f.Add(v.header, []byte(v.body), v.at)
		}
	}
	f.Fuzz(func(t *testing.T, header string, body []byte, at int64) {
		err := verifier.Verify(headers(header), body, time.Unix(at, 0))
		require.ErrorIs(t, err, webhook.ErrSignature)
		require.NotContains(t, err.Error(), "Zm9y")
	})
}
