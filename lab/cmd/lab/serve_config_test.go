package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const goodRoute = `
routes:
  - path: /orders
    source: acme
    provider: stripe
    receiver: leased
    secrets: [env:LAB_TEST_SECRET]
`

func readConfig(t *testing.T, text string) (serveConfig, error) {
	t.Helper()
	t.Setenv("LAB_TEST_SECRET", "whsec_one")
	t.Setenv("LAB_TEST_EMPTY", "")
	t.Setenv("LAB_TEST_BLANK", "two ")
	path := filepath.Join(t.TempDir(), "serve.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return readServeConfig(path, true)
}

func TestConfigDefaults(t *testing.T) {
	c, err := readConfig(t, goodRoute)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.listen)
	require.Equal(t, 10, c.pool)
	require.Equal(t, 30*time.Second, c.shutdown)
	require.Len(t, c.routes, 1)
	require.NotNil(t, c.routes[0].route.Verifier)
}

// Each fault names its line and what to write instead, all of them at once, and no secret.
func TestConfigFaults(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"listen: [1]" + goodRoute, ":1: a single value is wanted here"},
		{"lissten: x" + goodRoute, `:1: there is no setting "lissten" here`},
		{"pool: many" + goodRoute, `:1: pool: "many" is no number from 1 to 1000`},
		{"pool: 0" + goodRoute, `:1: pool: "0" is no number`},
		{"acquire: 2" + goodRoute, `:1: acquire: "2" is no time above zero: write one such as 10s`},
		{"limits:\n  body: 9999999" + goodRoute, `:2: limits.body: "9999999" is no number`},
		{"limits: 5" + goodRoute, ":1: this has another form"},
		{"pool: 1\npool: 2" + goodRoute, `:2: mapping key "pool" already defined at line 1`},
		{"a: b: c", ":1: "},
		{"", ":1: routes is missing"},
		{"routes: []", ":1: routes is missing"},
		{goodRoute + "  - path: /orders\n", `:8: path: "/orders" is taken already`},
		{goodRoute + "  - {}\n", ":8: path is missing"},
		{goodRoute + "  - {}\n", ":8: source is missing"},
		{goodRoute + "  - {}\n", ":8: provider is missing: write one of standard_webhooks"},
		{goodRoute + "  - {}\n", ":8: receiver is missing: write one of snapshots"},
		{goodRoute + "  - {}\n", ":8: secrets is missing: write [env:NAME]"},
		{strings.Replace(goodRoute, "/orders", "orders", 1), `:3: path: "orders" does not begin`},
		{strings.Replace(goodRoute, "/orders", "/readyz", 1), `:3: path: "/readyz" is taken`},
		{strings.Replace(goodRoute, "stripe", "strype", 1), `:5: provider: there is no "strype"`},
		{strings.Replace(goodRoute, "leased", "snapshots", 1), ":6: receiver: events of stripe"},
		{strings.Replace(goodRoute, "leased", "emails", 1), ":6: receiver: emails takes"},
		{strings.Replace(goodRoute, "env:LAB_TEST_SECRET", "whsec_inline", 1),
			":7: secrets: a secret does not stand in this file: write env:NAME"},
		{strings.Replace(goodRoute, "LAB_TEST_SECRET", "LAB_TEST_EMPTY", 1),
			":7: secrets: the environment variable LAB_TEST_EMPTY is empty"},
		{strings.Replace(goodRoute, "LAB_TEST_SECRET", "LAB_TEST_BLANK", 1),
			":7: secrets: the environment variable LAB_TEST_BLANK is empty, or begins or ends"},
		{strings.Replace(goodRoute, "env:LAB_TEST_SECRET", "file:nowhere", 1),
			":7: secrets: open"},
		{strings.Replace(goodRoute, "stripe", "standard_webhooks", 1),
			":7: secrets: Standard Webhooks: secret 1 of 1: it is not base64"},
		{strings.Replace(goodRoute, "stripe", "github", 1) + "    batch: true\n", ":8: batch: github"},
		{strings.Replace(goodRoute, "stripe", "github", 1) + "    batch: 1\n",
			`:8: batch: "1" is neither true nor false`},
		{goodRoute + "    body: other\n", `:8: body: there is no "other": write one of provider`},
	} {
		_, err := readConfig(t, c.text)
		require.ErrorContains(t, err, "serve.yaml"+c.says[:strings.Index(c.says, " ")], c.text)
		require.ErrorContains(t, err, c.says[strings.Index(c.says, " "):], c.text)
		for _, secret := range []string{"whsec_one", "whsec_inline", "two "} {
			require.NotContains(t, err.Error(), secret)
		}
	}
}

func TestServeUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		out  string
		errs string
	}{
		{[]string{"serve", "--help"}, 0, "usage: lab serve", ""},
		{[]string{"serve"}, 2, "", "--config is missing"},
		{[]string{"serve", "--port", "1"}, 2, "", "-port"},
		{[]string{"serve", "--config", "nowhere.yaml"}, 2, "", "nowhere.yaml: no such file"},
		{[]string{"serve", "--config", "testdata/serve.yaml"}, 2, "",
			"testdata/serve.yaml:1: database is missing"},
		{[]string{"serve", "--config", "testdata/serve.yaml", "more"}, 2, "", `"more"`},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, c.code, command(c.args, &out, &errs), c.args)
		require.Contains(t, out.String(), c.out)
		require.Contains(t, errs.String(), c.errs)
	}
}
