package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// key is one day (UTC, YYYY-MM-DD), source and type of events.
type key struct{ day, source, kind string }

// counts are what a provider says it sent.
type counts struct {
	sent        map[key]int64
	sources     []string
	first, last string // days
}

// maxCount leaves room for sums.
const maxCount = 1 << 50

// readCounts reads a file with the columns day, source, type and count, in any order, named in its
// first line. Its errors name the line.
func readCounts(name string, file io.Reader) (counts, error) {
	c := counts{sent: map[key]int64{}}
	rows := csv.NewReader(file)
	rows.TrimLeadingSpace = true
	header, err := rows.Read()
	if err != nil {
		return c, csvFault(name, err)
	}
	at, err := columns(header)
	if err != nil {
		return c, fmt.Errorf("%s:1: %w", name, err)
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return c, csvFault(name, err)
		}
		line, _ := rows.FieldPos(0)
		if err := c.add(row, at); err != nil {
			return c, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if len(c.sent) == 0 {
		return c, fmt.Errorf("%s: there is no count in it", name)
	}
	return c, nil
}

// csvFault drops what the reader quotes.
func csvFault(name string, err error) error {
	var fault *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: it is empty: its first line names the columns "+
			"day,source,type,count", name)
	case errors.As(err, &fault):
		return fmt.Errorf("%s:%d: %w", name, fault.Line, fault.Err)
	default:
		return fmt.Errorf("read %s: %w", name, err)
	}
}

// columns gives the places of day, source, type and count.
func columns(header []string) ([4]int, error) {
	var at [4]int
	for i, name := range []string{"day", "source", "type", "count"} {
		at[i] = slices.IndexFunc(header, func(h string) bool {
			return strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")) == name
		})
		if at[i] < 0 {
			return at, fmt.Errorf("there is no column %q: the first line names "+
				"day,source,type,count", name)
		}
	}
	return at, nil
}

func (c *counts) add(row []string, at [4]int) error {
	k := key{row[at[0]], row[at[1]], row[at[2]]}
	if _, err := time.Parse(time.DateOnly, k.day); err != nil {
		return fmt.Errorf("day %q: write it as 2026-11-30", k.day)
	}
	if k.source == "" || k.kind == "" {
		return errors.New("source or type is empty")
	}
	n, err := strconv.ParseInt(row[at[3]], 10, 64)
	if err != nil || n < 0 || n > maxCount {
		return fmt.Errorf("count %q is no number from 0 to %d", row[at[3]], int64(maxCount))
	}
	if _, twice := c.sent[k]; twice {
		return fmt.Errorf("%s, %s, %s was counted in an earlier line", k.day, k.source, k.kind)
	}
	c.sent[k] = n
	if !slices.Contains(c.sources, k.source) {
		c.sources = append(c.sources, k.source)
	}
	if c.first == "" || k.day < c.first {
		c.first = k.day
	}
	c.last = max(c.last, k.day)
	return nil
}
