package lab

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"webhooklab/toxiproxy"
)

// Footprint is what a text is taken to touch, in words, for tests.
func Footprint(ctx context.Context, dsn, sql string, args ...string) (string, error) {
	f, err := openFootprinter(ctx, Config{DSN: dsn})
	if err != nil {
		return "", err
	}
	defer f.close()
	s := toxiproxy.Statement{SQL: sql}
	for _, a := range args {
		s.Args = append(s.Args, []byte(a))
	}
	e, _ := f.of(ctx, toxiproxy.Command{Statements: []toxiproxy.Statement{s}},
		func(v string) string { return v })
	if e.all {
		return "everything", nil
	}
	var all []string
	for verb, accesses := range map[string][]access{"reads": e.reads, "writes": e.writes} {
		for _, a := range accesses {
			all = append(all, verb+" "+a.words())
		}
	}
	sort.Strings(all)
	return strings.Join(all, ", "), nil
}

func (a access) words() string {
	if a.keys == nil {
		return a.relation
	}
	var keys []string
	for index, key := range a.keys {
		keys = append(keys, fmt.Sprintf("%s=%s", index, key))
	}
	sort.Strings(keys)
	return a.relation + "[" + strings.Join(keys, " ") + "]"
}

// Asleep asks whether backends sleep until a lock is theirs, for tests.
func Asleep(ctx context.Context, dsn string, pids ...uint32) (bool, error) {
	o, err := openObserver(ctx, Config{DSN: dsn})
	if err != nil {
		return false, err
	}
	defer o.close()
	return o.asleep(ctx, pids)
}

// Twins is how many other labs share this one's runs.
func Twins(l *Lab) int { return len(l.twins) }

// Join opens the labs that long runs are shared with.
func Join(ctx context.Context, l *Lab) error {
	l.explored = seasoned
	c := l.gather(false, func(*Lab) error { return nil })
	defer c.dismiss()
	c.grow(ctx)
	return ctx.Err()
}
