package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/gcload"
)

// TestReliability: every command in docs/reliability.md that is said to show something names a test
// that exists.
func TestReliability(t *testing.T) {
	page, err := os.ReadFile("docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	// `T TestX` and `G -run 'TestX\|TestY' ./folder`; in a table a vertical bar is escaped.
	command := regexp.MustCompile("`(T) (Test[^` ]+)`|-run '?([^' `]+)'? (\\./[^ `\n]+|\\.)[ `]")
	n := 0
	for _, m := range command.FindAllStringSubmatch(string(page), -1) {
		names, folder := m[2], "./internal/testing/fakenode/check"
		if m[1] == "" {
			names, folder = m[3], m[4]
		}
		for name := range strings.SplitSeq(strings.ReplaceAll(names, `\|`, "|"), "|") {
			n++
			name, part, _ := strings.Cut(name, "/")
			if name == "TestScripts" && part != "" {
				if _, err := os.Stat("testdata/script/" + part + ".txtar"); err != nil {
					t.Errorf("%s: %v", m[0], err)
				}
			}
			if !hasTest(t, folder, name) {
				t.Errorf("%s: there is no test %s in %s", m[0], name, folder)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d tests are named", n)
	}
}

// TestPlatforms: docs/platforms.md names tests that exist, and each runtime that there is for tests.
func TestPlatforms(t *testing.T) {
	page, err := os.ReadFile("docs/platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{"internal/e2e/live", "gclog", "gclog/analysis", "parse/clr", "session", "internal/host", "."}
	names := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllSubmatch(page, -1)
	for _, m := range names {
		if !slices.ContainsFunc(folders, func(folder string) bool { return hasTest(t, folder, string(m[1])) }) {
			t.Errorf("there is no test %s in %v", m[1], folders)
		}
	}
	if len(names) < 8 {
		t.Errorf("%d tests are named", len(names))
	}
	list, err := gcload.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if !strings.Contains(string(page), "\n| `"+r.Name+"` | ") {
			t.Errorf("runtime %s has no row", r.Name)
		}
	}
}

// hasTest reports whether a folder contains a test whose name contains part.
func hasTest(t *testing.T, folder, part string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	test := regexp.MustCompile(`(?m)^func (Test|Fuzz)\w*` + regexp.QuoteMeta(strings.TrimPrefix(strings.TrimPrefix(part, "Test"), "Fuzz")))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if test.Match(b) {
			return true
		}
	}
	return false
}
