package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// pingBound is how long a container engine may take to say that it is there.
const pingBound = 2 * time.Second

// ryukImage is the reaper that the required testcontainers release runs.
var ryukImage = testcontainers.ReaperDefaultImage

// findEngine pings the engines that testcontainers would try, in its order, and returns the first
// that answers. All other questions to an engine hang when it accepts and never answers.
func findEngine(ctx context.Context) (*client.Client, error) {
	var failures []error
	for _, host := range engineHosts() {
		c, err := client.New(client.FromEnv, client.WithHost(host))
		if err == nil {
			if err = ping(ctx, c); err == nil {
				return c, nil
			}
			c.Close()
		}
		failures = append(failures, fmt.Errorf("%s: %w", host, err))
	}
	if len(failures) == 0 {
		return nil, errors.New("find a container engine: DOCKER_HOST is not set and no socket is " +
			"in its usual place; start Docker or a compatible engine, or set DOCKER_HOST")
	}
	return nil, fmt.Errorf("find a container engine: %w; start it, or correct DOCKER_HOST",
		errors.Join(failures...))
}

func ping(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pingBound,
		fmt.Errorf("no answer to a ping within %s", pingBound))
	defer cancel()
	_, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// engineHosts is DOCKER_HOST alone when it is set, else the sockets that exist.
func engineHosts() []string {
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return []string{host}
	}
	home, _ := os.UserHomeDir()
	var hosts []string
	for _, socket := range []string{
		"/var/run/docker.sock",
		filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "docker.sock"),
		filepath.Join(home, ".docker/run/docker.sock"),
		filepath.Join(home, ".docker/desktop/docker.sock"),
		fmt.Sprintf("/run/user/%d/docker.sock", os.Getuid()),
	} {
		if info, err := os.Stat(socket); err == nil && info.Mode().Type() == os.ModeSocket {
			hosts = append(hosts, "unix://"+socket)
		}
	}
	return hosts
}

// provider guards the moment in which testcontainers reads its settings, once per process, and
// announces itself to its global logger.
var provider sync.Mutex

// newProvider is testcontainers' access to the pinged engine. Its reaper is switched off where it
// could not run, because testcontainers would wait 20 s for it at every start, and where the
// server shall be kept; our own sweep by label is there in any case.
func newProvider(ctx context.Context, c *client.Client) (*testcontainers.DockerProvider, error) {
	provider.Lock()
	defer provider.Unlock()
	if _, err := c.ImageInspect(ctx, ryukImage); err != nil || keepRequested() {
		defer withVariable("TESTCONTAINERS_RYUK_DISABLED", "true")()
	}
	speaker := tclog.Default()
	tclog.SetDefault(tclog.NewNoopLogger())
	defer tclog.SetDefault(speaker)
	p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()))
	if err != nil {
		return nil, fmt.Errorf("reach the container engine %s: %w", c.DaemonHost(), err)
	}
	if got := p.Client().DaemonHost(); got != c.DaemonHost() {
		p.Close()
		return nil, fmt.Errorf("reach the container engine %s: testcontainers holds on to %s; "+
			"set DOCKER_HOST to one of them", c.DaemonHost(), got)
	}
	return p, nil
}

// withVariable sets an environment variable and returns what restores it.
func withVariable(name, value string) (restore func()) {
	before, was := os.LookupEnv(name)
	os.Setenv(name, value)
	return func() {
		if was {
			os.Setenv(name, before)
		} else {
			os.Unsetenv(name)
		}
	}
}
