package session_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

func init() { helpers["deep"] = helpDeep }

// helpDeep reads the file of the variable, as itself, with few files.
func helpDeep() error {
	few := unix.Rlimit{Cur: 40, Max: 40}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		return err
	}
	self, err := new(session.Host).Describe(os.Getpid())
	if err != nil {
		return err
	}
	b, err := self.ReadFile(os.Getenv(deepVariable), 10)
	switch {
	case errors.Is(err, unix.ENAMETOOLONG):
		fmt.Print("too long")
	case err != nil:
		return err
	default:
		fmt.Printf("%s", b)
	}
	return nil
}

const deepVariable = "GCLOG_SESSION_DEEP"

// TestDeepPath: the way to a file takes few descriptors, however many folders are on it, also behind
// links and back; and it is not followed without an end.
func TestDeepPath(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, strings.Repeat("d/", 300))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"link": deep,
		"back": deep + strings.Repeat("/..", 5) + strings.Repeat("/d", 5),
		"long": strings.Repeat("d/../", 600) + "link",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(deep, "file"), []byte("found"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(deep, "file"): "found",
		root + "/link/file":         "found",
		root + "/back/file":         "found",
		root + "/long/file":         "too long",
		strings.Repeat("/d", 4000):  "too long",
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = helperEnviron("deep", deepVariable+"="+path)
		if out := output(t, cmd); out != want {
			t.Errorf("%.60s...: %q, want %q", path, out, want)
		}
	}
}
