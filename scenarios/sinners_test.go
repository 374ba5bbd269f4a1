package scenarios_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/scenarios"
)

// A sin that is told apart by where it stands is no sin of its own.
const fewestSins = 40

// The zoo is what it says: distinct sins, each in a small file of its own, and no kind of real fault
// without one.
func TestZooIsComplete(t *testing.T) {
	names, kinds, distinct := map[string]bool{}, map[string]bool{}, 0
	for _, s := range scenarios.Sinners {
		require.False(t, names[s.Name], "%s is listed twice", s.Name)
		names[s.Name], kinds[s.Kind] = true, true
		require.Contains(t, scenarios.Kinds, s.Kind, s.Name)
		require.NotEmpty(t, s.Harm, s.Name)
		require.NotEmpty(t, s.Law, "%s: %s is no scenario of its suite", s.Name, s.Scenario)
		if s.Same == "" {
			distinct++
		}
	}
	for _, s := range scenarios.Sinners {
		require.True(t, s.Same == "" || names[s.Same], "%s is the same as nobody", s.Name)
	}
	for _, kind := range scenarios.Kinds {
		require.True(t, kinds[kind], "nobody shows: %s", kind)
	}
	require.GreaterOrEqual(t, distinct, fewestSins)
	t.Logf("%d receivers, %d distinct sins, %d kinds", len(names), distinct, len(kinds))
}

// One difference is all that a reader has to find.
func TestEachSinIsAFileOfItsOwn(t *testing.T) {
	const mostLines = 60
	receivers := regexp.MustCompile(`(?m)^(?:func|var) [A-Z]\w+`)
	for _, s := range scenarios.Sinners {
		text, err := os.ReadFile(filepath.Join("..", "lab", "flawed", s.Name+".go"))
		require.NoError(t, err)
		require.LessOrEqual(t, strings.Count(string(text), "\n"), mostLines, s.Name)
		found := slices.DeleteFunc(receivers.FindAllString(string(text), -1), func(f string) bool {
			return strings.HasSuffix(f, "State") // what it shows of its tables
		})
		require.Len(t, found, 1, s.Name)
	}
}
