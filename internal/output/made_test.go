package output

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
)

// write creates files with this text.
func write(t *testing.T, text string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMade: the files of an output are distinguished from all others in the same directories.
func TestMade(t *testing.T) {
	t.Chdir(t.TempDir())
	ours := []string{
		"logs/shop/orders-1.json", "logs/shop/orders-22.json", "logs/shop/orders-22-2026-11-20T12-56-56.272.json", "logs/other/a.b_c-3.json", "logs/shop/orders-4.json.0",
	}
	others := []string{
		"logs/shop/orders-.json", "logs/shop/orders-x1.json", "logs/shop/orders-1.json.bak", "logs/shop/orders-1.csv", "logs/shop/orders-1jjson",
		"logs/shop/.hidden-1.json", "logs/shop/-1.json", "logs/orders-1.json", "logs/shop/deep/orders-1.json", "logs/.git/orders-1.json", "logs/shop/ö-1.json",
	}
	write(t, "x", append(ours, others...)...)
	for _, link := range []string{"logs/shop/link-5.json", "logs/link"} {
		if err := os.Symlink(filepath.Join(t.TempDir(), "nothing"), link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("logs/shop/folder-6.json", 0o755); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ours)
	for _, path := range []string{"logs/%N/%s-%p.json", "./logs//%N/%s-%p.json"} {
		got := slices.Sorted(slices.Values(Made(path)))
		if !slices.Equal(got, ours) {
			t.Errorf("Made(%s):\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(ours, "\n"))
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := Made(filepath.Join(dir, "logs/%N/%s-%p.json")); len(got) != len(ours) || !filepath.IsAbs(got[0]) {
		t.Errorf("of an absolute path: %q", got)
	}
	if got := Made("nowhere/%p.json"); got != nil {
		t.Errorf("of a folder that is not there: %q", got)
	}
}

// TestMadeKnowsExpand: Made finds the files whose names Expand returns.
func TestMadeKnowsExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	hostile := gclog.Process{ID: 4711, Name: "../..\n/%p", Service: "-rf.*", ContainerID: "äöü", Pod: "", Namespace: strings.Repeat("x", 300), Started: time.Now()}
	plain := gclog.Process{ID: 1, Name: "orders", Service: "shop", ContainerID: "0123456789abcdef", Pod: "shop-0", Namespace: "prod", Started: time.Now()}
	for _, path := range []string{"a/%%-%p-%n-%s.log", "b%N/%P/%c-%t-%hn.json", "c.%n.d/e.csv", "[%p]+(x).json", "%hn%n%t.log"} {
		for _, p := range []gclog.Process{hostile, plain} {
			name := Expand(path, &p, "host.example")
			write(t, "x", name)
			if !slices.Contains(Made(path), name) {
				t.Errorf("Made(%s) has no %s: %q", path, name, Made(path))
			}
		}
	}
}
