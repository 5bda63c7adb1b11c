//go:build linux

package live

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// A scenario is a program with one known trouble, or none, and the finding that names it.
type scenario struct {
	args    string // of the load program
	flavour string
	want    string // "": no finding but those of a busy host
}

func scenarios() []scenario {
	return []scenario{
		{"scenario idle", "wks", ""},
		{"scenario pinning", "wks", "pinning"},
		{"scenario finalizers", "wks", "finalizer-backlog"},
		{"scenario dependent-handles", "wks", "dependent-handles"},
		{"scenario handle-leak", "wks", "handle-leak"},
		{"scenario native-leak", "wks", "native-growth"},
		{"scenario busy", "svr", "long-suspension"},
	}
}

// TestLiveScenarios runs programs with one known trouble each under gclog attach, and compares what
// gclog summary finds. No recording of the tests is long enough for these findings, or has their cause.
func TestLiveScenarios(t *testing.T) {
	if !everyCell() {
		t.Skip("takes minutes: make live runs it")
	}
	r, err := gcload.SharedNamed("net10")
	if r == nil || err != nil {
		t.Skipf("no runtime net10: it is in the folder of shared recordings, set GCLOG_SHARED to its path (%v)", err)
	}
	for _, s := range scenarios() {
		t.Run(s.args, func(t *testing.T) {
			t.Parallel()
			liveScenario(t, r, s)
		})
	}
}

func liveScenario(t *testing.T, r *gcload.Runtime, s scenario) {
	p, err := r.Start(program.SocketDir(t), s.flavour, nil, append(strings.Fields(s.args), "--quiet")...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	log := filepath.Join(t.TempDir(), "gc.json")
	cmd := exec.Command("gclog", "attach", strconv.Itoa(p.PID), "--for", "75s", "-o", log)
	cmd.Stderr = testOutput{t}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	got := findingsOf(t, log)
	if s.want != "" {
		if !slices.Contains(got, s.want) {
			t.Errorf("findings %v, want %s", got, s.want)
		}
		return
	}
	got = slices.DeleteFunc(got, func(id string) bool {
		return slices.Contains([]string{"long-suspension", "long-resume", "late-start"}, id)
	})
	if len(got) > 0 {
		t.Errorf("findings %v of a program without trouble", got)
	}
}

// findingsOf returns the ids of the findings about a log that are worth a warning.
func findingsOf(t *testing.T, log string) (ids []string) {
	t.Helper()
	cmd := exec.Command("gclog", "summary", "-f", "json", log)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		DotNET struct {
			GC struct {
				Findings []struct{ Rule, Severity string }
			}
		}
	}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range document.DotNET.GC.Findings {
		if f.Severity != "info" {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}
