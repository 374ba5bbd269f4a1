package lab

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// plan is a node of EXPLAIN (FORMAT JSON, VERBOSE).
type plan map[string]any

func (p plan) text(key string) string {
	s, _ := p[key].(string)
	return s
}

func (p plan) texts(key string) (all []string) {
	list, _ := p[key].([]any)
	for _, x := range list {
		s, _ := x.(string)
		all = append(all, s)
	}
	return all
}

func (p plan) children() (all []plan) {
	list, _ := p["Plans"].([]any)
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// relation is the qualified name of the node's relation, "" when it has none.
func (p plan) relation() string {
	if p.text("Relation Name") == "" {
		return ""
	}
	return p.text("Schema") + "." + p.text("Relation Name")
}

// A walker turns a plan into the parts of a shape.
type walker struct {
	f     *footprinter
	ctx   context.Context
	sql   string
	shape *shape
	err   error
	vague bool // a sub-select's result has the name of an argument: no "$1" says what it is
}

// resultName is how up to PostgreSQL 16 a plan calls what a sub-select gives, counted from $0.
var resultName = regexp.MustCompile(`\(returns [^)]*\$[1-9]`)

// read walks the whole plan.
func (w *walker) read(p plan) {
	w.walk(p, false)
	if !w.vague {
		return
	}
	for i := range w.shape.parts {
		w.shape.parts[i].keys = nil
	}
}

func (w *walker) walk(p plan, locked bool) {
	w.vague = w.vague || resultName.MatchString(p.text("Subplan Name"))
	switch relation := p.relation(); {
	case p.text("Node Type") == "ModifyTable":
		w.modifies(p)
	case p.text("Node Type") == "LockRows":
		locked = true
	case relation != "":
		w.add(part{relation: relation, read: true, write: locked, keys: w.picked(p)})
	case strings.Contains(p.text("Node Type"), "Function"):
		w.shape.all = true
	}
	for _, c := range p.children() {
		w.walk(c, locked)
	}
}

func (w *walker) add(p part) { w.shape.parts = append(w.shape.parts, p) }

// modifies adds the target of an INSERT, UPDATE, DELETE or MERGE.
func (w *walker) modifies(p plan) {
	relation := p.relation()
	t := w.table(relation)
	if t == nil {
		w.shape.all = true
		return
	}
	w.shape.triggered = w.shape.triggered || t.triggers
	target := part{relation: relation, write: true, read: p.text("Conflict Resolution") == "UPDATE"}
	switch p.text("Operation") {
	case "Insert":
		target.keys = t.inserted(p)
	case "Update", "Delete":
		for _, c := range p.children() {
			if c.relation() == relation {
				target.keys = w.picked(c)
			}
		}
	}
	if t.setsKey(w.sql) {
		target.keys = nil
	}
	w.add(target)
	for _, parent := range t.parents {
		w.add(part{relation: parent, read: true, write: true}) // it locks the parent's row
	}
}

var (
	argument = regexp.MustCompile(`^\(*\$([0-9]+)\)*(::[a-z ]+)?\)*$`)
	constant = regexp.MustCompile(`^'[^']*'::[a-z ]+$`)
	equality = regexp.MustCompile(`\(\(*([a-z_]+\.)?"?([a-z_0-9]+)"?\)?(?:::[a-z ]+)? = ` +
		`(\(?\$[0-9]+\)?(?:::[a-z ]+)?|'[^']*'::[a-z ]+)\)`)
)

// inserted reads the new row's keys from what the plan puts out, column by column. A number that is
// drawn from a sequence shows who came first, so that it leaves the whole relation.
func (t *tableShape) inserted(p plan) map[string][]string {
	below := p.children()
	if t.opaque || len(below) != 1 || below[0].text("Node Type") != "Result" {
		return nil
	}
	output := below[0].texts("Output")
	if len(output) != len(t.columns) {
		return nil
	}
	keys := map[string][]string{}
	for index, columns := range t.uniques {
		var values []string
		for _, c := range columns {
			v, ok := operand(output[slices.Index(t.columns, c)])
			if !ok {
				return nil
			}
			values = append(values, v)
		}
		keys[index] = values
	}
	return keys
}

// operand is "$1" or a constant.
func operand(text string) (string, bool) {
	if m := argument.FindStringSubmatch(text); m != nil {
		return "$" + m[1], true
	}
	if constant.MatchString(text) {
		return text[1:strings.LastIndex(text, "'")], true
	}
	return "", false
}

// picked reads which row an index scan finds, nil when it may find several.
func (w *walker) picked(p plan) map[string][]string {
	t := w.table(p.relation())
	index := p.text("Index Name")
	if t == nil || t.uniques[index] == nil {
		return nil
	}
	found := map[string]string{}
	for _, m := range equality.FindAllStringSubmatch("("+p.text("Index Cond")+")", -1) {
		if v, ok := operand(m[3]); ok {
			found[m[2]] = v
		}
	}
	var values []string
	for _, c := range t.uniques[index] {
		v, ok := found[c]
		if !ok {
			return nil
		}
		values = append(values, v)
	}
	return map[string][]string{index: values}
}

var (
	setClause = regexp.MustCompile(`(?is)\bSET\b(.*?)(\bWHERE\b|\bRETURNING\b|\bFROM\b|$)`)
	word      = regexp.MustCompile(`[a-z_][a-z_0-9]*`)
)

// setsKey: a SET clause names a column of a unique index, so that the new row may have another key.
func (t *tableShape) setsKey(sql string) bool {
	for _, clause := range setClause.FindAllStringSubmatch(sql, -1) {
		for _, assigned := range strings.Split(clause[1], ",") {
			name, _, _ := strings.Cut(assigned, "=")
			for _, w := range word.FindAllString(strings.ToLower(name), -1) {
				if t.indexed[w] {
					return true
				}
			}
		}
	}
	return false
}

// table reads what the catalogue says, nil when it is no ordinary table.
func (w *walker) table(name string) *tableShape {
	if t, ok := w.f.tables[name]; ok {
		return t
	}
	t := &tableShape{uniques: map[string][]string{}, indexed: map[string]bool{}}
	err := w.f.conn.QueryRow(w.ctx, tableSQL, name).Scan(
		&t.columns, &t.triggers, &t.opaque, &t.parents)
	if err == nil {
		err = w.uniques(t, name)
	}
	if err != nil {
		w.err = err
		return nil
	}
	w.f.tables[name] = t
	return t
}

func (w *walker) uniques(t *tableShape, name string) error {
	rows, err := w.f.conn.Query(w.ctx, uniqueSQL, name)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var index string
		var columns []string
		if err := rows.Scan(&index, &columns); err != nil {
			return err
		}
		t.uniques[index] = columns
		for _, c := range columns {
			t.indexed[c] = true
		}
	}
	return rows.Err()
}

