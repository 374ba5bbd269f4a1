package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"webhooklab"
	"webhooklab/lab/mutation"
	"webhooklab/lab/postgres"
)

// Mutants are the reference without one guard each: what the catalogue of a fresh database knows,
// what stands in the schema's functions, views and CHECKs, and the clauses of the receivers' SQL.
func (s *Stage) Mutants(ctx context.Context) ([]mutation.Mutant, error) {
	server, err := s.server(ctx, postgres.Fast)
	if err != nil {
		return nil, err
	}
	template, err := server.Template(ctx, webhooklab.Schema)
	if err != nil {
		return nil, fmt.Errorf("scenarios: load the schema: %w", err)
	}
	database, err := template.Clone(ctx)
	if err != nil {
		return nil, fmt.Errorf("scenarios: clone the template: %w", err)
	}
	all, err := catalogue(ctx, database.DSN())
	err = errors.Join(err, database.Drop(ctx))
	all = append(all, mutation.FromText(webhooklab.Schema, schemaEdits)...)
	return append(all, sqlMutants...), err
}

func catalogue(ctx context.Context, dsn string) ([]mutation.Mutant, error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	return mutation.Catalogue(ctx, conn)
}

// sqlMutants are the receivers without one clause each.
var sqlMutants = slices.Concat(snapshotMutants, receiptMutants, leaseMutants, outboxMutants,
	emailMutants)

// suitesOf tells which contracts need the guards of a table, or of a receiver.
var suitesOf = map[string][]Suite{
	"webhook_inbox":      {SnapshotSuite},
	"object_state":       {SnapshotSuite},
	"webhook_refusal":    {SnapshotSuite, AtomicSuite},
	"email_event":        {EmailSuite},
	"email_status":       {EmailSuite},
	"webhook_receipt":    {AtomicSuite, LeasedSuite},
	"webhook_delivery":   {AtomicSuite, LeasedSuite},
	"receipt_transition": {AtomicSuite, LeasedSuite},
	"outbox_message":     {OutboxSuite},

	"transaction": {SnapshotSuite},
	"snapshots":   {SnapshotSuite},
	"refusals":    {SnapshotSuite, AtomicSuite},
	"receipts":    {AtomicSuite, LeasedSuite},
	"atomic":      {AtomicSuite},
	"leased":      {LeasedSuite},
	"leases":      {LeasedSuite, OutboxSuite},
	"outbox":      {OutboxSuite},
	"email":       {EmailSuite},
}

// sqlMutant takes a clause out of a receiver's statements: of those that hold in, if it isn't "".
func sqlMutant(of, name, in, old, new string) mutation.Mutant {
	return mutation.Mutant{
		Name: "sql:" + of + "." + name, Kind: mutation.SQL, Of: of,
		Edit: mutation.Edit{In: in, Old: old, New: new},
	}
}
