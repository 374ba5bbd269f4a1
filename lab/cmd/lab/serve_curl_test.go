package main

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite what the README shows")

// The README's curl session is run as it stands there, and its output is what is shown.
func TestServeByCurl(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "openssl", "base64", "od"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("not run: %v", err)
		}
	}
	s := startServing(t, func(config string) string { return config })
	command := exec.Command("bash", "testdata/curl.sh")
	command.Env = append(os.Environ(), "DOOR="+s.url)
	got, err := command.CombinedOutput()
	require.NoError(t, err, string(got))

	const golden = "testdata/curl_output.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
