package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// raw lists the functions that may write to standard output without the filter of texts: what they
// write is binary, or a format with rules of its own for characters that act, or comes from the user's
// own program or file.
var raw = []string{
	"WriteFormat",                       // profiles, pages
	"opener",                            // logs
	"record", "recordOne", "writeUntil", // recordings
	"top",                  // cleans names itself, and draws
	"pausesJoin",           // the user's log, with columns of numbers
	"runTree", "startDemo", // what the program that is started writes
	"resultTo",      // makes a file standard output
	"longestOutput", // asks what the streams are
}

// TestStdout: standard output has one filter, and nothing that is not listed goes around it.
func TestStdout(t *testing.T) {
	files := token.NewFileSet()
	names, err := filepath.Glob("*/*.go")
	if err != nil || len(names) < 100 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			harmless := map[ast.Node]bool{} // arguments of functions that only ask what the stream is
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					of, isSelector := call.Fun.(*ast.SelectorExpr)
					if isSelector && (isNamed(of.X, "screen") || of.Sel.Name == "TextOn") || isNamed(call.Fun, "TextOn") {
						for _, a := range call.Args {
							harmless[a] = true
						}
					}
				}
				x, ok := n.(*ast.SelectorExpr)
				if !ok || harmless[n] {
					return true
				}
				if x.Sel.Name == "Unfiltered" || isNamed(x.X, "os") && (x.Sel.Name == "Stdout" || x.Sel.Name == "Stderr") {
					if !slices.Contains(raw, f.Name.Name) {
						t.Errorf("%s: %s writes to standard output around the filter: use Run.Out, Run.Write or program.TextOn", files.Position(x.Pos()), f.Name.Name)
					}
				}
				return true
			})
		}
	}
}

func isNamed(x ast.Expr, name string) bool {
	i, ok := x.(*ast.Ident)
	return ok && i.Name == name
}
