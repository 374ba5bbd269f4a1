package scenarios

import (
	"context"

	"webhooklab/lab"
	"webhooklab/lab/export"
	"webhooklab/lab/postgres"
)

// Export tells a run of this bench again in plain SQL, on fresh databases with the same tables.
func (b *Bench) Export(ctx context.Context, r lab.Report) (*export.Script, error) {
	return export.Of(ctx, r, func(ctx context.Context) (export.Database, error) {
		return b.Fresh(ctx)
	})
}

// Fresh is a database with the receiver's tables, as they were before the first run.
func (b *Bench) Fresh(ctx context.Context) (*postgres.Database, error) {
	template, err := b.server.Template(ctx, b.Tables)
	if err != nil {
		return nil, err
	}
	return template.Clone(ctx)
}
