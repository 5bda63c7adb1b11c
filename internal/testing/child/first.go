package child

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// firstVariable contains the name of the test that runs as the first process.
const firstVariable = "GCLOG_TEST_FIRST"

// First runs a test again as the first process of a pid namespace with mounts of its own, and
// reports whether this is that run. It skips the test where such a namespace is not possible.
func First(t *testing.T) bool {
	t.Helper()
	if os.Getenv(firstVariable) == t.Name() {
		return true
	}
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), firstVariable+"="+t.Name())
	out, err := cmd.CombinedOutput()
	said := string(out)
	switch {
	case err != nil && !strings.Contains(said, "=== RUN"):
		t.Skipf("no pid namespace can be made: %v: %s", err, said)
	case err == nil && strings.Contains(said, "--- SKIP"):
		t.Skip(said)
	case err != nil || !strings.Contains(said, "--- PASS"):
		t.Errorf("%v\n%s", err, said)
	}
	t.Log(said)
	return false
}
