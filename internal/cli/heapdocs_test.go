package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
)

// TestHeapJSON: the JSON in docs/heap.md is what the commands print.
func TestHeapJSON(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "heap.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## For scripts\n")
	_, section, _ = strings.Cut(section, "```\n")
	section, _, _ = strings.Cut(section, "```\n")
	t.Chdir(filepath.Join("..", "..", "gclog", "heap", "testdata"))
	compared := 0
	for example := range strings.SplitSeq(section, "\n\n") {
		line, text, _ := strings.Cut(example, "\n")
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		command, filter, _ := strings.Cut(strings.TrimPrefix(line, "$ gclog "), " | ")
		if !strings.Contains(command, " small.nettrace.gz ") {
			continue // of files and processes that are not here
		}
		compared++
		var out, said bytes.Buffer
		if code := Main(append([]string{"gclog"}, strings.Fields(command)...), nil, &out, &said); code != exit.OK {
			t.Fatalf("%s: %d: %s", command, code, said.String())
		}
		var got any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if filter != "" {
			got = detectorOf(got, want)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s prints %s", line, out.String())
		}
	}
	if compared != 6 {
		t.Errorf("%d examples", compared)
	}
}

// detectorOf returns the detector in the output of heap inspect that has the id of another one.
func detectorOf(all, like any) any {
	report, _ := all.(map[string]any)
	detectors, _ := report["detectors"].([]any)
	wanted, _ := like.(map[string]any)
	for _, d := range detectors {
		if x, ok := d.(map[string]any); ok && x["id"] == wanted["id"] {
			return x
		}
	}
	return nil
}
