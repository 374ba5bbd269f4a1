package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"webhooklab/lab"
	"webhooklab/lab/report"
)

// Play runs a scenario and keeps its evidence in the folder that LAB_LOGS names: transcript,
// history and locks. A run that was judged invalid or unknown also leaves the scene: a dump of the
// database and the server's log, in that folder or, without one, in a new one that the returned
// report names.
func (b *Bench) Play(ctx context.Context, sc lab.Scenario, suffix string) lab.Report {
	r := b.Run(ctx, sc)
	dir := os.Getenv("LAB_LOGS")
	err := report.Save(dir, r, suffix)
	if r.Verdict == lab.VerdictInvalid || r.Verdict == lab.VerdictUnknown {
		var scene string
		scene, err = b.scene(ctx, dir, sc.Name+suffix, err)
		r.Offences[0].Text = report.KeptScene(r.Offences[0].Text, scene)
	}
	if err != nil {
		r.Offences = append(r.Offences, lab.Offence{
			Verdict: lab.VerdictUnknown, Text: fmt.Sprintf("the evidence was not kept: %v", err),
		})
		r.Verdict = max(r.Verdict, lab.VerdictUnknown)
	}
	return r
}

// scene writes what the database and the server have to say, and names the folder.
func (b *Bench) scene(ctx context.Context, dir, name string, already error) (string, error) {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "webhooklab-scene-"); err != nil {
			return "no folder", errors.Join(already, err)
		}
	}
	dir = filepath.Join(dir, "scenes", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return dir, errors.Join(already, err)
	}
	dump, err := os.Create(filepath.Join(dir, "database.txt"))
	if err == nil {
		err = errors.Join(b.Database.Dump(ctx, dump), dump.Close())
	}
	log, logErr := b.server.Log()
	if logErr != nil {
		log = logErr.Error() // a server that was given to us keeps its log to itself
	}
	logErr = os.WriteFile(filepath.Join(dir, "server.log"), []byte(log), 0o644)
	return dir, errors.Join(already, err, logErr)
}
