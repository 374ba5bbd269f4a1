package export

import (
	"fmt"
	"strings"
)

// table is a result as the isolation tester prints it: by libpq's PQprint, with a heading and
// aligned columns. It counts bytes.
func (r result) table() string {
	if r.columns == nil {
		return ""
	}
	b := &strings.Builder{}
	widths, numeric := r.layout()
	var border []string
	for _, w := range widths {
		border = append(border, strings.Repeat("-", w))
	}
	tableRow(b, r.columns, widths, numeric)
	fmt.Fprintf(b, "%s\n", strings.Join(border, "+"))
	for _, row := range r.rows {
		cells := make([]string, len(row))
		for i, value := range row {
			if value != nil {
				cells[i] = *value
			}
		}
		tableRow(b, cells, widths, numeric)
	}
	if len(r.rows) == 1 {
		b.WriteString("(1 row)\n\n")
	} else {
		fmt.Fprintf(b, "(%d rows)\n\n", len(r.rows))
	}
	return b.String()
}

// layout is each column's width, and whether it is aligned as a number.
func (r result) layout() (widths []int, numeric []bool) {
	for i, name := range r.columns {
		width, number := len(name), true
		for _, row := range r.rows {
			if row[i] != nil && *row[i] != "" {
				width, number = max(width, len(*row[i])), number && looksNumeric(*row[i])
			}
		}
		widths, numeric = append(widths, width), append(numeric, number)
	}
	return widths, numeric
}

// looksNumeric as libpq sees it: only characters of numbers, an E not first, a digit last.
func looksNumeric(s string) bool {
	last := s[len(s)-1]
	return strings.Trim(s, "0123456789.Ee -") == "" && s[0] != 'E' && s[0] != 'e' &&
		last >= '0' && last <= '9'
}

func tableRow(b *strings.Builder, cells []string, widths []int, numeric []bool) {
	for i, cell := range cells {
		if i > 0 {
			b.WriteByte('|')
		}
		pad := strings.Repeat(" ", widths[i]-len(cell))
		if numeric[i] {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	b.WriteByte('\n')
}
