package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/lab/report"
	"webhooklab/scenarios"
)

// Nothing is left out of what is told: each scenario stands under its law with its story and its
// transcript, each law once, and each sinner at what stops it.
func TestGuaranteesLeaveNothingOut(t *testing.T) {
	told := scenarios.Guarantees(scenarios.Suites...)
	require.Len(t, told.Contracts, len(scenarios.Suites))
	stops := map[string][]string{}
	for i, suite := range scenarios.Suites {
		c := told.Contracts[i]
		require.Equal(t, suite.Title, c.Title)
		require.NotEmpty(t, c.NotPromised, suite.Name)
		require.Len(t, c.Laws, len(suite.Laws)+len(suite.Audited))
		stories, laws := map[string]report.Story{}, map[string]string{}
		for _, p := range c.Promises {
			for _, s := range p.Stories {
				stories[s.Name], laws[s.Name] = s, p.Law
				stops[s.Name] = names(s.Stops)
			}
		}
		for _, sc := range suite.Scenarios {
			require.Equal(t, sc.Law, laws[sc.Name], sc.Name)
			require.Equal(t, sc.Free, stories[sc.Name].Transcript == "", sc.Name)
			require.NotContains(t, stories[sc.Name].Conditions, "", "an ability without words")
			require.False(t, sc.Free && len(stories[sc.Name].Conditions) == 0, sc.Name)
			series := slices.ContainsFunc(scenarios.DoorBothHops, func(one lab.Scenario) bool {
				return one.Name == sc.Name
			})
			require.True(t, series || stories[sc.Name].Why != "",
				"%s: its variable has no comment, or is not named like it", sc.Name)
		}
		for _, p := range slices.Concat(suite.Programs, suite.Swept) {
			require.True(t, slices.ContainsFunc(slices.Concat(c.Situations, c.Cuts), func(s report.Situation) bool {
				return s.Name == p.Name && s.Law == p.Law && len(s.Sessions) == len(p.Sessions)
			}), p.Name)
		}
		require.Equal(t, distinct(laws), len(c.Promises), "each law stands once")
		for _, s := range c.Situations {
			stops[s.Name] = names(s.Stops)
		}
	}
	for _, sinner := range scenarios.Sinners {
		require.Contains(t, stops[sinner.Scenario], sinner.Name)
	}
	for _, sinner := range scenarios.SinnersInside {
		require.Contains(t, stops[sinner.Program.Name], sinner.Name)
	}
}

func distinct(laws map[string]string) int {
	seen := map[string]bool{}
	for _, law := range laws {
		seen[law] = true
	}
	return len(seen)
}

func names(stops []report.Stopped) (all []string) {
	for _, s := range stops {
		all = append(all, s.Name)
	}
	return all
}

// The one number among the limits is what the bound really is.
func TestWhatIsNotPromisedIsRight(t *testing.T) {
	bound := fmt.Sprintf("%.2g %%", 100*report.FailureBound(30))
	require.True(t, slices.ContainsFunc(scenarios.NotPromised, func(limit string) bool {
		return strings.Contains(limit, "Thirty clean runs") && strings.Contains(limit, bound)
	}))
	for _, text := range scenarios.NotPromised {
		require.Regexp(t, `^[A-Z][^.]+\. .*\.$`, text, "what, and then why, in sentences")
	}
}

// A story is what stands above the scenario or its series, on one line.
func TestStory(t *testing.T) {
	require.Equal(t, "The sender timed out and sent the event again while the first attempt was still "+
		"in its transaction. Looking first and inserting then would let both pass.",
		scenarios.Story("retry_during_commit"))
	require.Equal(t, "COMMIT never reaches the server.", scenarios.Story("commit_request_lost_rst"))
	require.Empty(t, scenarios.Story("no_such_scenario"))
	_, there := scenarios.Transcript("no_such_scenario")
	require.False(t, there)
}
