package fields_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/internal/testing/generated"
)

// TestDocs: the tables of docs/formats.md contain every field as the code has it.
func TestDocs(t *testing.T) {
	generated.Sections(t, filepath.Join("..", "..", "docs", "formats.md"), map[string]string{"json": jsonTable(), "csv": csvTable(t)})
}

// unitNames are the units as the documentation has them.
var unitNames = map[fields.Unit]string{
	fields.Count: "count", fields.Bytes: "bytes", fields.PlainBytes: "bytes", fields.Nanoseconds: "ns", fields.PlainNanoseconds: "ns",
	fields.Time: "time", fields.WholePercent: "pct", fields.Percent: "pct", fields.ExactPercent: "pct", fields.Ratio: "ratio",
	fields.Flag: "true, false", fields.Text: "name", fields.Texts: "names", fields.Numbers: "numbers", fields.Hex: "hex",
}

// jsonTable is the table of the fields in json: of the generations, only gen0 is in it.
func jsonTable() string {
	var s strings.Builder
	s.WriteString("| field | unit | csv | unified | from | |\n|---|---|---|---|---|---|\n")
	for _, f := range fields.All() {
		if f.JSON == "" || ofAnother(f.JSON) {
			continue
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s | %s |\n", code(f.JSON), unitNames[f.Unit], code(f.CSV), code(f.Unified), f.Events, f.Doc)
	}
	return s.String()
}

// ofAnother reports whether the field is that of a generation after gen0.
func ofAnother(path string) bool {
	object, _, nested := strings.Cut(path, ".")
	return nested && (object == "gen1" || object == "gen2" || object == "loh" || object == "poh")
}

// csvTable is the table of the columns, in their order.
func csvTable(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join("..", "..", "samples", "gc.csv"))
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(string(log), "\n")
	var s strings.Builder
	s.WriteString("| column | unit | from | |\n|---|---|---|---|\n")
	for name := range strings.SplitSeq(header, ",") {
		s.WriteString(cmp.Or(columnRow(fields.Column(name)), columnRow(fields.ColumnOf(fields.Process(), name)), columnRow(fields.ColumnOf(fields.End(), name))))
	}
	return s.String()
}

// columnRow is the row of a column; "" if there is none.
func columnRow[R any](f *fields.Row[R]) string {
	if f == nil {
		return ""
	}
	unit := unitNames[f.Unit]
	switch f.Unit {
	case fields.Nanoseconds, fields.Time:
		unit = "ms"
	case fields.Flag:
		unit = "`True`, `False`"
	}
	if f.CSV == "StartTime" {
		unit = "time"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", f.CSV, unit, f.Events, f.Doc)
}

func code(name string) string {
	if name == "" {
		return ""
	}
	return "`" + name + "`"
}
