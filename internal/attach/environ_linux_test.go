package attach_test

import (
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/gcsettings"
	"github.com/gclog/gclog/session"
)

// TestSettingsSeen: of the environment of a process not all is kept, but every variable that is a
// setting of the GC, or is meant to be one.
func TestSettingsSeen(t *testing.T) {
	all := map[string]string{"System_GC_Server": "1", "SYSTEM.GC.Concurrent": "0", "DOTNET_GCheapcuont": "3"}
	for _, s := range gcsettings.Settings() {
		for _, name := range []string{s.Variable, "DOTNET_" + s.Variable, "COMPlus_" + s.Variable, "complus_" + strings.ToUpper(s.Variable)} {
			all[name] = "1"
		}
	}
	cmd := exec.Command("/bin/cat")
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // now it runs
		t.Fatal(err)
	}
	p, err := new(session.Host).Describe(cmd.Process.Pid)
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
