//go:build linux

package live

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// TestLiveSettings starts each runtime with settings of all kinds, and compares what gclog settings
// reports with the settings that the program says its GC uses.
func TestLiveSettings(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			liveSettings(t, r)
		})
	}
}

func liveSettings(t *testing.T, r *gcload.Runtime) {
	aot := r.AOT
	config := map[string]any{"System.GC.Concurrent": false, "System.GC.RetainVM": true}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(r.Program("wks")))); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, filepath.Base(r.Program("wks")))
	if !aot {
		configure(t, exe+".runtimeconfig.json", config)
	}
	cmd := exec.Command(exe, "idle", "--quiet")
	cmd.Env = append(r.Environment(os.Environ(), ""), "TMPDIR="+program.SocketDir(t),
		"DOTNET_gcServer=true", "COMPlus_gcServer=0", "DOTNET_GCConserveMemory=5", "DOTNET_GCHeapCount=2", "DOTNET_GCHeapHardLimit=20000000", "COMPlus_GCHeapHardLimit=30000000", "DOTNET_GCName=", "DOTNET_GCFoo=1")
	p, err := gcload.StartCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	out, err := exec.Command("gclog", "settings", strconv.Itoa(p.PID), "-f", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	type setting struct{ Name, Value, From, Reason string }
	var document struct {
		DotNET struct {
			GC struct {
				Settings struct {
					Set, Ignored []setting
					InForce      []setting `json:"in_force"`
				}
			}
		}
	}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	list := func(list []setting) map[string]string {
		values := map[string]string{}
		for _, s := range list {
			values[s.Name] = s.Value
		}
		return values
	}
	settings := document.DotNET.GC.Settings
	set, inForce, ignored := list(settings.Set), list(settings.InForce), list(settings.Ignored)
	want := map[string]string{"GCHeapHardLimit": "536870912", "GCConserveMemory": "5", "gcConcurrent": "off", "GCRetainVM": "on"}
	mustIgnore := []string{"DOTNET_GCFoo", "DOTNET_gcServer", "DOTNET_GCHeapCount", "COMPlus_GCHeapHardLimit"}
	switch {
	case r.Major < 5:
		want = map[string]string{"GCHeapHardLimit": "805306368", "gcConcurrent": "off", "GCRetainVM": "on", "gcServer": "off"}
		mustIgnore = []string{"DOTNET_GCFoo", "DOTNET_gcServer", "DOTNET_GCHeapCount", "DOTNET_GCHeapHardLimit", "DOTNET_GCConserveMemory"}
	case aot:
		want = map[string]string{"GCHeapHardLimit": "536870912", "GCConserveMemory": "5", "GCHeapCount": "2"}
		mustIgnore = []string{"DOTNET_GCFoo", "DOTNET_gcServer", "COMPlus_gcServer", "COMPlus_GCHeapHardLimit"}
		if r.Major >= 10 { // its threads show that it has workstation GC
			delete(want, "GCHeapCount")
			mustIgnore = append(mustIgnore, "DOTNET_GCHeapCount")
		}
	default:
		want["gcServer"] = "off"
	}
	for name, value := range want {
		if set[name] != value {
			t.Errorf("%s is %q, want %q", name, set[name], value)
		}
	}
	for name := range set {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is set to %q", name, set[name])
		}
	}
	for _, name := range mustIgnore {
		if _, ok := ignored[name]; !ok {
			t.Errorf("%s is not ignored: %v", name, ignored)
		}
	}
	// The program's own account.
	if got := set["gcConcurrent"] != "off"; !aot && got != p.Ready.Concurrent || p.Ready.Server {
		t.Errorf("the program says server %v, concurrent %v", p.Ready.Server, p.Ready.Concurrent)
	}
	for name, variable := range map[string]string{"GCHeapHardLimit": "GCHeapHardLimit", "GCConserveMem": "GCConserveMemory"} {
		if said, ok := p.Ready.Config[name]; ok && string(said) != set[variable] {
			t.Errorf("the program says %s is %v, gclog %s", name, said, set[variable])
		}
	}
	if limit, ok := inForce["GCHeapHardLimit"]; ok && limit != set["GCHeapHardLimit"] {
		t.Errorf("the runtime tells a limit of %s", limit)
	}
	if _, reported := inForce["gcConcurrent"]; reported != (!r.AOT && r.Major >= 9) {
		t.Errorf("in force: %v", inForce)
	}
}

// TestLiveSettingsDepend: effective values that depend on more than their setting are compared with
// the program's own account.
func TestLiveSettingsDepend(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		if r.Major < 5 || r.AOT {
			continue // they do not report them, or their flavour is built in
		}
		for _, set := range [][]string{
			{"DOTNET_gcServer=1", "DOTNET_GCHeapCount=10"},
			{"DOTNET_gcServer=1", "DOTNET_GCDynamicAdaptationMode=0", "DOTNET_GCHeapHardLimitPercent=32"},
			{"DOTNET_gcServer=1", "DOTNET_GCDynamicAdaptationMode=0", "DOTNET_GCTotalPhysicalMemory=40000000"},
		} {
			t.Run(r.Name+" "+strings.Join(set[1:], " "), func(t *testing.T) {
				t.Parallel()
				liveDepend(t, r, set)
			})
		}
	}
}

func liveDepend(t *testing.T, r *gcload.Runtime, set []string) {
	cmd := exec.Command(r.Program("wks"), "idle", "--quiet")
	cmd.Env = append(append(r.Environment(os.Environ(), ""), "TMPDIR="+program.SocketDir(t)), set...)
	p, err := gcload.StartCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if !p.Ready.Server {
		t.Skip("server GC needs two processors")
	}
	out, err := exec.Command("gclog", "settings", strconv.Itoa(p.PID), "-f", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	type setting struct{ Name, Value string }
	var document struct {
		DotNET struct {
			GC struct {
				Settings struct {
					InForce []setting `json:"in_force"`
					Default []setting
				}
			}
		}
	}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range append(document.DotNET.GC.Settings.Default, document.DotNET.GC.Settings.InForce...) {
		got[s.Name] = s.Value
	}
	limit := string(p.Ready.Config["GCHeapHardLimit"])
	if limit == "0" {
		limit = "none"
	}
	if got["GCHeapHardLimit"] != limit || got["GCHeapCount"] != string(p.Ready.Config["HeapCount"]) {
		t.Errorf("limit %s and %s heaps, the program says %s and %s", got["GCHeapHardLimit"], got["GCHeapCount"], limit, p.Ready.Config["HeapCount"])
	}
	if mode, ok := got["GCDynamicAdaptationMode"]; ok && mode != "0" {
		t.Errorf("it adapts: %s", mode)
	}
}

// configure adds properties to a runtimeconfig.json.
func configure(t *testing.T, path string, properties map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]map[string]any
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	list, _ := file["runtimeOptions"]["configProperties"].(map[string]any)
	if list == nil {
		list = map[string]any{}
		file["runtimeOptions"]["configProperties"] = list
	}
	maps.Copy(list, properties)
	if b, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
