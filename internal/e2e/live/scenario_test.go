//go:build linux

package live

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// A scenario is a program with one known trouble, or none, and what gclog says of it.
type scenario struct {
	name    string // of the load program
	flavour string
	level   string
	want    []string // one of these findings, at least; none: no finding but those of a busy host
}

func scenarios() []scenario {
	return []scenario{
		{"healthy", "wks", "normal", nil},
		{"idle", "wks", "normal", nil},
		{"lock", "wks", "normal", nil},
		{"starvation", "wks", "normal", nil},
		{"pinning", "wks", "normal", []string{"pinning"}},
		{"finalizers", "wks", "normal", []string{"finalizer-backlog"}},
		{"dependent-handles", "wks", "normal", []string{"dependent-handles"}},
		{"handle-leak", "wks", "normal", []string{"handle-leak"}},
		{"native-leak", "wks", "normal", []string{"native-growth"}},
	}
}

// ofBusyHosts are findings about the processors of the machine on which a test runs.
var ofBusyHosts = []string{"long-suspension", "long-resume", "late-start"}

// TestLiveScenarios runs programs with one known trouble each, and programs with none, under gclog
// attach, and compares what gclog summary finds.
func TestLiveScenarios(t *testing.T) {
	if !everyCell() {
		t.Skip("takes minutes: make live runs it")
	}
	for _, r := range runtimes(t) {
		if r.Major < 8 || r.AOT {
			continue // the program's truth is that of CoreCLR
		}
		for _, s := range scenarios() {
			t.Run(r.Name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				liveScenario(t, r, s)
			})
		}
	}
}

func liveScenario(t *testing.T, r *gcload.Runtime, s scenario) {
	p, err := r.Start(program.SocketDir(t), s.flavour, nil, "scenario", s.name, "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	log := filepath.Join(t.TempDir(), "gc.json")
	cmd := exec.Command("gclog", "attach", strconv.Itoa(p.PID), "--level", s.level, "--duration", "75s", "-o", log)
	cmd.Stderr = testOutput{t}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	got := findingsOf(t, log)
	if len(s.want) == 0 {
		got = slices.DeleteFunc(got, func(id string) bool { return slices.Contains(ofBusyHosts, id) })
		if len(got) > 0 {
			t.Errorf("findings %v of a program without trouble", got)
		}
		return
	}
	if !slices.ContainsFunc(s.want, func(id string) bool { return slices.Contains(got, id) }) {
		t.Errorf("findings %v, want one of %v", got, s.want)
	}
}

// findingsOf returns the ids of the findings about a log that are worth a warning.
func findingsOf(t *testing.T, log string) (ids []string) {
	t.Helper()
	cmd := exec.Command("gclog", "summary", "-o", "json", log)
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
