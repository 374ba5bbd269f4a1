package scenarios

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"sync"
)

// sources are this package's own: the comment that opens a scenario is told nowhere else.
//
//go:embed *.go
var sources embed.FS

// Story is the comment that opens a scenario: what has happened, and why it matters. It is "" where
// none stands right above it.
func Story(name string) string { return stories()[joined(name)] }

// joined is a name without its joints, so that retry_during_commit is RetryDuringCommit.
func joined(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// stories are the comments of all variables, by their joined names.
var stories = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	files, _ := fs.Glob(sources, "*.go")
	for _, name := range files {
		text, _ := sources.ReadFile(name) // it is embedded
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			panic(err) // it was compiled
		}
		for _, d := range file.Decls {
			if vars, ok := d.(*ast.GenDecl); ok && vars.Tok == token.VAR {
				tellStories(all, vars)
			}
		}
	}
	return all
})

// tellStories gives each variable its own comment, or that of the block that it stands in.
func tellStories(all map[string]string, vars *ast.GenDecl) {
	for _, spec := range vars.Specs {
		v := spec.(*ast.ValueSpec)
		comment := v.Doc
		if comment == nil {
			comment = vars.Doc
		}
		for _, name := range v.Names {
			all[joined(name.Name)] = strings.Join(strings.Fields(comment.Text()), " ")
		}
	}
}
