package doctor

import (
	"os"
	"os/exec"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/fakefuse"
)

func TestMain(m *testing.M) {
	fakefuse.Main()
	os.Exit(m.Run())
}

// TestStuck: a process whose file system does not answer.
func TestStuck(t *testing.T) {
	t.Parallel()
	fuse := fakefuse.Start(t, t.TempDir(), 1)
	defer fuse.Stop()
	enter := fuse.Enter()
	cmd := exec.Command(enter[0], append(enter[1:], "sh", "-c", "echo; read end")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + fuse.Dir(0)}
	child.Start(t, cmd)
	fuse.Hang(t)
	wants(t, Process(t.Context(), &host.Host{}, cmd.Process.Pid), "stuck", "could not be inspected within")
}
