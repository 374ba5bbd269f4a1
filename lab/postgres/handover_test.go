package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// childAttaches clones a template on the server that the environment hands over.
func childAttaches(ctx context.Context) (string, *Server, error) {
	s, err := Start(ctx, Config{})
	if err != nil {
		return "", nil, err
	}
	template, err := s.Template(ctx, notes)
	if err != nil {
		return "", nil, err
	}
	db, err := template.Clone(ctx)
	if err != nil {
		return "", nil, err
	}
	return s.Kind() + " " + s.Addr() + " " + db.Name(), s, nil
}

// childCrashes kills and restarts the server that the environment hands over.
func childCrashes(ctx context.Context) (string, *Server, error) {
	s, err := Start(ctx, Config{})
	if err != nil {
		return "", nil, err
	}
	log, err := s.Log()
	return "restarted", s, errors.Join(err, s.Kill(ctx), s.Restart(ctx),
		map[bool]error{true: errors.New("empty log")}[log == ""])
}

func databases(t *testing.T, s *Server) int {
	return query[int](t, s.DSN("postgres"),
		"SELECT count(*) FROM pg_database WHERE datname LIKE 'webhooklab%'")
}

func TestChildAttachesToThisVeryServer(t *testing.T) {
	s := startLocalServer(t, Fast)
	handed := HandoverVariable + "=" + s.Handover()
	one, other := startChild(t, "attach", handed), startChild(t, "attach", handed)
	require.Contains(t, one.said, "local "+s.Addr()+" webhooklab_")
	require.Contains(t, other.said, "local "+s.Addr()+" webhooklab_")
	require.Equal(t, 3, databases(t, s), "one template and a clone each")

	require.NoError(t, one.let())
	require.Equal(t, 2, databases(t, s), "a child drops its clone and nothing else")
	require.NoError(t, other.let())
	require.Equal(t, 1, databases(t, s))
}

func TestChildCrashesTheServerOfItsParent(t *testing.T) {
	s := startLocalServer(t, Fast)
	crash := startChild(t, "crash", HandoverVariable+"="+s.Handover())
	require.Equal(t, "restarted", crash.said)
	require.NoError(t, crash.let())
	require.Equal(t, 1, query[int](t, s.DSN("postgres"), "SELECT 1"))
	log, err := s.Log()
	require.NoError(t, err)
	require.Contains(t, log, "automatic recovery in progress")
}

func TestHandoverIsPassedOver(t *testing.T) {
	s := startLocalServer(t, Fast)
	t.Setenv(HandoverVariable, s.Handover())

	own, err := Start(bounded(t), Config{Mode: "local"})
	require.NoError(t, err)
	require.NotEqual(t, s.Addr(), own.Addr(), "a mode of its own asks for a server of its own")
	require.NoError(t, own.Stop(bounded(t)))

	t.Setenv("LAB_POSTGRES", "local")
	durable, err := Start(bounded(t), Config{Profile: Durable})
	require.NoError(t, err)
	require.NotEqual(t, s.Addr(), durable.Addr(), "a fast server is no durable one")
	require.NoError(t, durable.Stop(bounded(t)))
}

func TestHandoverOfADeadServerIsAnError(t *testing.T) {
	needLocal(t)
	s, err := Start(bounded(t), Config{Mode: "local"})
	require.NoError(t, err)
	t.Setenv(HandoverVariable, s.Handover())
	require.NoError(t, s.Stop(bounded(t)))
	_, err = Start(bounded(t), Config{})
	require.ErrorContains(t, err, "its owner may have ended")
	t.Setenv(HandoverVariable, "nonsense!")
	_, err = Start(bounded(t), Config{})
	require.ErrorContains(t, err, "unset it")
}
