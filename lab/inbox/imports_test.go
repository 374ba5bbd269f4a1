package inbox_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who imports this package in production pays for pgx and for nothing else.
func TestOnlyPgxIsImported(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps",
		"-f", "{{if not .Standard}}{{with .Module}}{{.Path}}{{end}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, module := range strings.Fields(string(out)) {
		require.Contains(t, []string{
			"webhooklab",
			"github.com/jackc/pgx/v5",
			// pgx's own
			"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "golang.org/x/text",
		}, module)
	}
	out, err = exec.Command("go", "list", "-deps",
		"-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		if path != "webhooklab/lab/inbox" {
			require.False(t, strings.HasPrefix(path, "webhooklab"), path)
		}
	}
}
