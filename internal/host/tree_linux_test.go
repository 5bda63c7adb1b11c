package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"golang.org/x/sys/unix"
)

func init() { roles["deep"] = helpDeep }

// helpDeep reads the file in the variable, in its own root, with few file descriptors.
func helpDeep() error {
	few := unix.Rlimit{Cur: 40, Max: 40}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		return err
	}
	self, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		return err
	}
	b, err := self.ReadFile(context.Background(), os.Getenv(deepVariable), 10)
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

// TestDeepPath: following a path needs few descriptors, however many directories are on it, even
// with links and steps back. The number of steps is limited.
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
		cmd.Env = child.Environ("deep", deepVariable+"="+path)
		if out := child.Output(t, cmd); out != want {
			t.Errorf("%.60s...: %q, want %q", path, out, want)
		}
	}
}

// TestWays: a path leads where it would lead the process: links, dots, and steps above the root.
func TestWays(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	if err := os.MkdirAll(at("a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"here", "a/in-a", "a/b/in-b"} {
		if err := os.WriteFile(at(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{
		"a/link": "b", "a/up": "../a/b", "abs": at("a"), "loop": "loop", "a/b/top": "../../../../../../../../../../.." + root,
		"dots": "./a/./b/..", "gone": "missing", "to-file": "here", "slash": "a/b/", "chain-0": "a",
	}
	for i := range 41 {
		links[fmt.Sprintf("chain-%d", i+1)] = fmt.Sprintf("chain-%d", i)
	}
	// Few links, and none that leads far, but together they do.
	for i := range 20 {
		links[fmt.Sprintf("round-%d", i)] = strings.Repeat("a/../", 100) + fmt.Sprintf("round-%d", i+1)
	}
	links["round-20"] = "a"
	for name, target := range links {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	depth := len(strings.Split(root, "/")) - 1
	byAll(t, func(t *testing.T, ask asker) {
		for _, tc := range []struct {
			path, name string
			found      bool
			err        error
		}{
			{"", "here", true, nil},
			{"/", "here", true, nil},
			{"/a", "in-a", true, nil},
			{"/a/b", "in-b", true, nil},
			{"/a/b", "in-a", false, nil},
			{"//a///b//", "in-b", true, nil},
			{"/a/link", "in-b", true, nil},
			{"/a/up", "in-b", true, nil},
			{"/abs/b", "in-b", true, nil},
			{"/a/b/top", "here", true, nil},
			{"/a/b/top/a/b/top/a", "in-a", true, nil},
			{"/dots", "in-a", true, nil},
			{"/slash", "in-b", true, nil},
			{"/a/..", "here", true, nil},
			{"/a/b/..", "in-a", true, nil},
			{"/a/b/../..", "here", true, nil},
			{"/a/b/.././b", "in-b", true, nil},
			{"/a/link/..", "in-a", true, nil},
			{"/abs/..", "here", true, nil},
			{"/a/b/../../a/../a/b", "in-b", true, nil},
			{strings.Repeat("/..", 100) + root + "/a", "in-a", true, nil},
			{"/chain-39", "in-a", true, nil},
			{"/chain-40", "in-a", false, unix.ELOOP},
			{"/round-20", "in-a", true, nil},
			{"/round-0", "in-a", false, unix.ENAMETOOLONG},
			{"/loop", "x", false, unix.ELOOP},
			{"/gone", "x", false, unix.ENOENT},
			{"/missing/..", "here", false, unix.ENOENT},
			{"/to-file", "x", false, nil},
			{strings.Repeat("/.", 1024-depth), "here", true, nil},
			{strings.Repeat("/.", 1025-depth), "here", false, unix.ENAMETOOLONG},
		} {
			r, err := ask(&host.Request{Kind: host.HasFile, Path: root + tc.path, Name: tc.name})
			if r.Yes != tc.found || !errors.Is(err, tc.err) {
				t.Errorf("%.50s: %s is there: %v, error %v; want %v, %v", tc.path, tc.name, r.Yes, err, tc.found, tc.err)
			}
		}
	})
}
