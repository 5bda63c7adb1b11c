//go:build linux

package live

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/gcload"
)

// TestLiveTune: gclog tune finds what is known of the load program: server GC collects less often,
// pauses longer and takes more memory than workstation GC, and a small gen0 budget does the
// opposite. The latest runtime is enough, for a minute and a half. Pauses also depend on what else
// the machine does: it may hide a difference, but not reverse it.
func TestLiveTune(t *testing.T) {
	if !everyCell() {
		t.Skip("takes minutes: make live runs it")
	}
	list := runtimes(t)
	slices.Reverse(list)
	i := slices.IndexFunc(list, func(r *gcload.Runtime) bool { return r.Has("clrgc") }) // .NET Core 3.1 has no DATAS, NativeAOT no choice of the GC
	if i < 0 {
		t.Skip("no runtime with all settings")
	}
	r := list[i]
	cmd := exec.Command("gclog", "tune", "-f", "json", "--for", "5s", "--rounds", "5",
		"--try", "gcServer=1,GCDynamicAdaptationMode=0", "--try", "GCgen0size=1M,GCGen0MaxBudget=1M", "--",
		r.Program("wks"), "churn", "--rate", "500", "--live", "20", "--threads", "2", "--quiet")
	cmd.Env = r.Environment(cmd.Environ(), "wks")
	cmd.Stderr = testOutput{t}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Settings []struct {
			Name            string
			Ignored, Failed []string
			Metrics         map[string]struct{ Verdict string }
		}
	}
	if err := json.Unmarshal(out, &result); err != nil || len(result.Settings) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	server, small := result.Settings[1], result.Settings[2]
	if len(server.Ignored)+len(server.Failed)+len(small.Failed) > 0 {
		t.Errorf("%s: server GC: ignored %q, failed %q; a small budget: failed %q", r.Name, server.Ignored, server.Failed, small.Failed)
	}
	for metric, want := range map[string]string{"gc.rate": "better", "memory": "worse"} {
		if got := server.Metrics[metric].Verdict; got != want {
			t.Errorf("%s: server GC: %s is %s, want %s", r.Name, metric, got, want)
		}
	}
	if got := small.Metrics["gc.rate"].Verdict; got != "worse" {
		t.Errorf("%s: a small gen0 budget: gc.rate is %s, want worse", r.Name, got)
	}
	if server, small := server.Metrics["pause.p50"].Verdict, small.Metrics["pause.p50"].Verdict; server == "better" || small == "worse" {
		t.Errorf("%s: pause.p50 is %s with server GC and %s with a small gen0 budget", r.Name, server, small)
	}
}

// testOutput passes what a program says to a test's log.
type testOutput struct{ t *testing.T }

func (o testOutput) Write(b []byte) (int, error) {
	o.t.Logf("%s", b)
	return len(b), nil
}
