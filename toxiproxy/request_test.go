package toxiproxy_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"webhooklab/toxiproxy"
)

// door counts what reaches it, and answers.
func door(t *testing.T) (addr string, reached *atomic.Int64) {
	reached = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reached.Add(1)
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), reached
}

func post(client *http.Client, addr string, size int) (string, error) {
	r, err := client.Post("http://"+addr, "text/plain", strings.NewReader(strings.Repeat("x", size)))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return string(body), err
}

// A wire of requests carries HTTP with its connections kept, and cuts what it is told to.
func TestRequests(t *testing.T) {
	addr, reached := door(t)
	p, err := toxiproxy.Open(toxiproxy.Config{Name: "http", Upstream: addr, Requests: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()

	for i, size := range []int{0, 10, 200_000} {
		body, err := post(client, p.Addr(), size)
		require.NoError(t, err)
		require.Equal(t, "done", body)
		require.EqualValues(t, i+1, reached.Load())
	}
	for _, how := range []toxiproxy.Close{toxiproxy.FIN, toxiproxy.RST} {
		for _, at := range []toxiproxy.Place{toxiproxy.BeforeCommand, toxiproxy.AfterCommand} {
			t.Run(how.String()+" "+at.String(), func(t *testing.T) {
				client.CloseIdleConnections() // a kept connection that fails would be tried again
				before := reached.Load()
				f := &toxiproxy.Fault{At: at, Close: how}
				p.Arm(f)
				_, err := post(client, p.Addr(), 10)
				require.Error(t, err)
				require.Equal(t, how == toxiproxy.RST, errors.Is(err, syscall.ECONNRESET), err)
				require.Equal(t, 1, f.Fired())
				require.Zero(t, f.Leaked())
				require.EqualValues(t, at == toxiproxy.AfterCommand, reached.Load() > before)
			})
		}
	}
	body, err := post(client, p.Addr(), 10)
	require.NoError(t, err)
	require.Equal(t, "done", body)
}

// A response that hangs is noticed by the sender's own patience alone.
func TestRequestsHang(t *testing.T) {
	addr, reached := door(t)
	p, err := toxiproxy.Open(toxiproxy.Config{Name: "http", Upstream: addr, Requests: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	fired := make(chan struct{})
	f := &toxiproxy.Fault{
		At: toxiproxy.AfterCommand, Close: toxiproxy.Hang,
		OnFire: func(toxiproxy.Event) { close(fired) },
	}
	p.Arm(f)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ended := make(chan error, 1)
	go func() { _, err := post(client, p.Addr(), 10); ended <- err }()
	<-fired
	select {
	case err := <-ended:
		t.Fatal("the sender was told something:", err)
	default:
	}
	require.EqualValues(t, 1, reached.Load())
	p.Sever(toxiproxy.FIN)
	require.Error(t, <-ended)
	require.Zero(t, f.Leaked())
}
