package lab

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"webhooklab/lab/postgres"
	"webhooklab/toxiproxy"
)

// A footprinter learns what SQL touches: one EXPLAIN for each text, on a connection of its own, so
// that no command of the receiver is changed. What it can't explain touches everything.
type footprinter struct {
	mu     sync.Mutex
	conn   *pgx.Conn
	shapes map[string]*shape
	tables map[string]*tableShape
	// scanned relations were read otherwise than by a key: the order of inserts may then show.
	scanned map[string]bool
}

// A lesson is what one run has shown that its footprints did not know. It counts once the run is
// entered: until then others go by what was known when they were chosen.
type lesson struct {
	scans []string // relations that were read otherwise than by a key
	looks []look
}

// A look is what a transaction was seen to have locked behind a text, as plain leaves it.
type look struct {
	text   string
	gone   bool            // it is over, and its locks with it
	locked map[string]bool // relation → for more than reading
	known  []access
}

// A shape is the footprint of one SQL text, before its arguments are known.
type shape struct {
	all       bool
	parts     []part
	oids      []uint32
	triggered bool // it writes to a table with triggers, which EXPLAIN does not follow
	checked   int  // how often pg_locks has confirmed it
}

// A part is what the text does to one relation. Keys name the arguments that pick the row.
type part struct {
	relation    string
	read, write bool
	keys        map[string][]string // unique index → its values: "$1" or a constant
}

// A tableShape is what the catalogue says of a relation.
type tableShape struct {
	columns  []string
	uniques  map[string][]string // index → columns
	indexed  map[string]bool     // columns of unique indexes
	triggers bool
	opaque   bool     // it has a unique index over an expression or a part of its rows
	parents  []string // referenced by foreign keys
}

func openFootprinter(ctx context.Context, c Config) (*footprinter, error) {
	cfg, err := postgres.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("lab: footprints: %w", err)
	}
	for name, value := range map[string]string{
		"application_name": "webhooklab footprints", "plan_cache_mode": "force_generic_plan",
		"enable_seqscan": "off", "enable_bitmapscan": "off",
	} {
		cfg.RuntimeParams[name] = value
	}
	c.Server.Near(cfg)
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("lab: footprints: %w", err)
	}
	f := &footprinter{conn: conn}
	f.begin()
	return f, nil
}

// begin forgets what other explorations have taught.
func (f *footprinter) begin() {
	f.shapes, f.tables = map[string]*shape{}, map[string]*tableShape{}
	f.scanned = map[string]bool{}
}

func (f *footprinter) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = f.conn.Close(ctx)
}

// of is the effect of one command by its text and arguments; plain takes what is peculiar to the
// run out of a value.
func (f *footprinter) of(
	ctx context.Context, c toxiproxy.Command, plain func(string) string,
) (e effect, scans []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range c.Statements {
		sh := f.shape(ctx, s.SQL, plain)
		e.all = e.all || sh.all
		for _, p := range sh.parts {
			a := p.bound(s, sh.oids, plain)
			if f.scanned[p.relation] {
				a.keys = nil
			} else if p.read && p.keys == nil {
				scans = append(scans, p.relation)
			}
			if p.read {
				e.reads = append(e.reads, a)
			}
			if p.write {
				e.writes = append(e.writes, a)
			}
		}
	}
	return e, scans
}

// bound puts the arguments in. A value that can't be read leaves the whole relation.
func (p part) bound(s toxiproxy.Statement, oids []uint32, plain func(string) string) access {
	a := access{relation: p.relation}
	if p.keys == nil {
		return a
	}
	a.keys = map[string]string{}
	for index, values := range p.keys {
		key := ""
		for _, v := range values {
			text, ok := value(v, s, oids)
			if !ok {
				return access{relation: p.relation}
			}
			key += strconv.Quote(plain(text))
		}
		a.keys[index] = key
	}
	return a
}

// value is an argument as text, or a constant as it stands.
func value(v string, s toxiproxy.Statement, oids []uint32) (string, bool) {
	if !strings.HasPrefix(v, "$") {
		return v, true
	}
	n, err := strconv.Atoi(v[1:])
	if err != nil || n < 1 || n > len(s.Args) || n > len(oids) || s.Args[n-1] == nil {
		return "", false // NULL is equal to nothing, and no unique index minds it
	}
	raw := s.Args[n-1]
	if n > len(s.Formats) || s.Formats[n-1] == 0 {
		return string(raw), true
	}
	switch oid := oids[n-1]; {
	case oid == pgtype.TextOID, oid == pgtype.VarcharOID:
		return string(raw), true
	case oid == pgtype.Int8OID && len(raw) == 8:
		return strconv.FormatInt(int64(binary.BigEndian.Uint64(raw)), 10), true
	case oid == pgtype.Int4OID && len(raw) == 4:
		return strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(raw))), 10), true
	}
	return "", false
}

