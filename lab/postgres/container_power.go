package postgres

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// kill ends the container by SIGKILL and returns when the engine says that it has ended.
func (c *contained) kill(ctx context.Context) error {
	engine, id := c.provider.Client(), c.box.GetContainerID()
	_, err := engine.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsConflict(err) { // a conflict: it does not run
		return fmt.Errorf("kill the server's container: %w", err)
	}
	ended := engine.ContainerWait(ctx, id, client.ContainerWaitOptions{
		Condition: container.WaitConditionNotRunning,
	})
	select {
	case <-ended.Result:
		return nil
	case err := <-ended.Error:
		return fmt.Errorf("wait for the killed container: %w", err)
	}
}

// restart starts the same container again: same data, same port.
func (c *contained) restart(ctx context.Context) error {
	engine, id := c.provider.Client(), c.box.GetContainerID()
	found, err := engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("look at the server's container: %w", err)
	}
	if found.Container.State.Running {
		return fmt.Errorf("restart the server on port %d: it still runs; Kill it first", c.port)
	}
	if _, err := engine.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("restart the server's container: %w", err)
	}
	return c.await(ctx)
}

// stop removes the container, or keeps it and renames it so that sweeps know.
func (c *contained) stop(ctx context.Context) error {
	if c.gone {
		return nil
	}
	if !keepRequested() {
		return c.discard(ctx)
	}
	id := c.box.GetContainerID()
	name := keptName + id[:12]
	_, err := c.provider.Client().ContainerRename(ctx, id, client.ContainerRenameOptions{
		NewName: name,
	})
	if err != nil {
		return fmt.Errorf("keep the server's container: %w", err)
	}
	c.say("kept (LAB_KEEP=1): " + c.url + "\nremove it: docker rm --force --volumes " + name)
	c.gone = true
	return c.release()
}

// discard copies the log out and removes the container with its volumes.
func (c *contained) discard(ctx context.Context) error {
	err := c.remove(ctx)
	if closeErr := c.release(); err == nil {
		err = closeErr
	}
	return err
}

func (c *contained) remove(ctx context.Context) error {
	if c.box == nil || c.gone {
		return nil
	}
	c.copyLog()
	// The data is thrown away, so nothing is gained by a gentle end.
	err := c.box.Terminate(ctx, testcontainers.StopTimeout(0))
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove the server's container %s: %w; remove it: "+
			"docker rm --force --volumes %s", c.box.GetContainerID()[:12], err,
			c.box.GetContainerID()[:12])
	}
	c.gone = true
	return nil
}

// release lets the connections to the engine go.
func (c *contained) release() error {
	if c.log != nil {
		c.log.Close()
	}
	return c.provider.Close()
}

// copyLog writes the container's log into LogDir, as far as it has come.
func (c *contained) copyLog() {
	if c.log == nil {
		return
	}
	text, err := c.readLog()
	if err != nil {
		text = "the container's log could not be read: " + err.Error() + "\n"
	}
	if _, err := io.WriteString(c.log, text); err != nil {
		c.say("copy the server's log: " + err.Error())
	}
}

// readLog is all that the container has written, both streams in the order they came.
func (c *contained) readLog() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stream, err := c.provider.Client().ContainerLogs(ctx, c.box.GetContainerID(),
		client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return "", fmt.Errorf("read the server's log: %w", err)
	}
	defer stream.Close()
	var text bytes.Buffer
	if _, err := stdcopy.StdCopy(&text, &text, stream); err != nil {
		return "", fmt.Errorf("read the server's log: %w", err)
	}
	return text.String(), nil
}
