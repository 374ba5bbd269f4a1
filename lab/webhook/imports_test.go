package webhook_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who imports this package in production pays for pgx and Prometheus' client, and nothing else.
func TestImportsAreFewAndKnown(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps",
		"-f", "{{if not .Standard}}{{with .Module}}{{.Path}}{{end}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, module := range strings.Fields(string(out)) {
		require.Contains(t, []string{
			"webhooklab",
			"github.com/jackc/pgx/v5",
			"github.com/prometheus/client_golang",
			// pgx's own
			"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile",
			"github.com/jackc/puddle/v2", "golang.org/x/sync", "golang.org/x/text",
			// the client's own
			"github.com/beorn7/perks", "github.com/cespare/xxhash/v2",
			"github.com/munnerz/goautoneg", "github.com/prometheus/client_model",
			"github.com/prometheus/common", "github.com/prometheus/procfs",
			"google.golang.org/protobuf", "golang.org/x/sys",
		}, module)
	}
	out, err = exec.Command("go", "list", "-deps",
		"-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		if strings.HasPrefix(path, "webhooklab") {
			require.Contains(t, []string{"webhooklab/lab/webhook", "webhooklab/lab/inbox"}, path)
		}
	}
}