// shape explains a text once. Texts that differ only in what is peculiar to a run are one.
func (f *footprinter) shape(ctx context.Context, sql string, plain func(string) string) *shape {
	text := plain(sql)
	if s := f.shapes[text]; s != nil {
		return s
	}
	s, err := f.explain(ctx, sql)
	if err != nil {
		s = &shape{all: true}
	}
	s.stable(plain)
	f.shapes[text] = s
	return s
}

// stable takes what is peculiar to a run out of the constants of its text.
func (s *shape) stable(plain func(string) string) {
	for _, p := range s.parts {
		for _, values := range p.keys {
			for i, v := range values {
				values[i] = plain(v)
			}
		}
	}
}

// footprints numbers the statements that are prepared to be explained.
var footprints atomic.Uint64

// explain gives an error for what has no plan: such a command touches everything.
func (f *footprinter) explain(ctx context.Context, sql string) (*shape, error) {
	if unknown, err := f.callsUnknown(ctx, sql); err != nil || unknown {
		return &shape{all: true}, err
	}
	name := fmt.Sprintf("footprint_%d", footprints.Add(1))
	described, err := f.conn.Prepare(ctx, name, sql)
	if err != nil {
		return nil, err
	}
	nulls := strings.TrimSuffix(strings.Repeat("NULL,", len(described.ParamOIDs)), ",")
	if nulls != "" {
		nulls = "(" + nulls + ")"
	}
	var text string
	err = f.conn.QueryRow(ctx, "EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE "+name+nulls,
		pgx.QueryExecModeSimpleProtocol).Scan(&text)
	if err != nil {
		return nil, err
	}
	var plans []struct{ Plan plan }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return nil, err
	}
	s := &shape{oids: described.ParamOIDs}
	w := walker{f: f, ctx: ctx, sql: sql, shape: s}
	for _, p := range plans {
		w.read(p.Plan)
	}
	return s, w.err
}

var called = regexp.MustCompile(`([a-z_][a-z0-9_]*)\s*\(`)

// harmless functions are volatile but touch nothing that a rival could see.
var harmless = []string{"clock_timestamp", "timeofday", "random", "gen_random_uuid", "nextval",
	"statement_timestamp", "set_config"}

// callsUnknown: the text calls a function of the user's own that may read or write, or one of the
// server's own that has effects, such as an advisory lock.
func (f *footprinter) callsUnknown(ctx context.Context, sql string) (bool, error) {
	var names []string
	for _, m := range called.FindAllStringSubmatch(strings.ToLower(sql), -1) {
		if !slices.Contains(harmless, m[1]) {
			names = append(names, m[1])
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	var unknown bool
	err := f.conn.QueryRow(ctx, `
SELECT EXISTS (
	SELECT
	  FROM pg_proc
	 WHERE proname = ANY ($1)
	   AND provolatile <> 'i'
	   AND (provolatile = 'v' OR pronamespace <> 'pg_catalog'::regnamespace)
)`, names).Scan(&unknown)
	return unknown, err
}

// checks is how often the locks of a text's transaction are compared with its footprint.
const checks = 2

// due says whether the locks that a text, as plain leaves it, took are worth a look. Behind the end
// of its transaction they are gone, and with them all knowledge of what its triggers touched.
func (f *footprinter) due(text string, open bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.shapes[text]
	return s != nil && !s.all && s.checked < checks && (open || s.triggered)
}

// learn enters what a run has shown, and says whether it is news: what was concluded before may
// then be wrong.
func (f *footprinter) learn(l lesson) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, relation := range l.scans {
		news = news || !f.scanned[relation]
		f.scanned[relation] = true
	}
	for _, look := range l.looks {
		s := f.shapes[look.text]
		switch {
		case s.all || s.checked >= checks:
		case look.gone && s.checked > 0: // what it touches was seen elsewhere; here it has failed
		case look.gone:
			s.all, news = true, true
		default:
			s.checked++
			news = s.widen(look) || news
		}
	}
	return news
}

// widen adds the relations that a transaction has locked and that nothing of its footprint speaks
// of, which EXPLAIN could not see: triggers, foreign keys, functions.
func (s *shape) widen(l look) (news bool) {
	for relation, write := range l.locked {
		known := func(a access) bool { return a.relation == relation }
		if !slices.ContainsFunc(l.known, known) {
			s.parts = append(s.parts, part{relation: relation, read: true, write: write})
			news = true
		}
	}
	return news
}
