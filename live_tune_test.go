//go:build linux

package main

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// TestLiveTune: gclog tune finds what is known of the load program: server GC collects less often,
// pauses longer and takes more memory than workstation GC, and a small gen0 budget does the
// opposite.
func TestLiveTune(t *testing.T) {
	if !allRuntimes() {
		t.Skip("takes minutes: make live runs it")
	}
	for _, r := range runtimes(t) {
		if !r.Has("clrgc") { // .NET Core 3.1 has no DATAS, NativeAOT no choice of the GC
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			cmd := exec.Command("gclog", "tune", "-o", "json", "--for", "15s", "--rounds", "5",
				"--try", "gcServer=1,GCDynamicAdaptationMode=0", "--try", "GCgen0size=1M,GCGen0MaxBudget=1M", "--",
				r.Program("wks"), "churn", "--rate", "150", "--live", "20", "--threads", "2", "--quiet")
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
				t.Errorf("server GC: ignored %q, failed %q; a small budget: failed %q", server.Ignored, server.Failed, small.Failed)
			}
			for metric, want := range map[string]string{"gc.rate": "better", "pause.p50": "worse", "memory": "worse"} {
				if got := server.Metrics[metric].Verdict; got != want {
					t.Errorf("server GC: %s is %s, want %s", metric, got, want)
				}
			}
			for metric, want := range map[string]string{"gc.rate": "worse", "pause.p50": "better"} {
				if got := small.Metrics[metric].Verdict; got != want {
					t.Errorf("a small gen0 budget: %s is %s, want %s", metric, got, want)
				}
			}
		})
	}
}

// testOutput passes what a program says to a test's log.
type testOutput struct{ t *testing.T }

func (o testOutput) Write(b []byte) (int, error) {
	o.t.Logf("%s", b)
	return len(b), nil
}
