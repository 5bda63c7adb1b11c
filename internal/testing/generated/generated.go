// Package generated compares files of the repository with what tests generate: golden files,
// samples, schemas, and tables in the documentation. If the environment variable GCLOG_UPDATE is
// set, the files are rewritten instead.
package generated

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// File compares a file with what it should contain, or rewrites it.
func File(t testing.TB, path, want string) {
	t.Helper()
	if os.Getenv("GCLOG_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: GCLOG_UPDATE=1 writes it", err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the code says: GCLOG_UPDATE=1 rewrites it: %s", path, Difference(want, string(got)))
	}
}

// Sections compares sections of a document, by name, with what they should contain, or rewrites
// them. Comments mark where a section starts, naming the package of the test, and where it ends.
func Sections(t testing.TB, path string, sections map[string]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := filepath.Rel(recordings.Root(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, section := range sections {
		start := fmt.Sprintf("<!-- %s: made by go test ./%s with GCLOG_UPDATE=1 -->\n", name, filepath.ToSlash(pkg))
		end := fmt.Sprintf("<!-- end of %s -->", name)
		before, rest, started := strings.Cut(text, start)
		_, after, ended := strings.Cut(rest, end)
		if !started || !ended {
			t.Fatalf("%s has no section %q", path, start)
		}
		text = before + start + section + end + after
	}
	File(t, path, text)
}

// Difference returns the first lines in which two texts differ; of long lines only the part that
// differs.
func Difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := 0
	if i < len(a) && i < len(b) {
		for from < len(a[i]) && from < len(b[i]) && a[i][from] == b[i][from] {
			from++
		}
	}
	from = max(0, from-80)
	var s strings.Builder
	fmt.Fprintf(&s, "%d lines, want %d; line %d from byte %d on:", len(a), len(b), i+1, from)
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"got ", a}, {"want", b}} {
		for j := i; j < min(i+3, len(side.lines)); j++ {
			line := side.lines[j][min(from, len(side.lines[j])):]
			fmt.Fprintf(&s, "\n%s %s", side.sign, line[:min(240, len(line))])
		}
	}
	return s.String()
}
