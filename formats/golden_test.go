package formats_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/shared"
)

// difference shows the first lines in which two texts differ, of long lines the
// part that does.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := 0
	if i < len(a) && i < len(b) {
		for from < len(a[i]) && from < len(b[i]) && a[i][from] == b[i][from] {
			from++
		}
	}
	from = max(0, from-80)
	var s strings.Builder
	fmt.Fprintf(&s, "%d lines, want %d; line %d from byte %d on:", len(a), len(b), i+1, from)
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"got ", a}, {"want", b}} {
		for j := i; j < min(i+3, len(side.lines)); j++ {
			line := side.lines[j][min(from, len(side.lines[j])):]
			fmt.Fprintf(&s, "\n%s %s", side.sign, line[:min(240, len(line))])
		}
	}
	return s.String()
}

// goldenLines is how many lines of a format a golden file has at most.
var goldenLines = map[string]int{"json": 12, "csv": 30, "text": 60, "unified": 60, "jdk8": 60}

// TestGolden holds the begin of four recordings in all formats against the files
// of testdata/golden: what changes there is seen by users. GCLOG_UPDATE=1 writes
// them anew.
func TestGolden(t *testing.T) {
	golden := []string{"core31-svr-induced", "net10-datas-bgc", "net10-wks-oom", "net9-wks-attach"}
	for _, tr := range shared.Repository(t) {
		if !slices.Contains(golden, tr.Name) {
			continue
		}
		x := convert(shared.Read(t, tr.Path), everything, nil)
		for _, f := range formats.All() {
			t.Run(tr.Name+"."+f.Name, func(t *testing.T) {
				text := x.processes[0].outputs[f.Name].text()
				list := bytes.SplitAfter(text, []byte("\n"))
				got := bytes.Join(list[:min(len(list), goldenLines[f.Name])], nil)
				got = fileID.ReplaceAll(got, []byte(`"gclog_file_id":"0123456789abcdef"`))
				path := filepath.Join("testdata", "golden", tr.Name+"."+f.Name)
				if os.Getenv("GCLOG_UPDATE") != "" {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("%v: write it with GCLOG_UPDATE=1", err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("not as in %s: %s", path, difference(string(got), string(want)))
				}
			})
		}
	}
}
