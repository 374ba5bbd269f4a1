package mutation

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed catalogue.sql
var catalogueSQL string

// Catalogue gives a mutant for every guard that a database's catalogue knows, and for every part
// of a trigger's event.
func Catalogue(ctx context.Context, conn *pgx.Conn) ([]Mutant, error) {
	rows, err := conn.Query(ctx, catalogueSQL)
	if err != nil {
		return nil, fmt.Errorf("mutation: read the catalogue: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Mutant, error) {
		var m Mutant
		var guard string
		err := row.Scan(&m.Kind, &m.Of, &guard, &m.Alter)
		m.Name = schemaName(m.Of, guard)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("mutation: read the catalogue: %w", err)
	}
	parts, err := triggerParts(ctx, conn)
	return append(all, parts...), err
}

func schemaName(of, guard string) string { return "schema:" + of + "." + guard }
