package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestSummaryFinalized: a summary of a recording with named finalized objects lists their types,
// the most frequent first.
func TestSummaryFinalized(t *testing.T) {
	recording := filepath.Join(recordings.Dir(t), "traces", "net8-wks-verbose.nettrace.gz")
	var out, said bytes.Buffer
	if code := Main([]string{"gclog", "summary", "-f", "json", recording}, nil, &out, &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	var x struct {
		Dotnet struct {
			GC struct{ Finalized []analysis.FinalizedType }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	if list := x.Dotnet.GC.Finalized; len(list) != 5 || list[0] != (analysis.FinalizedType{Type: "GcLoad.Finalizable", Objects: 5732}) {
		t.Errorf("the types are %+v", list)
	}
}
