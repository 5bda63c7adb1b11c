package host_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/gclog/gclog/internal/host"
)

// TestPrincipal: a user who makes a user namespace has thousands of uids there. All of them are that
// user's, also in another one within it.
func TestPrincipal(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	const mapped = 200_000
	within := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "--user", "--keep-caps",
		"sh", "-c", "echo; read x; exec setpriv --reuid 5 --regid 5 --clear-groups unshare --user sh -c 'echo; exec cat'")
	in, err := within.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := within.StdoutPipe()
	if err == nil {
		err = within.Start()
	}
	if err != nil {
		t.Skipf("no user namespace: %v", err)
	}
	defer func() {
		_ = in.Close()
		_ = within.Wait()
	}()
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Skip("a user cannot make a user namespace")
	}
	for _, name := range []string{"uid_map", "gid_map"} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", within.Process.Pid, name), fmt.Appendf(nil, "0 %d 65536", mapped), 0); err != nil {
			t.Skip(err)
		}
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int][2]int{within.Process.Pid: {mapped + 5, 65534}, os.Getpid(): {0, 0}} {
		p, err := (&host.Host{}).Describe(pid)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{p.UID, p.Principal()}; got != want {
			t.Errorf("process %d: uid and principal are %v, want %v", pid, got, want)
		}
	}
}
