package report

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed guarantees.html
var guaranteesHTML string

//go:embed guarantees.css
var guaranteesCSS string

var guaranteesTemplate = template.Must(template.New("guarantees").
	Funcs(template.FuncMap{"v": visible, "inc": func(i int) int { return i + 1 }, "state": state}).
	Parse(guaranteesHTML))

// HTML is one file that needs no network and no script, in the look of a run's page.
func (g Guarantees) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := guaranteesTemplate.Execute(&b, struct {
		Guarantees
		CSS template.CSS
	}{g, template.CSS(pageCSS + guaranteesCSS)})
	return b.Bytes(), err
}
