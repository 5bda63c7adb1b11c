package output

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
)

func TestExpand(t *testing.T) {
	p := &gclog.Process{
		ID: 4711, Name: "My App/..", Service: "", ContainerID: strings.Repeat("0123456789abcdef", 4),
		Pod: "orders-7d4b9c6f5-x2x9z", Namespace: "shop",
		Started: time.Date(2026, 3, 28, 23, 59, 58, 0, time.Local),
	}
	for path, want := range map[string]string{
		"gc.log":            "gc.log",
		"gc-%p.log":         "gc-4711.log",
		"%p/%p%%p":          "4711/4711%p",
		"%t.log":            "2026-03-28_23-59-58.log",
		"%hn-%n.log":        "shop-1-My_App_...log",
		"logs/%s/%c/gc.log": "logs/My_App_../0123456789ab/gc.log",
		"%N/%P.json":        "shop/orders-7d4b9c6f5-x2x9z.json",
	} {
		if got := Expand(path, p, "shop-1"); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
		if bad := BadPlace(path); bad != "" {
			t.Errorf("%s has the bad place %s", path, bad)
		}
	}
	for path, want := range map[string]string{"%q": "%q", "a%": "%", "%h": "%h", "% ": "% ", "%p%%%x": "%x"} {
		if bad := BadPlace(path); bad != want {
			t.Errorf("the bad place of %q is %q, want %q", path, bad, want)
		}
	}
	if BadRecordingPlace("%p%%") != "" || BadRecordingPlace("%n") != "%n" {
		t.Error("a recording knows the pid only")
	}
	if BadHostPlace("/a/%hn/%%") != "" || BadHostPlace("/a/%s") != "%s" {
		t.Error("a directory of all processes knows the host only")
	}
	if !PerHost("/a/%hn/b") || PerHost("/a/%%hn/%n") {
		t.Error("only the host's name tells hosts apart")
	}
	if !PerProcess("a%p") || PerProcess("a%%p") || PerProcess("%n") {
		t.Error("only the pid tells processes apart")
	}
}

// TestArchivedNames: the name that a process gives itself cannot make its log look like an archived
// file of another log, which would delete it or stop rotating.
func TestArchivedNames(t *testing.T) {
	const stamp = "good-9999-12-31T23-59-59.999"
	for _, c := range []struct{ path, service, want string }{
		{"%s.json", "good", "good.json"},
		{"%s.json", stamp, stamp + "_.json"},
		{"%s", stamp, stamp + "_"},
		{"%s", "good.log.3", "good.log.3_"},
		{"%p.%s", "4", "7.4_"},
		{"good-%s.log", stamp[5:], stamp + "_.log"},
		{"%s-%p.json", stamp, stamp + "-7.json"},
		{"gc.log.%p", "good", "gc.log.7"},
		{"%s.1", "good", "good.1"},
	} {
		p := gclog.Process{ID: 7, Service: c.service}
		got := Expand(c.path, &p, "")
		if got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.path, c.service, got, c.want)
		}
		if !pattern(c.path).MatchString(got) {
			t.Errorf("%s is not known as a file of %s", got, c.path)
		}
	}
}

// TestHostileNames: whatever name a process gives itself, its log stays in the directory.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../../etc/passwd", "/etc/passwd", "-rf", ".hidden", "a\x00b", "a\nb", `..\..\x`, "C:x", "é" + strings.Repeat("x", 1000), "%p%n"} {
		got := Expand("/logs/%n.log", &gclog.Process{Name: name, ID: 1}, "")
		if filepath.Dir(filepath.Clean(got)) != "/logs" || len(got) > 120 || strings.ContainsAny(filepath.Base(got), "\x00\n\\:%") || strings.HasPrefix(filepath.Base(got), "-") {
			t.Errorf("%q: %q", name, got)
		}
	}
}
