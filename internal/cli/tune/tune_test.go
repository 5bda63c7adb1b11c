package tune

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/exit"
)

// TestParseTry: numbers are hexadecimal in the environment and decimal in runtimeconfig.json.
func TestParseTry(t *testing.T) {
	for _, test := range []struct{ text, variables, properties string }{
		{"gcServer=1", "DOTNET_gcServer=1", `{"configProperties": {"System.GC.Server": true}}`},
		{"gcServer=off, GCHeapCount=10", "DOTNET_gcServer=0 DOTNET_GCHeapCount=a", `{"configProperties": {"System.GC.Server": false, "System.GC.HeapCount": 10}}`},
		{"GCHeapHardLimit=64M", "DOTNET_GCHeapHardLimit=4000000", `{"configProperties": {"System.GC.HeapHardLimit": 67108864}}`},
		{"DOTNET_GCHeapHardLimit=0x10000", "DOTNET_GCHeapHardLimit=10000", `{"configProperties": {"System.GC.HeapHardLimit": 65536}}`},
		{"System.GC.Name=libclrgc.so", "DOTNET_GCName=libclrgc.so", `{"configProperties": {"System.GC.Name": "libclrgc.so"}}`},
		{"GCHighMemPercent=80%", "DOTNET_GCHighMemPercent=50", `{"configProperties": {"System.GC.HighMemoryPercent": 80}}`},
		{"GCgen0size=1MB", "DOTNET_GCgen0size=f4240", ""},
	} {
		s, err := parseTry(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if properties, _ := s.properties(); s.variables() != test.variables || properties != test.properties {
			t.Errorf("%s is %s and %s, want %s and %s", test.text, s.variables(), properties, test.variables, test.properties)
		}
	}
	for _, text := range []string{"gcServer", "gcServr=1", "gcServer=2", "gcServer=", "GCHeapCount=many", "GCHeapCount=1M", "GCHeapHardLimit=-1", ""} {
		if _, err := parseTry(text); exit.Code(err) != exit.Usage {
			t.Errorf("--try %s: %v", text, err)
		}
	}
}

// TestTuneEnvironment: a setting replaces what sets the same, and nothing else.
func TestTuneEnvironment(t *testing.T) {
	s, err := parseTry("gcServer=1")
	if err != nil {
		t.Fatal(err)
	}
	env := s.environment([]string{"A=1", "DOTNET_gcServer=0", "COMPlus_gcServer=0", "DOTNET_gcConcurrent=0"})
	if want := []string{"A=1", "DOTNET_gcConcurrent=0", "DOTNET_gcServer=1", "COMPlus_gcServer=1"}; !slices.Equal(env, want) {
		t.Errorf("the environment is %q, want %q", env, want)
	}
}

// TestUsualSettings: what the program uses already is not tried, nor what its runtime lacks.
func TestUsualSettings(t *testing.T) {
	names := func(p *gclog.Process) string {
		var list []string
		for _, s := range usualSettings(p, 100<<20) {
			list = append(list, s.name)
		}
		return strings.Join(list, "; ")
	}
	for _, test := range []struct {
		p    gclog.Process
		want string
	}{
		{gclog.Process{RuntimeVersion: "10.0.1", Server: gclog.No, Concurrent: gclog.Yes, Processors: 8}, "not concurrent; server, DATAS; server, no DATAS; server, 4 heaps; gen0 64 MB; conserve memory; limit 125 MB"},
		{gclog.Process{RuntimeVersion: "3.1.3", Server: gclog.Yes, Concurrent: gclog.No, Processors: 2}, "workstation; concurrent; server; gen0 64 MB; limit 125 MB"},
		{gclog.Process{RuntimeVersion: "8.0.1", Server: gclog.No, Concurrent: gclog.Yes, Processors: 1}, "not concurrent; gen0 64 MB; conserve memory; limit 125 MB"},
	} {
		if got := names(&test.p); got != test.want {
			t.Errorf("%+v: %s, want %s", test.p, got, test.want)
		}
	}
}

// TestTuneIgnored: settings without effect are reported, from the configuration and from what the
// runtime says it does.
func TestTuneIgnored(t *testing.T) {
	for _, test := range []struct {
		text string
		p    gclog.Process
		want string
	}{
		{"gcServer=1", gclog.Process{RuntimeVersion: "10.0.1", Server: gclog.No}, "gcServer: the runtime reports that it is off"},
		{"gcServer=1", gclog.Process{RuntimeVersion: "10.0.1", Server: gclog.Yes}, ""},
		{"GCHeapCount=2", gclog.Process{RuntimeVersion: "10.0.1", Server: gclog.No}, "DOTNET_GCHeapCount: "},
		{"GCConserveMemory=5", gclog.Process{RuntimeVersion: "3.1.3"}, "COMPlus_GCConserveMemory: the setting exists since .NET 6"},
	} {
		s, err := parseTry(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.ignored(&test.p), "; "); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

// TestProgramOutput: the last number that matches counts, however the output is cut.
func TestProgramOutput(t *testing.T) {
	text := "start\nrate: 1,200 per s\nrate: none\nrate: 1,300.5 per s\n\nend"
	for size := 1; size < len(text); size++ {
		o := &programOutput{metric: regexp.MustCompile(`rate: ([0-9.,]+)`)}
		for part := range slices.Chunk([]byte(text), size) {
			if n, err := o.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if o.value() != 1300.5 || o.lastLine() != ": end" {
			t.Errorf("in pieces of %d: %v%s", size, o.value(), o.lastLine())
		}
	}
	o := &programOutput{}
	_, _ = o.Write([]byte(strings.Repeat("x", 1<<20)))
	if len(o.line) > longestLine {
		t.Errorf("%d bytes of a line are kept", len(o.line))
	}
}

// TestIgnoredIsNotOptimal: a setting that the runtime ignores is not recommended.
func TestIgnoredIsNotOptimal(t *testing.T) {
	s, err := parseTry("gcServer=1,GCHeapCount=4")
	if err != nil {
		t.Fatal(err)
	}
	for ignored, want := range map[string]bool{"": true, "GCHeapCount: why": true, "gcServer: why|GCHeapCount: why": false} {
		r := &outcome{candidate: s, trials: make([]*trial, leastRounds)}
		if ignored != "" {
			r.ignored = strings.Split(ignored, "|")
		}
		if r.works() != want {
			t.Errorf("ignored %q: %v", ignored, !want)
		}
	}
	if r := (&outcome{trials: make([]*trial, leastRounds)}); !r.works() {
		t.Error("the program as it is")
	}
}

// TestDominates: better in one objective, and not worse in any, nor much worse by what was seen.
func TestDominates(t *testing.T) {
	const same, better, worse, little = analysis.NoDifference, analysis.Better, analysis.Worse, analysis.TooLittleData
	for _, test := range []struct {
		verdicts []analysis.Outcome
		changes  [4]float64 // percent; of the third objective more is better
		want     bool
	}{
		{[]analysis.Outcome{better, same, little, same}, [4]float64{-20, 3, 0, 9}, true},
		{[]analysis.Outcome{same, same, same, same}, [4]float64{}, false},
		{[]analysis.Outcome{better, better, worse, better}, [4]float64{-20, -20, -20, -20}, false},
		{[]analysis.Outcome{same, better, same, same}, [4]float64{200, -20, 0, 0}, false}, // three times the pause
		{[]analysis.Outcome{same, better, same, same}, [4]float64{-50, -20, 50, -50}, true},
		{[]analysis.Outcome{same, better, same, same}, [4]float64{0, -20, -50, 0}, false},
	} {
		d := differences{more: []bool{false, false, true, false}}
		for i, v := range test.verdicts {
			d.objectives = append(d.objectives, analysis.Difference{Verdict: v, Change: analysis.Number{Value: test.changes[i], Unit: "%"}})
		}
		if d.dominates() != test.want {
			t.Errorf("%v %v: %v", test.verdicts, test.changes, !test.want)
		}
	}
}
