package lab_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rooms know only the rooms below them, and production code pays for nothing that tests need.
func TestDependenciesRunOneWay(t *testing.T) {
	const containers, testify = "github.com/testcontainers", "github.com/stretchr/testify"
	for room, forbidden := range map[string][]string{
		"webhooklab/toxiproxy":    {"webhooklab/lab", "webhooklab/scenarios", containers, testify},
		"webhooklab/lab/postgres": {"webhooklab/toxiproxy", "webhooklab/scenarios"},
		"webhooklab/lab/inbox": {"webhooklab/lab/postgres", "webhooklab/toxiproxy", containers,
			testify, "github.com/Shopify", "pgregory.net"},
		"webhooklab/lab/webhook": {"webhooklab/lab/postgres", "webhooklab/toxiproxy", containers,
			testify, "github.com/Shopify", "pgregory.net"},
		"webhooklab/lab": {"webhooklab/lab/inbox", "webhooklab/lab/webhook", "webhooklab/lab/flawed",
			"webhooklab/lab/report", "webhooklab/properties", "webhooklab/scenarios"},
		"webhooklab/lab/export": {"webhooklab/lab/inbox", "webhooklab/lab/report",
			"webhooklab/scenarios"},
		"webhooklab/lab/flawed":   {"webhooklab/properties", "webhooklab/scenarios"},
		"webhooklab/properties":   {"webhooklab/scenarios", "webhooklab/lab/inbox"},
		"webhooklab/scenarios":    {"pgregory.net/rapid"},
		"webhooklab/lab/mutation": {"webhooklab/properties", "webhooklab/scenarios"},
	} {
		for _, dep := range list(t, "-deps", room) {
			for _, bad := range forbidden {
				require.False(t, dep == bad || strings.HasPrefix(dep, bad+"/"),
					"%s must not depend on %s", room, dep)
			}
		}
	}
}

// Testcontainers brings testify along, and a browser is driven by a test; none of ours may import
// either outside of tests.
func TestNoPackageImportsWhatOnlyTestsNeed(t *testing.T) {
	for _, path := range list(t, "-f", `{{join .Imports "\n"}}`, "webhooklab/...") {
		require.NotContains(t, path, "stretchr/testify")
		require.NotContains(t, path, "chromedp")
	}
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}
