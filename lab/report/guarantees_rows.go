package report

// A row is a situation with what came of it in the run.
type row struct {
	Situation
	Came   []Explored
	Absent string // what is said instead where nothing came of it
	Caught []caught
}

type caught struct {
	Stopped
	State string
}

// Rows are situations of a contract with what the run says of each.
func (g Guarantees) Rows(contract string, all []Situation) (rows []row) {
	for _, s := range all {
		r := row{Situation: s, Came: g.Explored(contract, s.Name), Absent: stateAbsent}
		if g.Run == nil {
			r.Absent = "not known without a run"
		}
		for _, stopped := range s.Stops {
			r.Caught = append(r.Caught, caught{stopped, g.Stopped(stopped.Name)})
		}
		rows = append(rows, r)
	}
	return rows
}
