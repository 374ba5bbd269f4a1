package report

// A killRow is a receiver of the kill matrix as the page shows it.
type killRow struct {
	Name, Harm, Law string
	Wrong           string
	Marks           []mark
	Lines           []caughtAs
}

// A mark is a judge's cell in one sign, with the whole as its title.
type mark struct{ Sign, Title string }

// caughtAs says by what one judge caught it, and how to see it again.
type caughtAs struct{ Judge, By, Law, Text, Again string }

func heardOf(all []Kill) (rows []killRow) {
	for _, k := range all {
		h := killRow{Name: k.Receiver, Harm: k.Harm, Law: k.Law, Wrong: k.Wrong()}
		if k.Reference {
			h.Harm = "the reference: it must be clean to all"
		}
		for _, judge := range Judges {
			c := k.Cell(judge)
			h.Marks = append(h.Marks, mark{c.mark(), c.Judge + ": " + string(c.Ruling)})
			if c.Ruling != Caught {
				continue
			}
			as := caughtAs{Judge: judge, By: c.By, Law: c.Law, Text: c.Text}
			if c.Line != "" && Generic(judge) {
				as.Again = c.again(k)
			}
			h.Lines = append(h.Lines, as)
		}
		rows = append(rows, h)
	}
	return rows
}
