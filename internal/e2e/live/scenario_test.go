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
	"time"

	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// A scenario is a program with one known trouble, or none, and the finding that names it.
type scenario struct {
	args    string // of the load program
	flavour string
	knobs   string // of the runtime
	watched time.Duration
	want    string // "": no warning but those of a busy host
}

func scenarios() []scenario {
	const usual = 75 * time.Second
	return []scenario{
		{"scenario idle", "wks", "", usual, ""},
		{"scenario pinning", "wks", "", usual, "pinning"},
		{"scenario finalizers", "wks", "", usual, "finalizer-backlog"},
		{"scenario dependent-handles", "wks", "", usual, "dependent-handles"},
		{"scenario handle-leak", "wks", "", usual, "handle-leak"},
		{"scenario native-leak", "wks", "", usual, "native-growth"},
		{"scenario busy", "svr", "", usual, "long-suspension"},
		// A gen0 as large as that of a processor with much cache, for a heap that is almost empty.
		{"churn --rate 400 --live 1 --threads 2", "svr", "GCgen0size=10000000 GCGen0MaxBudget=10000000", usual, "peak-over-after"},
		// Nothing survives, so that gen1 is collected when its time has come: ten times, which takes 100 s.
		{"alloc --rate 2 --threads 1", "wks", "GCgen0size=40000 GCGen0MaxBudget=40000", 2 * usual, "time-tuning"},
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
	p, err := r.Start(program.SocketDir(t), s.flavour, strings.Fields(s.knobs), append(strings.Fields(s.args), "--quiet")...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	log := filepath.Join(t.TempDir(), "gc.json")
	cmd := exec.Command("gclog", "attach", strconv.Itoa(p.PID), "--for", s.watched.String(), "-o", log)
	cmd.Stderr = testOutput{t}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	got := findingsOf(t, log)
	if s.want != "" {
		if !slices.ContainsFunc(got, func(f finding) bool { return f.Rule == s.want }) {
			t.Errorf("findings %v, want %s", got, s.want)
		}
		return
	}
	got = slices.DeleteFunc(got, func(f finding) bool {
		return f.Severity == "info" || slices.Contains([]string{"long-suspension", "long-resume", "late-start"}, f.Rule)
	})
	if len(got) > 0 {
		t.Errorf("findings %v of a program without trouble", got)
	}
}

type finding struct{ Rule, Severity string }

// findingsOf returns what gclog summary finds in a log.
func findingsOf(t *testing.T, log string) []finding {
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
				Findings []finding
			}
		}
	}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return document.DotNET.GC.Findings
}
