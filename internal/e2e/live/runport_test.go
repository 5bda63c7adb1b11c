//go:build linux

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/program"
)

// TestLiveRunHiddenPort: a program that gclog run starts in a mount namespace without its port runs all
// the same. With --suspend it would wait forever, and so would one that starts after gclog was killed:
// that is why it is not the default.
func TestLiveRunHiddenPort(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	if !program.MountWorks() {
		t.Skip("no mounts in a namespace of one's own")
	}
	for _, r := range runtimes(t) {
		if r.Major < 5 {
			continue // without ports
		}
		if err := r.Unpack(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cmd := exec.Command("gclog", "run", "-o", filepath.Join(dir, "gc-%p.log"), "--", "sh", "-c",
			program.Namespaces("--mount")+` sh -c 'mount -t tmpfs none "$TMPDIR" && exec "$0" "$@"' "$0" "$@"`, r.Program("wks"), "churn", "--seconds", "1", "--quiet")
		cmd.Env = append(r.Environment(os.Environ(), "wks"), "TMPDIR="+program.SocketDir(t))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: the program has not ended within a minute", r.Name)
			_ = cmd.Process.Kill()
			<-ended
		}
	}
}
