package postgres

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// needContainer finds an image that the engine has, or skips with the reason. testdata/image.sh
// builds one from this machine's own PostgreSQL.
func needContainer(t testing.TB) (image string) {
	t.Helper()
	if testing.Short() {
		t.Skip("not run: containers take their time, and -short was asked for")
	}
	ctx := bounded(t)
	engine, err := findEngine(ctx)
	if err != nil {
		t.Skip("not run: ", err)
	}
	defer engine.Close()
	wanted := []string{os.Getenv("LAB_POSTGRES_IMAGE"), DefaultImage}
	local, err := engine.ImageList(ctx, client.ImageListOptions{
		Filters: client.Filters{}.Add("reference", "webhooklab-postgres:local-*"),
	})
	require.NoError(t, err)
	for _, found := range local.Items {
		wanted = append(wanted, found.RepoTags...)
	}
	for _, name := range wanted {
		if name == "" {
			continue
		}
		if _, err := inspectImage(ctx, engine, name); err == nil {
			return name
		}
	}
	t.Skip("not run: the engine has no PostgreSQL image; build one: testdata/image.sh")
	return ""
}

func startContainerServer(t testing.TB, profile Profile, logDir string) *Server {
	t.Helper()
	image := needContainer(t)
	s, err := Start(bounded(t), Config{Mode: "container", Image: image, Profile: profile,
		LogDir: logDir, Progress: progress(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop(bounded(t))) })
	return s
}

func TestContainerServerGivesClonesOfATemplate(t *testing.T) {
	logs := t.TempDir()
	s, ctx := startContainerServer(t, Fast, logs), bounded(t)
	require.Regexp(t, `^PostgreSQL \d+\.\d+ · container image \S+ · fast$`, s.Describe())
	require.Equal(t, "container", s.Kind())
	require.Regexp(t, `^127\.0\.0\.1:\d+$`, s.Addr())
	template, err := s.Template(ctx, notes)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, query[int](t, db.DSN(), "INSERT INTO note VALUES (1) RETURNING id"))
	require.NoError(t, db.Drop(ctx))

	require.ErrorContains(t, s.Can(Crash), "not run: ")
	require.ErrorContains(t, s.Kill(ctx), "use the durable profile")
	require.ErrorContains(t, s.Can(Signal), "not run: ")
	require.NoError(t, s.Can(DeadlockTimeout))
	require.NoError(t, s.Can(Superuser))

	require.NoError(t, s.Stop(ctx))
	text, err := os.ReadFile(logs + "/server.log")
	require.NoError(t, err)
	require.Contains(t, string(text), "ready to accept connections")
}

func TestKilledContainerKeepsWhatItAcknowledged(t *testing.T) {
	s, ctx := startContainerServer(t, Durable, ""), bounded(t)
	template, err := s.Template(ctx, notes)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	query[int](t, db.DSN(), "INSERT INTO note VALUES (1) RETURNING id")
	addr := s.Addr()
	require.ErrorContains(t, s.Restart(ctx), "still runs")
	require.NoError(t, s.Kill(ctx))
	require.NoError(t, s.Kill(ctx), "killing twice is no fault")
	require.NoError(t, s.Restart(ctx))
	require.Equal(t, addr, s.Addr())
	require.Equal(t, 1, query[int](t, db.DSN(), "SELECT count(*) FROM note"))
	log, err := s.Log()
	require.NoError(t, err)
	require.Contains(t, log, "automatic recovery in progress")
}

// childOwnsContainer starts a container and tells its id.
func childOwnsContainer(ctx context.Context) (string, *Server, error) {
	s, err := Start(ctx, Config{Mode: "container"})
	if err != nil {
		return "", nil, err
	}
	return s.engine.(*contained).box.GetContainerID(), s, nil
}

// boxes are the containers of ours that the engine has.
func boxes(t *testing.T) string {
	engine, err := findEngine(bounded(t))
	require.NoError(t, err)
	defer engine.Close()
	list, err := engine.ContainerList(bounded(t), client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", ownerLabel),
	})
	require.NoError(t, err)
	var ids []string
	for _, box := range list.Items {
		ids = append(ids, box.ID)
	}
	return strings.Join(ids, " ")
}

func TestNextStartSweepsTheContainerOfADeadOwner(t *testing.T) {
	image := needContainer(t)
	dead := startChild(t, "box", "LAB_POSTGRES_IMAGE="+image, "LAB_KEEP=")
	living := startChild(t, "box", "LAB_POSTGRES_IMAGE="+image, "LAB_KEEP=")
	kept := startChild(t, "box", "LAB_POSTGRES_IMAGE="+image, "LAB_KEEP=1")
	engine, err := findEngine(bounded(t))
	require.NoError(t, err)
	t.Cleanup(func() {
		engine.ContainerRemove(bounded(t), kept.said,
			client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		engine.Close()
	})
	require.NoError(t, dead.cmd.Process.Kill())
	dead.cmd.Wait()
	require.NoError(t, kept.let())

	startContainerServer(t, Fast, "")
	require.NotContains(t, boxes(t), dead.said)
	require.Contains(t, boxes(t), living.said, "swept a container whose owner lives")
	require.Contains(t, boxes(t), kept.said, "swept a container that LAB_KEEP keeps")

	require.NoError(t, living.let())
}

func BenchmarkStartContainer(b *testing.B) {
	image := needContainer(b)
	for b.Loop() {
		s, err := Start(bounded(b), Config{Mode: "container", Image: image})
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, s.Stop(bounded(b)))
		b.StartTimer()
	}
}
