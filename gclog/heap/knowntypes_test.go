package heap

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// recordedVersions are those of .NET in the recordings, by the beginning of their names.
var recordedVersions = []struct{ recording, version string }{
	{"core31-", "3.1"},
	{"net8-", "8"},
	{"net9-", "9"},
	{"net10-", "10"},
	{"net11-", "11"},
	{"app9-", "9"},
	{"small.", "9"},
	{"rundown.", "9"},
	{"three-walks.", "9"},
	{"app10.", "10"},
	{"notypes.", "9"},
}

// is reports whether a class, or a field, is what a row of the table knows.
func (k *knownType) is(class, field string) bool {
	switch k.kind {
	case knownField:
		return field == k.name
	case knownEnd:
		inCollection := k.name == machineBox || isClass(class, collections)
		return inCollection && strings.HasSuffix(class, k.name)
	}
	return class != "" && isClass(class, k.name)
}

// TestKnownTypes: each type that the code knows by name is in the recordings of the versions of .NET in
// which the table says that it was met, and in no other. Where it is missing it may have another name,
// and what depends on it finds nothing.
func TestKnownTypes(t *testing.T) {
	list, err := filepath.Glob(filepath.Join(recordings.Dir(t), "heap-traces", "*.nettrace.gz"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	met := make([]map[string]bool, len(knownTypes))
	for i := range met {
		met[i] = map[string]bool{}
	}
	for _, path := range list {
		v := slices.IndexFunc(recordedVersions, func(x struct{ recording, version string }) bool {
			return strings.HasPrefix(filepath.Base(path), x.recording)
		})
		if v < 0 {
			t.Fatalf("%s: the version of .NET is unknown", path)
		}
		g, _ := Read(bytes.NewReader(recordings.Read(t, path)))
		see := func(class, field string) {
			for i := range knownTypes {
				if knownTypes[i].is(class, field) {
					met[i][recordedVersions[v].version] = true
				}
			}
		}
		for i := range g.Types {
			see(g.Types[i].class(), "")
		}
		for i := range g.Statics {
			see("", g.Statics[i].Field)
		}
	}
	for i, k := range knownTypes {
		var seen []string
		for _, x := range recordedVersions {
			if met[i][x.version] && !slices.Contains(seen, x.version) {
				seen = append(seen, x.version)
			}
		}
		if got := strings.Join(seen, " "); got != k.seen {
			t.Errorf("%s (%s) is in recordings of .NET %q, not %q", k.name, k.use, got, k.seen)
		}
		if k.seen == "" {
			t.Logf("%s (%s) is in no recording", k.name, k.use)
		}
	}
}

// TestOneTable: no other file knows a type of .NET by name, and each in the table is used.
func TestOneTable(t *testing.T) {
	const table = "knowntypes.go"
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join("..", "..", "internal", "cli", "heap", "*.go"))
	if err != nil || len(more) == 0 {
		t.Fatal(more, err)
	}
	name := regexp.MustCompile(`^(System|Microsoft|Internal|Interop|Windows)\.[A-Za-z.+\[\]]*$|^s_`)
	used, constants := map[string]int{}, map[string]bool{}
	for _, file := range append(files, more...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if file == table {
					for _, x := range n.Names {
						constants[x.Name] = x.Name != "collectionParts" && x.Name != "libraries" && !strings.HasPrefix(x.Name, "known")
					}
				}
			case *ast.Ident:
				used[n.Name]++
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && file != table && name.MatchString(text) {
					t.Errorf("%s knows %s, which is not in %s", file, text, table)
				}
			}
			return true
		})
	}
	rows := map[string]bool{}
	for _, k := range knownTypes {
		if rows[k.name] || k.use == "" {
			t.Errorf("%s has two rows, or no use", k.name)
		}
		rows[k.name] = true
	}
	for c, isName := range constants {
		if isName && used[c] < 3 { // where it is declared, and its row
			t.Errorf("%s is not used, or has no row", c)
		}
	}
}

// TestKnownTypesDocs: the table is in the documentation.
func TestKnownTypesDocs(t *testing.T) {
	var s strings.Builder
	s.WriteString("| name | used by | seen in recordings of .NET |\n|---|---|---|\n")
	for _, k := range knownTypes {
		name := k.name
		switch k.kind {
		case knownNamespace:
			name += "*"
		case knownEnd:
			name = "*" + name
		case knownField:
			name += " (field)"
		}
		seen := strings.ReplaceAll(k.seen, " ", ", ")
		if seen == "" {
			seen = "none"
		}
		fmt.Fprintf(&s, "| `%s` | %s | %s |\n", name, strings.ReplaceAll(k.use, ";", ","), seen)
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "heap.md"), map[string]string{"known-types": s.String()})
}
