package mutation

import (
	"fmt"
	"regexp"
	"strings"
)

// A TextEdit takes a guard out of a function, a view or a CHECK, by the text of the schema.
type TextEdit struct {
	Of     string // the table that the guard belongs to
	Object string // FUNCTION name, VIEW name or CONSTRAINT name
	Name   string // what is missing then
	Old    string // stands in the object's text once
	New    string
}

// FromText gives the mutants of these edits of a schema. An edit that matches nothing, or more
// than one place, gives one that says so.
func FromText(schema string, edits []TextEdit) []Mutant {
	all := make([]Mutant, len(edits))
	for i, e := range edits {
		_, object, _ := strings.Cut(e.Object, " ")
		all[i] = Mutant{Name: schemaName(e.Of, object+" "+e.Name), Kind: Code, Of: e.Of}
		alter, err := e.alter(schema)
		if err != nil {
			all[i].Fault = err.Error()
		}
		all[i].Alter = alter
	}
	return all
}

func (e TextEdit) alter(schema string) (string, error) {
	kind, name, _ := strings.Cut(e.Object, " ")
	text, err := objectText(schema, kind, name)
	if err != nil {
		return "", err
	}
	edited, ok := Edit{Old: e.Old, New: e.New}.apply(text)
	if !ok {
		return "", fmt.Errorf("%q stands %d times in the text of %s, not once",
			e.Old, strings.Count(text, e.Old), e.Object)
	}
	if kind == "CONSTRAINT" {
		return fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, ADD %s", e.Of, name, edited), nil
	}
	return strings.Replace(edited, "CREATE ", "CREATE OR REPLACE ", 1), nil
}

// endOf is what ends the text of an object of each kind.
var endOf = map[string]string{"FUNCTION": "\n$$;", "VIEW": ";\n"}

// objectText cuts one object out of the schema's text.
func objectText(schema, kind, name string) (string, error) {
	start := "CREATE " + kind + " " + name
	if kind == "CONSTRAINT" {
		start = kind + " " + name
	}
	at := regexp.MustCompile(regexp.QuoteMeta(start) + `\b`).FindStringIndex(schema)
	if at == nil {
		return "", fmt.Errorf("the schema has no %s %s", kind, name)
	}
	text := schema[at[0]:]
	if kind == "CONSTRAINT" {
		return text[:closing(text)], nil
	}
	end := strings.Index(text, endOf[kind])
	if end < 0 {
		return "", fmt.Errorf("the schema's %s %s has no end", kind, name)
	}
	return text[:end+len(endOf[kind])], nil
}

// closing is where the first pair of brackets ends.
func closing(text string) int {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