const tableSQL = `
SELECT array(
	SELECT attname::text FROM pg_attribute
	 WHERE attrelid = c.oid AND attnum > 0 ORDER BY attnum
  ),
  EXISTS (
	SELECT FROM pg_trigger
	 WHERE tgrelid = c.oid AND NOT tgisinternal AND tgname <> '000_lab_gate' -- it touches nothing
  ),
  EXISTS (
	SELECT FROM pg_index
	 WHERE indrelid = c.oid AND indisunique AND (indpred IS NOT NULL OR indexprs IS NOT NULL)
  ),
  array(
	SELECT n.nspname || '.' || p.relname
	  FROM pg_constraint AS k
	  JOIN pg_class AS p ON p.oid = k.confrelid
	  JOIN pg_namespace AS n ON n.oid = p.relnamespace
	 WHERE k.conrelid = c.oid AND k.contype = 'f'
  )
  FROM pg_class AS c
 WHERE c.oid = $1::regclass
   AND c.relkind = 'r'`

// Partial and expression indexes name no key: a table that has one is opaque.
const uniqueSQL = `
SELECT i.relname::text,
       array(
	SELECT a.attname::text
	  FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
	  JOIN pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
	 WHERE k.place <= x.indnkeyatts
	 ORDER BY k.place
  )
  FROM pg_index AS x
  JOIN pg_class AS i ON i.oid = x.indexrelid
 WHERE x.indrelid = $1::regclass
   AND x.indisunique
   AND x.indpred IS NULL
   AND x.indexprs IS NULL`
