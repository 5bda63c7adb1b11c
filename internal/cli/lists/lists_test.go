package lists

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/program"
)

// TestList: a list has the same rows in all formats, each with the columns that are for it.
func TestList(t *testing.T) {
	type row struct {
		name  string
		n     uint64
		spare uint64
	}
	columns := []Column[row]{
		{
			Column: screen.Column{Title: "NAME"}, last: true, CSV: "name", JSON: "name",
			Text: func(r *row) string { return strings.ToUpper(r.name) }, Value: func(r *row) any { return r.name },
		},
		Count("N", "n", "n", func(r *row) uint64 { return r.n }),
		Size("SIZE", "", "bytes", func(r *row) uint64 { return r.n }),
		{CSV: "spare", JSON: "spare", Sparse: true, Value: func(r *row) any { return r.spare }},
		{CSV: "half", JSON: "half", Value: func(r *row) any { return float64(r.n) / 2 }},
		{JSON: "list", Value: func(r *row) any { return []string{r.name, "<b>"} }},
	}
	rows := []row{{"a", 3000, 1}, {"=b", 5, 0}}
	for format, want := range map[string]string{
		"text": "   N    SIZE  NAME\n3000  3.0 KB  A\n   5     5 B  =B\n",
		"csv":  "name,n,spare,half\na,3000,1,1500\n'=b,5,0,2.5\n",
		"json": `[{"name":"a","n":3000,"bytes":3000,"spare":1,"half":1500,"list":["a","<b>"]},` +
			`{"name":"=b","n":5,"bytes":5,"half":2.5,"list":["=b","<b>"]}]` + "\n",
	} {
		var out bytes.Buffer
		if err := Print(&program.Run{Unfiltered: &out, Out: program.NewPrinter(&out)}, format, columns, rows); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, &out, want)
		}
	}
}
