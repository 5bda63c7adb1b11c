package fields_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats/fields"
)

// TestDocs: the tables of docs/formats.md contain every field as the code has it. GCLOG_UPDATE=1
// writes them.
func TestDocs(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "formats.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for place, table := range map[string]string{"json": jsonTable(), "csv": csvTable(t)} {
		begin := "<!-- " + place + ": made by go test ./formats/fields with GCLOG_UPDATE=1 -->\n"
		end := "<!-- end of " + place + " -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for the table of %s", name, place)
		}
		text = before + begin + table + end + after
	}
	upToDate(t, name, text)
}

// upToDate compares a file with what it should be, or rewrites it.
func upToDate(t *testing.T, name, want string) {
	t.Helper()
	switch got, err := os.ReadFile(name); {
	case err == nil && string(got) == want:
	case os.Getenv("GCLOG_UPDATE") == "":
		t.Errorf("%s is not what the table says: write it anew with GCLOG_UPDATE=1", name)
	default:
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
		f := fields.Column(name)
		unit := unitNames[f.Unit]
		switch f.Unit {
		case fields.Nanoseconds:
			unit = "ms"
		case fields.Flag:
			unit = "`True`, `False`"
		}
		fmt.Fprintf(&s, "| `%s` | %s | %s | %s |\n", name, unit, f.Events, f.Doc)
	}
	return s.String()
}

func code(name string) string {
	if name == "" {
		return ""
	}
	return "`" + name + "`"
}
