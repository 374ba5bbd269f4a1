package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/lab/webhook"
)

// vector is one request and what its verifier must say: a reason, or "" for authentic. The
// signatures were computed by openssl or are the schemes' own published examples.
type vector struct {
	name   string
	header string // "Name: value" lines
	body   string
	at     int64 // seconds since 1970
	reason string
}

// scheme is a verifier and its vectors; the first is authentic.
type scheme struct {
	name    string
	build   func(secrets ...string) (webhook.Verifier, error)
	secrets []string
	vectors []vector
}

// slackBody is the slash command of Slack's documentation.
const slackBody = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow" +
	"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner" +
	"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands" +
	"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
	"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"

const (
	slackMAC   = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	stripeMAC  = "1f2a824104d3bb5f259a880034c5c4fffa91a05066cc9b9da218f942b154c445"
	stripeBody = `{"id":"evt_lab_1","object":"event","created":1700000000}`
	gitHubMAC  = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	emptyMAC   = "66a0c074deaa0f489ead6537e0d32f9a344b90bbeda705b6ed45ecd3b413fb40"
	shopifyMAC = "VnKUjZsLuN5iZWjn5EntcBVCF9kMN43LglzCE1/GSeY="
	svixMAC    = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	svixID     = "Webhook-Id: msg_p5jXN8AQM9LWM0D4loKWxJek\n"
	svixTime   = "Webhook-Timestamp: 1614265330\n"
	svixBody   = `{"test": 2432232314}`
	postMAC    = "08473d17106b6e254eb5cbfad71c81668f9af0c5d664510cff7614ffeca52b72"
)

// zeroes are well-formed signatures of nothing.
var (
	zeroHex    = strings.Repeat("0", 64)
	zeroBase64 = strings.Repeat("A", 43) + "="
)

