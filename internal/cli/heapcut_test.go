package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// foreignDump writes a Graph as another tool would: without gclog's own part.
func foreignDump(t *testing.T, name string, g *heap.Graph, log string) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.WriteDump(&b, &heap.DumpInfo{Tool: "dotnet-gcdump", Log: log}); err != nil {
		t.Fatal(err)
	}
	own := []byte("gclog.heap")
	if !bytes.Contains(b.Bytes(), own) {
		t.Fatal("gclog's own part of a file has another name")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes.ReplaceAll(b.Bytes(), own, []byte("other.heap")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHeapCutOff: a file that its writer has cut off is called so by each command. Only those that count
// print numbers.
func TestHeapCutOff(t *testing.T) {
	g, err := heap.Read(bytes.NewReader(recordings.Read(t, filepath.Join("..", "..", "gclog", "heap", "testdata", "small.nettrace.gz"))))
	if g == nil || !g.Walk.Complete() { // the recording lacks its end tag
		t.Fatal(err)
	}
	whole := foreignDump(t, "whole.gcdump", g, "log")
	limited := foreignDump(t, "limited.gcdump", g, "[WARNING]: Exceeded max node count 10000000. Processed 1/2 nodes")
	g.Roots, g.Statics, g.Dependents = g.Roots[:1], nil, nil
	unrooted := foreignDump(t, "unrooted.gcdump", g, "log")
	out := filepath.Join(t.TempDir(), "out")
	run := func(args ...string) (code int, stdout, stderr string) {
		var o, e bytes.Buffer
		code = Main(append([]string{"gclog", "heap"}, args...), nil, &o, &e)
		return code, o.String(), e.String()
	}
	for _, file := range []string{whole, limited, unrooted} {
		for _, command := range [][]string{
			{"stat", file, "-f", "json"},
			{"stat", file, "--by", "namespace"},
			{"diff", file, file},
			{"retained", file},
			{"roots", file, "System.String"},
			{"suspects", file},
			{"tree", file},
			{"inspect", file},
			{"export", file, "-f", "folded", "-o", out},
			{"convert", file, "-o", out + ".gcdump"},
		} {
			code, stdout, stderr := run(command...)
			if file == whole {
				if code != exit.OK {
					t.Errorf("%q: %d, %s", command, code, stderr)
				}
				continue
			}
			counts := command[0] == "stat"
			if code != exit.Data || !strings.Contains(stderr, "cut") || !strings.Contains(stderr, "off") || (stdout != "") != counts {
				t.Errorf("%q: %d, %s\n%s", command, code, stderr, stdout)
			}
			if counts && command[2] == "-o" {
				var x struct {
					Complete bool
					Objects  uint64
				}
				if err := json.Unmarshal([]byte(stdout), &x); err != nil || x.Complete || x.Objects != uint64(g.Len()) {
					t.Errorf("%q: %v, %+v", command, err, x)
				}
			}
		}
		os.Remove(out)
		os.Remove(out + ".gcdump")
	}
}
