package mutation

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed triggers.sql
var triggersSQL string

// triggerParts gives each trigger once for each part of its event, without that part: an event of
// several, a column of several.
func triggerParts(ctx context.Context, conn *pgx.Conn) ([]Mutant, error) {
	rows, err := conn.Query(ctx, triggersSQL)
	if err != nil {
		return nil, fmt.Errorf("mutation: read the triggers: %w", err)
	}
	var all []Mutant
	var of, guard, definition string
	_, err = pgx.ForEachRow(rows, []any{&of, &guard, &definition}, func() error {
		for part, lesser := range withoutParts(definition) {
			all = append(all, Mutant{
				Name: schemaName(of, guard+" "+part), Kind: Trigger, Of: of,
				Alter: fmt.Sprintf("DROP TRIGGER %s ON %s; %s",
					pgx.Identifier{guard}.Sanitize(), pgx.Identifier{of}.Sanitize(), lesser),
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("mutation: read the triggers: %w", err)
	}
	slices.SortFunc(all, func(a, b Mutant) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// triggerEvent is what pg_get_triggerdef writes between the trigger's name and its table.
var triggerEvent = regexp.MustCompile(` (BEFORE|AFTER) (.*?) ON `)

// withoutParts gives the definitions that lack one part, by what they lack.
func withoutParts(definition string) map[string]string {
	at := triggerEvent.FindStringSubmatchIndex(definition)
	if at == nil {
		return nil
	}
	before, event, after := definition[:at[4]], definition[at[4]:at[5]], definition[at[5]:]
	lesser := map[string]string{}
	separator, prefix, label := " OR ", "", "without "
	if columns, found := strings.CutPrefix(event, "UPDATE OF "); found {
		event = columns
		separator, prefix, label = ", ", "UPDATE OF ", "without UPDATE OF "
	}
	parts := strings.Split(event, separator)
	if len(parts) == 1 {
		return nil
	}
	for i, part := range parts {
		rest := slices.Delete(slices.Clone(parts), i, i+1)
		lesser[label+part] = before + prefix + strings.Join(rest, separator) + after
	}
	return lesser
}
