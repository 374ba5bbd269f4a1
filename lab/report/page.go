package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// pageName is the file that a run's page is written to.
const pageName = "report.html"

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"v": visible, "inc": func(i int) int { return i + 1 }, "state": state,
}).Parse(pageHTML))

// A page is what page.html shows, in its order.
type page struct {
	CSS        template.CSS
	Word       string // PASS, FAIL, UNKNOWN, NO FIT
	Class      string
	Reason     string
	FirstError string // an anchor, "" where there is none
	Facts      []fact
	Failures   []failure
	Silent     []fact     // tests that failed, with what they said, where no verdict tells of it
	Findings   []compared // with an earlier run
	Tried      []tried
	Proofs     []string
	Unproved   string
	NotRun     []notRun
	Matrix     []matrix
	Heard      []killRow // of the kill matrix
	Judges     []string  // its columns
	Explored   []program
	Drawn      []Entry // laws over drawn sequences
	Caught     []scene
	Groups     []group
	Statements []string
}

// A fact is a name and a value under the verdict.
type fact struct{ Name, Value string }

// A compared is what became of some findings since an earlier run.
type compared struct {
	Word  string
	Found []Finding
}

// A group is the scenes of one contract.
type group struct {
	Title  string
	Scenes []scene
}

// WritePage makes report.html in dir of a run and of the evidence that is there: one file that
// needs no network and no script.
func WritePage(dir string, r Run) error {
	if dir == "" {
		return nil
	}
	text, err := makePage(dir, r)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, pageName), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("report: make the page: %w", err)
	}
	return nil
}

func makePage(dir string, r Run) ([]byte, error) {
	plays, err := readPlays(dir)
	if err != nil {
		return nil, err
	}
	promised, err := readContracts(dir)
	if err != nil {
		return nil, err
	}
	kills, err := ReadKills(dir)
	if err != nil {
		return nil, err
	}
	p := newPage(r, promised, plays)
	p.Heard, p.Judges = heardOf(kills), Judges
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, p)
	return b.Bytes(), err
}

func newPage(r Run, promised []Contract, plays []Play) page {
	code, reason := r.ExitCode()
	sql := &statements{}
	p := page{
		CSS: template.CSS(pageCSS), Word: Headline(code), Reason: reason,
		Class:    strings.ToLower(strings.ReplaceAll(Headline(code), " ", "")),
		Facts:    facts(r),
		Tried:    triedOf(r),
		Proofs:   allProofs(r),
		NotRun:   notRunOf(r.Judged()),
		Explored: programsOf(r.Explored),
	}
	stages := newScenes(plays, r.Seed, sql)
	p.Failures = failuresOf(r, stages)
	if len(p.Failures) > 0 {
		p.FirstError = p.Failures[0].First
	}
	for _, name := range r.Silent() {
		p.Silent = append(p.Silent, fact{name, r.Outputs[name]})
	}
	for _, k := range r.Compared.kinds() {
		if r.Compared.Baseline != "" && len(k.findings) > 0 {
			p.Findings = append(p.Findings, compared{k.word, k.findings})
		}
	}
	if len(p.Proofs) > 0 {
		p.Unproved = unwrapped(unproved)
	}
	for _, e := range r.Entries {
		if e.Suite == Law {
			p.Drawn = append(p.Drawn, e)
		}
	}
	p.Caught, p.Groups = stages.caught(), stages.groups(promised)
	p.Matrix = matrixOf(promised, r.Entries, p.anchors())
	p.Statements = sql.texts
	return p
}

func facts(r Run) []fact {
	server := r.Server
	if server == "" {
		server = "none was reached"
	}
	all := []fact{
		{"server", server},
		{"seed", fmt.Sprint(r.Seed)},
		{"time", r.Elapsed.Round(time.Second / 10).String()},
	}
	if r.Options != "" {
		all = append(all, fact{"options", r.Options + " (not a whole run)"})
	}
	if r.Folder != "" {
		all = append(all, fact{"evidence", r.Folder})
	}
	return append(all, fact{"again", r.again()})
}

// unwrapped is a paragraph without the line ends of the summary.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// anchors is where each scene of the page stands, by suite and name.
func (p page) anchors() map[string]string {
	at := map[string]string{}
	add := func(all []scene) {
		for _, sc := range all {
			at[sc.Suite+" "+sc.Name] = sc.ID
		}
	}
	for _, f := range p.Failures {
		add(f.Scenes)
	}
	add(p.Caught)
	for _, g := range p.Groups {
		add(g.Scenes)
	}
	return at
}

// again is what repeats this very run.
func (r Run) again() string {
	return strings.TrimSpace(fmt.Sprintf("./run_lab.sh --seed %d %s", r.Seed, r.Options))
}
