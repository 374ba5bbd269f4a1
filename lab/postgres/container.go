package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// containerBound is how long a container may take until it accepts connections, initdb included.
const containerBound = 90 * time.Second

// contained is a server in a container of its own.
type contained struct {
	provider *testcontainers.DockerProvider
	image    image
	profile  Profile
	host     string // where its published port can be reached
	port     int
	verifier string // what the image is told instead of the password
	url      string // for the user who keeps the server
	say      func(string)
	log      *os.File // the copy in LogDir; nil when nobody wants one
	box      testcontainers.Container
	connects func(context.Context) error
	gone     bool
}

// startContainer starts a server in a container: engine, image, port, then the server itself.
func startContainer(ctx context.Context, cfg Config) (*Server, error) {
	c, err := newContained(ctx, cfg)
	if err != nil {
		return nil, err
	}
	password := newSecret()
	s := newServer(cfg)
	s.engine, s.kind, s.readLog = c, "container", c.readLog
	s.origin = "container image " + c.image.name
	s.reasons[Signal] = "the server runs in a container, where the lab cannot stop one backend"
	if cfg.Profile == Fast {
		s.reasons[Crash] = "the container keeps a fast server's data in memory, " +
			"which ends with it; use the durable profile"
	}
	if c.verifier, err = scramVerifier(password); err == nil {
		err = c.open(ctx)
	}
	if err == nil {
		s.addr = net.JoinHostPort(c.host, strconv.Itoa(c.port))
		s.url = localURL(s.addr, password)
		c.url = s.DSN(s.base)
		c.connects = func(ctx context.Context) error {
			return s.administer(ctx, func(*pgx.Conn) error { return nil })
		}
		err = c.await(ctx)
	}
	if err == nil {
		err = s.inspect(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.discard(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// newContained finds engine and image and sweeps what dead runs left.
func newContained(ctx context.Context, cfg Config) (*contained, error) {
	found, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	p, err := newProvider(ctx, found)
	if err != nil {
		return nil, err
	}
	c := &contained{provider: p, profile: cfg.Profile, say: cfg.Progress}
	sweepContainers(ctx, p.Client(), cfg.Progress)
	if c.image, err = haveImage(ctx, p, cfg); err == nil {
		c.host, err = daemonHost(ctx, p)
	}
	if err == nil && cfg.LogDir != "" {
		c.log, err = createLog(cfg.LogDir, newSecret()[:12])
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return c, nil
}

// daemonHost is where published ports can be reached: here, or where DOCKER_HOST points.
func daemonHost(ctx context.Context, p *testcontainers.DockerProvider) (string, error) {
	host, err := p.DaemonHost(ctx)
	if err != nil {
		return "", fmt.Errorf("find the container engine's host: %w", err)
	}
	if host == "localhost" || host == "" || sharesNetwork(p.Client().DaemonHost()) {
		return "127.0.0.1", nil
	}
	return host, nil
}

// open runs the container on a port, and on another one when somebody else was faster.
func (c *contained) open(ctx context.Context) (err error) {
	for range 5 {
		if c.port, err = freePort(rand.IntN); err != nil {
			return err
		}
		c.gone = false
		c.box, err = c.provider.RunContainer(ctx, c.request())
		if err == nil {
			return nil
		}
		err = fmt.Errorf("run image %s on port %d: %w", c.image.name, c.port, err)
		if ctx.Err() != nil || !portTaken(c.port) {
			return err
		}
		c.remove(ctx)
	}
	return err
}

// request is the container that serves c's profile on c's port.
func (c *contained) request() testcontainers.ContainerRequest {
	args := []string{"postgres", "-c", "listen_addresses=*"}
	for _, setting := range settings(c.profile, true) {
		args = append(args, "-c", setting)
	}
	request := testcontainers.ContainerRequest{
		Image:        c.image.name,
		Cmd:          args,
		ExposedPorts: []string{"5432/tcp"},
		Labels:       map[string]string{ownerLabel: self().String()},
		Env: map[string]string{
			"POSTGRES_USER":        "postgres",
			"POSTGRES_DB":          "postgres",
			"POSTGRES_PASSWORD":    c.verifier,
			"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --no-locale --no-sync",
		},
		ConfigModifier:     func(conf *container.Config) { conf.StopSignal = "SIGINT" },
		HostConfigModifier: c.bind,
	}
	if c.profile == Fast {
		request.Tmpfs = map[string]string{}
		for _, volume := range c.image.volumes {
			request.Tmpfs[volume] = "rw"
		}
	}
	return request
}

// bind publishes the port, on the loopback interface where that is where we are.
func (c *contained) bind(conf *container.HostConfig) {
	binding := network.PortBinding{HostPort: strconv.Itoa(c.port)}
	if c.host == "127.0.0.1" {
		binding.HostIP = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	conf.PortBindings = network.PortMap{
		network.MustParsePort("5432/tcp"): {binding},
	}
}

// await asks until the server answers a query over TCP, which the image's servers do only when
// all is prepared. A container that ended is told by its log.
func (c *contained) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, containerBound,
		fmt.Errorf("not ready after %s", containerBound))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := errors.New("no try to connect has ended")
	for {
		err := c.tryConnect(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return c.failed(fmt.Errorf("%w (%w)", context.Cause(ctx), last))
		}
		found, inspectErr := c.provider.Client().ContainerInspect(ctx, c.box.GetContainerID(),
			client.ContainerInspectOptions{})
		if inspectErr == nil && !found.Container.State.Running {
			return c.failed(fmt.Errorf("it ended with code %d", found.Container.State.ExitCode))
		}
	}
}

// tryConnect bounds one try: an engine may accept connections before the server does.
func (c *contained) tryConnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return c.connects(ctx)
}

func (c *contained) failed(reason error) error {
	log, err := c.readLog()
	if err != nil {
		log = "(no log: " + err.Error() + ")"
	}
	return fmt.Errorf("start image %s: %w; its log ends with:\n%s",
		c.image.name, reason, lastLines(log, 20))
}
