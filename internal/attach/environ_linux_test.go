package attach_test

import (
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/gcsettings"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
)

// TestSettingsSeen: only part of a process's environment is kept, but it includes every variable
// that is a setting of the GC, or is meant to be one.
func TestSettingsSeen(t *testing.T) {
	all := map[string]string{"System_GC_Server": "1", "SYSTEM.GC.Concurrent": "0", "DOTNET_GCheapcuont": "3"}
	for _, s := range gcsettings.Settings() {
		for _, name := range []string{s.Variable, "DOTNET_" + s.Variable, "COMPlus_" + s.Variable, "complus_" + strings.ToUpper(s.Variable)} {
			all[name] = "1"
		}
	}
	cmd := exec.Command("/bin/sh", "-c", "echo; read x")
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	child.Start(t, cmd)
	p, err := new(host.Host).Describe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	want, got := gcsettings.Variables(all), gcsettings.Variables(p.Environ)
	for name := range want {
		if _, seen := got[name]; !seen {
			t.Errorf("%s is not seen", name)
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%d variables are seen, want %d", len(got), len(want))
	}
}
