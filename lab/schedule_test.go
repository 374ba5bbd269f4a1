package lab_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"webhooklab/lab"
	"webhooklab/toxiproxy"
)

// A schedule is one line, and the line is the schedule.
func TestSchedulesAreLines(t *testing.T) {
	for _, line := range []string{
		"two_copies@7",
		"two_copies@7 first:INSERT+webhook_inbox retry:INSERT+webhook_inbox first:COMMIT",
		"two_copies[first.1,retry.1]@0 first:COMMIT!ack=FIN",
		"two_copies@18446744073709551615 ~gated first:INSERT+x first~open retry~wake",
		"two_copies@7 first:INSERT+x retry~dies",
		"two_copies@7 first#2:SELECT retry!request=hang first:COMMIT!ack=RST",
		"two_copies@7 first:COMMIT!terminated first~open!cancelled first:BATCH+INSERT+a,+INSERT+b",
		"two_copies@7 first:INSERT+x!server first:INSERT+x!server_after first:INSERT+x!killed",
	} {
		s, err := lab.ParseSchedule(line)
		require.NoError(t, err, line)
		require.Equal(t, line, s.String())
	}
}

// What is no schedule is refused by the word that is wrong.
func TestSchedulesThatAreNone(t *testing.T) {
	for line, word := range map[string]string{
		"":                                     "empty",
		"two_copies":                           "two_copies",
		"two_copies@x":                         "two_copies@x",
		"two_copies@99999999999999999999":      "99999999999999999999",
		"two_copies@7 first:COMMIT!ack":        "first:COMMIT!ack",
		"two_copies@7 first:COMMIT!ack=maybe":  "ack=maybe",
		"two_copies@7 first:COMMIT!killed=FIN": "killed=FIN",
		"two_copies@7 first:COMMIT!struck":     "struck",
		"two_copies@7 first#1:COMMIT":          "first#1",
		"two_copies@7 First:COMMIT":            "First:COMMIT",
		"two_copies@7 first~sleep":             "first~sleep",
	} {
		_, err := lab.ParseSchedule(line)
		require.ErrorContains(t, err, word, line)
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add("two_copies[first.1]@7 ~gated first:COMMIT!ack=RST retry~wake first#2~open")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := lab.ParseSchedule(line)
		if err != nil {
			return
		}
		again, err := lab.ParseSchedule(s.String())
		require.NoError(t, err, s.String())
		require.Equal(t, s, again)
	})
}

// A fault says in words what it is.
func TestFaultsInWords(t *testing.T) {
	require.Equal(t, "acknowledgement lost (RST)",
		lab.Fault{Kind: lab.LostAck, Close: toxiproxy.RST}.Words())
	require.Equal(t, "backend terminated", lab.Fault{Kind: lab.Terminated}.Words())
}
