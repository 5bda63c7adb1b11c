package cli

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/testing/pprof"
)

// TestHeapExport: what go tool pprof reports as cum is what heap retained reports, and flat what heap
// stat does, although they count in other ways.
func TestHeapExport(t *testing.T) {
	heap := filepath.Join("..", "..", "gclog", "heap", "testdata", "small.nettrace.gz")
	profile := filepath.Join(t.TempDir(), "small.pb.gz")
	if _, said, code := run("heap", "export", heap, "-f", "pprof", "--raw-names", "-o", profile); code != 0 {
		t.Fatal(said)
	}
	var stat struct {
		Bytes int64
		Types []struct {
			Name  string
			Bytes int64
		}
	}
	var retained struct {
		Groups []struct {
			Name     string
			Retained int64 `json:"retained_bytes"`
		}
	}
	for command, v := range map[string]any{"stat": &stat, "retained": &retained} {
		out, said, code := run("heap", command, heap, "-f", "json")
		if err := json.Unmarshal([]byte(out), v); err != nil || code != 0 {
			t.Fatal(err, said)
		}
	}
	flat, _, total := pprof.Top(t, profile)
	_, cum, _ := pprof.Top(t, "-ignore", `\[no root\]`, profile)
	types := map[string]int{}
	for _, x := range stat.Types {
		types[x.Name]++
	}
	if total != stat.Bytes || len(stat.Types) < 100 {
		t.Errorf("%d bytes, want %d of %d types", total, stat.Bytes, len(stat.Types))
	}
	for _, x := range stat.Types {
		if got := flat[x.Name]; types[x.Name] == 1 && got != x.Bytes {
			t.Errorf("flat of %s: %d, want %d", x.Name, got, x.Bytes)
		}
	}
	for _, x := range retained.Groups {
		if got := cum[x.Name]; types[x.Name] == 1 && got != x.Retained {
			t.Errorf("cum of %s: %d, want %d", x.Name, got, x.Retained)
		}
	}
	if got := cum["[static s_head]"]; got != 128_000 {
		t.Errorf("the list: %d", got)
	}
}
