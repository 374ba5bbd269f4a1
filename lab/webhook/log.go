package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"

	"webhooklab/lab/inbox"
)

// tell logs and counts one delivery of an authentic sender. Of what the sender wrote it shows the
// event id alone: a type only if the route's configuration names it, and else sizes.
func (h *handler) tell(ctx context.Context, route *Route, decided result) {
	counted, name := decided.class()
	h.metrics.delivered(route, counted, name)
	level := slog.LevelInfo
	switch counted {
	case classConflict, classInvalid:
		level = slog.LevelWarn
	case classUnavailable:
		level = slog.LevelError
	}
	line := []slog.Attr{
		slog.String("route", route.Path),
		slog.String("source", route.Source),
		slog.String("event_id", shown(decided.event.ID)),
		slog.String("counted_as", string(counted)),
		slog.String("outcome", name),
		slog.String("type", route.typeName(decided.event.Type)),
		slog.Int("bytes", len(decided.event.Raw)),
	}
	if decided.err != nil {
		line = append(line, slog.String("error", safeText(decided.err)))
	}
	h.log.LogAttrs(ctx, level, "delivery", line...)
}

// typeName is the type if it is one that was expected.
func (r *Route) typeName(name string) string {
	if slices.Contains(r.Types, name) {
		return name
	}
	return "other"
}

// safeText is an error's own text where that is known to hold nothing of an event, and otherwise
// only its kind: a driver's text quotes rows.
func safeText(err error) string {
	var failure *inbox.Error
	var entry *entryError
	switch {
	case errors.As(err, &failure):
		return failure.Error()
	case errors.As(err, &entry):
		return entry.Error()
	default:
		return fmt.Sprintf("an error of type %T", err)
	}
}

// shownBytes is how much of an event id a log line takes.
const shownBytes = 200

// shown makes an id fit for any log and any terminal: line breaks, escapes and marks that change
// the direction of text are written as their numbers.
func shown(id string) string { return escaped(id, shownBytes, strconv.IsPrint) }

// logPanic says where a panic arose. What it said may quote an event.
func (h *handler) logPanic(route *Route, said any) {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	var at []string
	for {
		frame, more := frames.Next()
		at = append(at, fmt.Sprintf("%s:%d", frame.Function, frame.Line))
		if !more {
			break
		}
	}
	h.log.Error("a panic was turned into 503",
		"route", route.Path, "type", fmt.Sprintf("%T", said), "at", at)
}
