package doctor

import (
	"os"
	"os/exec"
	"testing"

	"github.com/gclog/gclog/internal/fakefuse"
	"github.com/gclog/gclog/session"
)

func TestMain(m *testing.M) {
	fakefuse.Main()
	os.Exit(m.Run())
}

// TestStuck: a process whose file system does not answer.
func TestStuck(t *testing.T) {
	fuse := fakefuse.Start(t, t.TempDir(), 1)
	defer fuse.Stop()
	enter := fuse.Enter()
	cmd := exec.Command(enter[0], append(enter[1:], "sh", "-c", "echo; read end")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + fuse.Dir(0)}
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = hold.Close(), cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is there
		t.Fatal(err)
	}
	fuse.Hang(t)
	wants(t, Process(t.Context(), &session.Host{}, cmd.Process.Pid), "stuck", "cannot be looked at within")
}