func schemes() []scheme {
	return []scheme{
		{"standard_webhooks", webhook.NewStandardWebhooks,
			[]string{"bmV3LXNlY3JldC1vZi10aGUtbGFiLTAx", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
			standardVectors()},
		{"stripe", webhook.NewStripe, []string{"whsec_new", "whsec_test_secret"},
			stampedVectors("Stripe-Signature", stripeMAC, stripeBody)},
		{"postscale", webhook.NewPostscale, []string{"ps_new", "ps_secret"},
			stampedVectors("X-Postscale-Signature", postMAC, `{"event_id":"e1"}`)},
		{"github", webhook.NewGitHub, []string{"new", "It's a Secret to Everybody"},
			gitHubVectors()},
		{"shopify", webhook.NewShopify, []string{"new", "hush"}, shopifyVectors()},
		{"slack", webhook.NewSlack, []string{"new", "8f742231b10e8888abcd99yyyzzz85a5"},
			slackVectors()},
	}
}

func standardVectors() []vector {
	const at = 1614265330
	signed := svixID + svixTime + "Webhook-Signature: "
	svix := strings.ReplaceAll(svixID+svixTime, "Webhook-", "Svix-")
	return []vector{
		{"published", signed + "v1," + svixMAC, svixBody, at, ""},
		{"under Svix's names", svix + "Svix-Signature: v1," + svixMAC, svixBody, at, ""},
		{"last of several", signed + "v1," + zeroBase64 + " v1a,x v2,y  v1," + svixMAC, svixBody,
			at, ""},
		{"first of several", signed + "v1," + svixMAC + " v1,", svixBody, at, ""},
		{"in a second line", signed + "v1a,x\nWebhook-Signature: v1," + svixMAC, svixBody, at, ""},
		{"at the edge of being stale", signed + "v1," + svixMAC, svixBody, at + 300, ""},
		{"at the edge of being early", signed + "v1," + svixMAC, svixBody, at - 300, ""},
		{"stale", signed + "v1," + svixMAC, svixBody, at + 301, "stale"},
		{"early", signed + "v1," + svixMAC, svixBody, at - 301, "early"},
		{"other body", signed + "v1," + svixMAC, svixBody + " ", at, "wrong"},
		{"other id", strings.Replace(signed, "msg", "Msg", 1) + "v1," + svixMAC, svixBody, at,
			"wrong"},
		{"two ids", svixID + signed + "v1," + svixMAC, svixBody, at, "malformed"},
		{"two times", svixTime + signed + "v1," + svixMAC, svixBody, at, "malformed"},
		{"signed id under Svix's name, another under ours",
			"Webhook-Id: other\n" + svix + "Svix-Signature: v1," + svixMAC, svixBody, at,
			"missing"},
		{"no id", svixTime + "Webhook-Signature: v1," + svixMAC, svixBody, at, "missing"},
		{"no time", svixID + "Webhook-Signature: v1," + svixMAC, svixBody, at, "missing"},
		{"empty id", "Webhook-Id:\n" + svixTime + "Webhook-Signature: v1," + svixMAC, svixBody, at,
			"missing"},
		{"no signature", svixID + svixTime, svixBody, at, "missing"},
		{"only blanks", signed + "   ", svixBody, at, "missing"},
		{"asymmetric only", signed + "v1a," + svixMAC, svixBody, at, "unknown_version"},
		{"version 10", signed + "v10," + svixMAC, svixBody, at, "unknown_version"},
		{"cut short", signed + "v1," + svixMAC[:40], svixBody, at, "wrong"},
		{"not base64", signed + "v1,@" + svixMAC[1:], svixBody, at, "wrong"},
		{"trailing bits set", signed + "v1," + svixMAC[:42] + "F=", svixBody, at, "wrong"},
	}
}

func stampedVectors(name, mac, body string) []vector {
	const at = 1700000000
	h := name + ": "
	return []vector{
		{"signed by the old secret", h + "t=1700000000,v1=" + mac, body, at, ""},
		{"in capitals", h + "t=1700000000,v1=" + strings.ToUpper(mac), body, at, ""},
		{"time last", h + "v1=" + mac + ",t=1700000000", body, at, ""},
		{"last of several", h + "t=1700000000,v0=x,v1=" + zeroHex + ",v1=" + mac, body, at, ""},
		{"first of several", h + "t=1700000000, v1=" + mac + ", v1=short, v2", body, at, ""},
		{"in a second line", h + "t=1700000000\n" + h + "v1=" + mac, body, at, ""},
		{"at the edge of being stale", h + "t=1700000000,v1=" + mac, body, at + 300, ""},
		{"at the edge of being early", h + "t=1700000000,v1=" + mac, body, at - 300, ""},
		{"stale", h + "t=1700000000,v1=" + mac, body, at + 301, "stale"},
		{"early", h + "t=1700000000,v1=" + mac, body, at - 301, "early"},
		{"other body", h + "t=1700000000,v1=" + mac, body + "\n", at, "wrong"},
		{"other time", h + "t=1700000001,v1=" + mac, body, at, "wrong"},
		{"two times", h + "t=1700000000,t=1700000000,v1=" + mac, body, at, "malformed"},
		{"no time", h + "v1=" + mac, body, at, "malformed"},
		{"a time with a sign", h + "t=+1700000000,v1=" + mac, body, at, "malformed"},
		{"a negative time", h + "t=-1700000000,v1=" + mac, body, at, "malformed"},
		{"leading zeros", h + "t=01700000000,v1=" + mac, body, at, "malformed"},
		{"a fraction", h + "t=1700000000.0,v1=" + mac, body, at, "malformed"},
		{"an exponent", h + "t=17e8,v1=" + mac, body, at, "malformed"},
		{"an overflowing time", h + "t=18446744075409551616,v1=" + mac, body, at, "malformed"},
		{"other digits", h + "t=١٧,v1=" + mac, body, at, "malformed"},
		{"empty time", h + "t=,v1=" + mac, body, at, "malformed"},
		{"only an old version", h + "t=1700000000,v0=" + mac, body, at, "unknown_version"},
		{"cut short", h + "t=1700000000,v1=" + mac[:62], body, at, "wrong"},
		{"too long", h + "t=1700000000,v1=" + mac + "00", body, at, "wrong"},
		{"empty", h + "t=1700000000,v1=", body, at, "wrong"},
		{"empty header", h, body, at, "missing"},
		{"no header", "", body, at, "missing"},
	}
}

func gitHubVectors() []vector {
	const h, body = "X-Hub-Signature-256: ", "Hello, World!"
	return []vector{
		{"published", h + "sha256=" + gitHubMAC, body, 0, ""},
		{"empty body", h + "sha256=" + emptyMAC, "", 0, ""},
		{"last of several", h + "sha1=x, sha256=" + zeroHex + ",sha256=" + gitHubMAC, body, 0, ""},
		{"first of several", h + "sha256=" + gitHubMAC + ",sha256=", body, 0, ""},
		{"in a second line", h + "sha256=" + zeroHex + "\n" + h + "sha256=" + gitHubMAC, body, 0,
			""},
		{"other body", h + "sha256=" + gitHubMAC, "Hello, World", 0, "wrong"},
		{"cut short", h + "sha256=" + gitHubMAC[:2], body, 0, "wrong"},
		{"only SHA-1", h + "sha1=" + gitHubMAC, body, 0, "unknown_version"},
		{"bare", h + gitHubMAC, body, 0, "unknown_version"},
		{"only the old header", "X-Hub-Signature: sha1=" + gitHubMAC, body, 0, "missing"},
	}
}

func shopifyVectors() []vector {
	const h, body = "X-Shopify-Hmac-Sha256: ", `{"id":1}`
	return []vector{
		{"signed by the old secret", h + shopifyMAC, body, 0, ""},
		{"last of several", h + zeroBase64 + ", " + shopifyMAC, body, 0, ""},
		{"in a first line", h + shopifyMAC + "\n" + h + zeroBase64, body, 0, ""},
		{"other body", h + shopifyMAC, `{"id":2}`, 0, "wrong"},
		{"in hexadecimal", h + zeroHex, body, 0, "wrong"},
		{"without padding", h + strings.TrimSuffix(shopifyMAC, "="), body, 0, "wrong"},
		{"no header", "", body, 0, "missing"},
	}
}

func slackVectors() []vector {
	const (
		h  = "X-Slack-Signature: "
		ts = "X-Slack-Request-Timestamp: 1531420618\n"
		at = 1531420618
	)
	return []vector{
		{"published", ts + h + "v0=" + slackMAC, slackBody, at, ""},
		{"last of several", ts + h + "v1=x,v0=" + zeroHex + ",v0=" + slackMAC, slackBody, at, ""},
		{"first of several", ts + h + "v0=" + slackMAC + ",v0=zz", slackBody, at, ""},
		{"stale", ts + h + "v0=" + slackMAC, slackBody, at + 301, "stale"},
		{"early", ts + h + "v0=" + slackMAC, slackBody, at - 301, "early"},
		{"other body", ts + h + "v0=" + slackMAC, slackBody + "&", at, "wrong"},
		{"other version", ts + h + "v1=" + slackMAC, slackBody, at, "unknown_version"},
		{"two times", ts + ts + h + "v0=" + slackMAC, slackBody, at, "malformed"},
		{"a time with a blank inside", "X-Slack-Request-Timestamp: 15 31\n" + h + "v0=" + slackMAC,
			slackBody, at, "malformed"},
		{"no time", h + "v0=" + slackMAC, slackBody, at, "missing"},
		{"no signature", ts, slackBody, at, "missing"},
	}
}

func TestVectors(t *testing.T) {
	for _, s := range schemes() {
		verifier, err := s.build(s.secrets...)
		require.NoError(t, err)
		for _, v := range s.vectors {
			t.Run(s.name+"/"+v.name, func(t *testing.T) {
				err := verifier.Verify(headers(v.header), []byte(v.body), time.Unix(v.at, 0))
				if v.reason == "" {
					require.NoError(t, err)
					return
				}
				var failure *webhook.SignatureError
				require.ErrorAs(t, err, &failure)
				require.ErrorIs(t, err, webhook.ErrSignature)
				require.Equal(t, v.reason, failure.Reason, err)
			})
		}
	}
}

// headers reads "Name: value" lines.
func headers(lines string) http.Header {
	header := http.Header{}
	for line := range strings.SplitSeq(strings.Trim(lines, "\n"), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			header.Add(name, strings.TrimPrefix(value, " "))
		}
	}
	return header
}
