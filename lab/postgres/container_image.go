package postgres

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// pullSilence is how long a registry may stay silent, before its first word and between words.
const pullSilence = 20 * time.Second

// image is what the lab must know of an image before it runs it.
type image struct {
	name    string
	volumes []string // where it keeps its data
	major   int      // 0: the image doesn't say
}

// haveImage looks the image up at the engine, and pulls it when it is not there. In auto mode a
// pull that failed a moment ago is not tried again.
func haveImage(ctx context.Context, p *testcontainers.DockerProvider, cfg Config) (image, error) {
	name := mirrored(cfg.Image, p.Config().Config.HubImageNamePrefix)
	found, err := inspectImage(ctx, p.Client(), name)
	if err == nil {
		return found, checkImage(found)
	}
	if !errdefs.IsNotFound(err) {
		return image{}, fmt.Errorf("look up image %s: %w", name, err)
	}
	if failure := pullFailure(name, time.Now()); failure != nil && cfg.Mode == "auto" {
		return image{}, failure
	}
	err = pull(ctx, p.Client(), name, pullSilence, cfg.Progress)
	if ctx.Err() == nil {
		rememberPull(name, err)
	}
	if err != nil {
		return image{}, fmt.Errorf("pull image %s: %w; load it by hand, or set "+
			"LAB_POSTGRES_IMAGE to one that is there", name, err)
	}
	if found, err = inspectImage(ctx, p.Client(), name); err != nil {
		return image{}, fmt.Errorf("look up the pulled image %s: %w", name, err)
	}
	return found, checkImage(found)
}

// mirrored is the name under testcontainers' prefix for Docker Hub, if the user has set one.
func mirrored(name, prefix string) string {
	first, _, slash := strings.Cut(name, "/")
	if prefix == "" || slash && strings.ContainsAny(first, ".:") {
		return name
	}
	return path.Join(prefix, name)
}

func inspectImage(ctx context.Context, c client.APIClient, name string) (image, error) {
	found, err := c.ImageInspect(ctx, name)
	if err != nil {
		return image{}, err
	}
	img := image{name: name}
	if found.Config == nil {
		return img, nil
	}
	for volume := range found.Config.Volumes {
		img.volumes = append(img.volumes, volume)
	}
	for _, pair := range found.Config.Env {
		switch name, value, _ := strings.Cut(pair, "="); {
		case name == "PG_MAJOR":
			img.major, _ = strconv.Atoi(value)
		case name == "PGDATA" && len(img.volumes) == 0:
			img.volumes = []string{value}
		}
	}
	return img, nil
}

// checkImage refuses an image whose own words put it outside the accepted versions, before it
// runs. Others are asked once they run.
func checkImage(img image) error {
	if img.major == 0 {
		return nil
	}
	if err := checkVersion(img.major*10000, strconv.Itoa(img.major)); err != nil {
		return fmt.Errorf("image %s: %w", img.name, err)
	}
	return nil
}

// pull fetches an image, and gives up when nothing is heard for as long as the patience lasts.
// Its error is the registry's or the engine's own, which arrives inside a stream that began with
// success.
func pull(ctx context.Context, c client.APIClient, name string, patience time.Duration,
	say func(string)) error {
	if _, err := reference.ParseNormalizedNamed(name); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(patience, func() {
		cancel(fmt.Errorf("the registry was silent for %s", patience))
	})
	defer silence.Stop()
	say("pulling image " + name)
	stream, err := c.ImagePull(ctx, name, client.ImagePullOptions{RegistryAuth: auth(ctx, name)})
	if err != nil {
		return causeOf(ctx, err)
	}
	defer stream.Close()
	var layers layerProgress
	for message, err := range stream.JSONMessages(ctx) {
		silence.Reset(patience)
		if err != nil {
			return causeOf(ctx, err)
		}
		if message.Error != nil {
			return message.Error
		}
		if line, due := layers.add(message, time.Now()); due {
			say(line)
		}
	}
	return causeOf(ctx, nil)
}

// causeOf prefers the reason of a context that ended over what its end looks like.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// auth is what the user's Docker configuration holds for the image's registry.
func auth(ctx context.Context, name string) string {
	_, conf, err := testcontainers.DockerImageAuth(ctx, name)
	if err != nil {
		return ""
	}
	encoded, err := authconfig.Encode(conf)
	if err != nil {
		return ""
	}
	return encoded
}

// layerProgress sums a pull's messages up, for a line a second.
type layerProgress struct {
	now, all map[string]int64 // bytes by layer
	said     time.Time
}

func (l *layerProgress) add(m jsonstream.Message, at time.Time) (line string, due bool) {
	if m.Progress == nil || m.Progress.Total == 0 || m.Status != "Downloading" {
		return "", false
	}
	if l.now == nil {
		l.now, l.all = map[string]int64{}, map[string]int64{}
	}
	l.now[m.ID], l.all[m.ID] = m.Progress.Current, m.Progress.Total
	if at.Sub(l.said) < time.Second {
		return "", false
	}
	l.said = at
	var now, all int64
	for id := range l.all {
		now += l.now[id]
		all += l.all[id]
	}
	return fmt.Sprintf("pulling: %d of %d MB in %d layers", now>>20, all>>20, len(l.all)), true
}
