package postgres

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// fakeEngine is a container engine that knows how to greet and how to pull.
func fakeEngine(t *testing.T, pulling http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/images/create") {
			pulling(w, r)
			return
		}
		w.Header().Set("Api-Version", "1.44")
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.WithHost("tcp://" + server.Listener.Addr().String()))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestPullTellsTheReasonInsideItsStream(t *testing.T) {
	c := fakeEngine(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"status":"Pulling from library/postgres","id":"16"}`)
		fmt.Fprintln(w, `{"status":"Downloading","id":"a",`+
			`"progressDetail":{"current":1048576,"total":4194304}}`)
		fmt.Fprintln(w, `{"errorDetail":{"message":"manifest unknown"},"error":"manifest unknown"}`)
	})
	var said []string
	err := pull(bounded(t), c, "postgres:16", time.Minute, func(line string) {
		said = append(said, line)
	})
	require.ErrorContains(t, err, "manifest unknown")
	require.Equal(t, []string{"pulling image postgres:16", "pulling: 1 of 4 MB in 1 layers"}, said)
}

func TestPullEndsWell(t *testing.T) {
	c := fakeEngine(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"status":"Status: Downloaded newer image for postgres:16"}`)
	})
	require.NoError(t, pull(bounded(t), c, "postgres:16", time.Minute, func(string) {}))
}

func TestPullGivesUpOnASilentRegistry(t *testing.T) {
	for name, word := range map[string]string{
		"from the start": "",
		"half way":       `{"status":"Downloading","id":"a"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := fakeEngine(t, func(w http.ResponseWriter, r *http.Request) {
				if word != "" {
					fmt.Fprint(w, word)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			err := pull(context.Background(), c, "postgres:16", 100*time.Millisecond,
				func(string) {})
			require.ErrorContains(t, err, "the registry was silent for 100ms")
		})
	}
}
