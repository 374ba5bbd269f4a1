package lab

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// String is the whole matrix as text: a line for each command and each fault.
func (s Swept) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program %s\nlaw: %s\n%s\n\n", s.Program, s.Law, s.counted())
	rows := s.rows()
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			width[i] = max(width[i], utf8.RuneCountInString(text))
		}
	}
	for _, row := range rows {
		line := ""
		for i, text := range row {
			line += text + strings.Repeat(" ", width[i]-utf8.RuneCountInString(text)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Markdown is the whole matrix as a table.
func (s Swept) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s (%s)\n\n", s.Program, s.Law, s.counted())
	for i, row := range s.rows() {
		for j, text := range row {
			row[j] = strings.ReplaceAll(text, "|", `\|`)
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// counted says how much was struck, so that nothing is missing in silence.
func (s Swept) counted() string {
	struck, none := s.Struck(), s.None()
	text := fmt.Sprintf("%s: %d cells, %d struck, %d cannot exist", s.Verdict, len(s.Cells), struck,
		none)
	if left := len(s.Cells) - struck - none; left > 0 {
		text += fmt.Sprintf(", %d unknown", left)
	}
	return text
}

// rows are the head of the matrix and its cells.
func (s Swept) rows() [][]string {
	pair := false
	for _, c := range s.Cells {
		pair = pair || c.Other != ""
	}
	head := []string{"command", "fault", "transaction", "sender told", "told again", "left", "verdict"}
	if pair {
		head = append([]string{head[0], "the other stands"}, head[1:]...)
	}
	rows := [][]string{head}
	for _, c := range s.Cells {
		rows = append(rows, c.row(pair))
	}
	return rows
}

func (c Cell) row(pair bool) []string {
	row := []string{fmt.Sprintf("%d %s", c.Place, c.Command)}
	if pair {
		row = append(row, c.Other)
	}
	row = append(row, c.Fault.Words())
	if c.None != "" {
		return append(row, "no such cell", "", "", "", c.None)
	}
	verdict := c.Verdict.String()
	if why := c.Why(); why != "" {
		verdict += ": " + why
	}
	return append(row, string(c.Fate), c.Learned, orDash(c.ToldAgain()), c.Left, verdict)
}

// Why is the first thing that was wrong, in one line; "" if nothing was.
func (c Cell) Why() string {
	if len(c.Offences) == 0 {
		return ""
	}
	text, _, _ := strings.Cut(c.Offences[0].Text, "\n")
	return text
}

// ToldAgain is what the sender was told when it came again, and how often it came if more than once.
func (c Cell) ToldAgain() string {
	if c.Tries > 1 {
		return fmt.Sprintf("%s (%d×)", c.Again, c.Tries)
	}
	return c.Again
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
