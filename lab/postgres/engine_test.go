package postgres

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/moby/moby/api/types/jsonstream"
	"github.com/stretchr/testify/require"
)

// silentSocket accepts connections and never answers.
func silentSocket(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var open []net.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			open = append(open, conn)
		}
		for _, conn := range open {
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return "unix://" + path
}

func TestAutoFallsBackWhereNoEngineAnswers(t *testing.T) {
	needLocal(t)
	for name, host := range map[string]string{
		"closed tcp":    "tcp://127.0.0.1:1",
		"no socket":     "unix://" + filepath.Join(t.TempDir(), "absent.sock"),
		"never answers": silentSocket(t),
		"nonsense":      "nonsense",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", host)
			t.Setenv(HandoverVariable, "")
			var said []string
			begun := time.Now()
			s, err := Start(bounded(t), Config{Mode: "auto",
				Progress: func(line string) { said = append(said, line) }})
			require.NoError(t, err)
			require.Less(t, time.Since(begun), 15*time.Second)
			require.Equal(t, "local", s.Kind())
			require.NoError(t, s.Stop(bounded(t)))
			require.Contains(t, said[0], "falling back to local binaries: ")

			_, err = Start(bounded(t), Config{Mode: "container"})
			require.ErrorContains(t, err, "find a container engine: ")
			require.ErrorContains(t, err, host)
		})
	}
}

func TestContainerModeSaysWhyAnImageCannotBeHad(t *testing.T) {
	needContainer(t)
	const absent = "127.0.0.1:1/webhooklab/absent:1"
	begun := time.Now()
	_, err := Start(bounded(t), Config{Mode: "container", Image: absent})
	require.ErrorContains(t, err, "pull image "+absent)
	require.ErrorContains(t, err, "connection refused", "the registry's own reason")
	require.ErrorContains(t, err, "LAB_POSTGRES_IMAGE")
	require.Less(t, time.Since(begun), 30*time.Second)
}

func TestUnknownModeIsRefused(t *testing.T) {
	_, err := Start(bounded(t), Config{Mode: "mysql"})
	require.ErrorContains(t, err, `mode "mysql" is unknown`)
}

func TestMirroredImageNames(t *testing.T) {
	require.Equal(t, "postgres:16", mirrored("postgres:16", ""))
	require.Equal(t, "mirror.example/hub/postgres:16", mirrored("postgres:16", "mirror.example/hub"))
	require.Equal(t, "quay.io/postgres:16", mirrored("quay.io/postgres:16", "mirror.example"))
}

func TestAutoRemembersAFailedPull(t *testing.T) {
	const image = "registry.invalid/absent:1"
	now := time.Now()
	rememberPull(image, errors.New("no such host"))
	require.ErrorContains(t, pullFailure(image, now), "no such host")
	require.NoError(t, pullFailure(image, now.Add(time.Hour)), "old news")
	rememberPull(image, nil)
	require.NoError(t, pullFailure(image, now))
}

func TestPullSumsItsLayersUp(t *testing.T) {
	var layers layerProgress
	at := time.Unix(1, 0)
	message := func(id string, now, all int64) jsonstream.Message {
		return jsonstream.Message{ID: id, Status: "Downloading",
			Progress: &jsonstream.Progress{Current: now, Total: all}}
	}
	line, due := layers.add(message("a", 1<<20, 8<<20), at)
	require.True(t, due)
	require.Equal(t, "pulling: 1 of 8 MB in 1 layers", line)
	_, due = layers.add(message("b", 2<<20, 4<<20), at.Add(time.Millisecond))
	require.False(t, due, "a line a second is enough")
	line, due = layers.add(message("a", 8<<20, 8<<20), at.Add(time.Second))
	require.True(t, due)
	require.Equal(t, "pulling: 10 of 12 MB in 2 layers", line)
	_, due = layers.add(jsonstream.Message{Status: "Pull complete"}, at.Add(time.Hour))
	require.False(t, due)
}
