package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestUnnamedCalls: calls whose methods have no name are named by their ends, and it is said why.
func TestUnnamedCalls(t *testing.T) {
	path := filepath.Join(recordings.Dir(t), "heap-traces", "net11-wks-async.nettrace.gz")
	inspect := func(more ...string) string {
		t.Helper()
		var out, said bytes.Buffer
		if code := Main(append([]string{"gclog", "heap", "inspect", path}, more...), nil, &out, &said); code != exit.OK {
			t.Fatalf("%d: %s", code, said.String())
		}
		return out.String()
	}
	text := strings.Join(strings.Fields(inspect("--filter", "StreamReader$")), " ")
	for _, want := range []string{
		"2760 pending async calls",
		"60 of them are of runtime async: a heap dump does not contain the names of their methods",
		"60 105.4 KB without a name, awaits async P.Slow.ReadAsync() static keep",
		"30 chains of 2 calls await async P.Slow.ReadAsync(), for async P.Read(), as RuntimeAsyncTask<string>, in Continuations of 88, 112 bytes that refer to System.IO.StreamReader, byte[], Slow.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var report struct {
		Detectors []struct {
			Rows []struct {
				Objects uint64
				Chain   *struct {
					Chains, Calls uint64
					Layouts       []any
					Waiter        string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(inspect("-f", "json")), &report); err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Detectors {
		for _, row := range d.Rows {
			if c := row.Chain; c != nil && (c.Chains != 30 || c.Calls != 2 || row.Objects != 60 || len(c.Layouts) != 2 || c.Waiter != "AsyncStateMachineBox<System.Threading.Tasks.VoidTaskResult, P+<Read>d__16>") {
				t.Errorf("%+v %+v", row, c)
			}
		}
	}
}
