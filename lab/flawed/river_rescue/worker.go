package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// event is a job's arguments.
type event struct {
	Source  string `json:"source"`
	EventID string `json:"event_id"`
}

func (event) Kind() string { return "event" }

type worker struct {
	client *river.Client[pgx.Tx]
	sql    riverdriver.Executor
	job    *rivertype.JobRow
}

func (w *worker) insert(ctx context.Context, e event) (string, error) {
	_, err := w.client.Insert(ctx, e, nil)
	return "accepted", err
}

// claim asks for what it has taken by itself: what the statement returns is not the same in the two
// versions.
func (w *worker) claim(ctx context.Context) (string, error) {
	_, err := w.sql.JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
		ClientID: "worker", MaxAttemptedBy: 100, MaxToLock: 1, Queue: river.QueueDefault,
	})
	if err != nil {
		return "", err
	}
	running, err := w.client.JobList(ctx,
		river.NewJobListParams().States(rivertype.JobStateRunning).First(1))
	if err != nil || len(running.Jobs) == 0 {
		return "idle", err
	}
	w.job = running.Jobs[0]
	return "claimed", nil
}

func (w *worker) complete(ctx context.Context) (string, error) {
	now := time.Now()
	_, err := w.sql.JobSetStateIfRunningMany(ctx, &riverdriver.JobSetStateIfRunningManyParams{
		ID: []int64{w.job.ID}, Attempt: []*int{nil}, ErrData: [][]byte{nil},
		FinalizedAt: []*time.Time{&now}, MetadataDoMerge: []bool{false},
		MetadataUpdates: [][]byte{nil}, ScheduledAt: []*time.Time{nil},
		State: []rivertype.JobState{rivertype.JobStateCompleted},
	})
	return "processed", err
}

// rescue gives back whatever runs now, as the rescuer does with what has run for too long.
func (w *worker) rescue(ctx context.Context) (string, error) {
	horizon := time.Now().Add(time.Minute)
	stuck, err := w.sql.JobGetStuck(ctx,
		&riverdriver.JobGetStuckParams{Max: 100, StuckHorizon: horizon})
	if err != nil || len(stuck) == 0 {
		return "found 0 stuck", err
	}
	p := riverdriver.JobRescueManyParams{StuckHorizon: horizon}
	for _, job := range stuck {
		p.ID = append(p.ID, job.ID)
		p.Error = append(p.Error, []byte(`{"error": "rescued"}`))
		p.FinalizedAt = append(p.FinalizedAt, nil)
		p.ScheduledAt = append(p.ScheduledAt, time.Now())
		p.State = append(p.State, string(rivertype.JobStateRetryable))
	}
	_, err = w.sql.JobRescueMany(ctx, &p)
	return fmt.Sprintf("found %d stuck", len(stuck)), err
}
