//go:build linux

package harmless

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestDocs: docs/reliability.md lists the factors, the impossible cells, and the runtime defects
// that are tolerated. GCLOG_UPDATE=1 writes them there.
func TestDocs(t *testing.T) {
	path := filepath.Join(recordings.Root(), "docs", "reliability.md")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, part := range []struct{ name, want string }{
		{"factors", factorTable()},
		{"impossible", impossibleList()},
		{"defects", defectList()},
	} {
		before, rest, found := strings.Cut(text, fmt.Sprintf("<!-- %s: made by go test ./internal/testing/harmless with GCLOG_UPDATE=1 -->\n", part.name))
		_, after, ended := strings.Cut(rest, fmt.Sprintf("<!-- end of %s -->", part.name))
		if !found || !ended {
			t.Fatalf("%s has no place for %s", path, part.name)
		}
		text = before + text[len(before):len(text)-len(rest)] + part.want + fmt.Sprintf("<!-- end of %s -->", part.name) + after
	}
	if text == string(b) {
		return
	}
	if os.Getenv("GCLOG_UPDATE") == "" {
		t.Errorf("%s is not what the matrix says: write it anew with GCLOG_UPDATE=1", path)
	} else if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func factorTable() string {
	var b strings.Builder
	b.WriteString("| factor | value | meaning |\n|---|---|---|\n")
	for _, f := range factors() {
		name := f.name
		for _, v := range f.values {
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", name, v.name, v.meaning)
			name = ""
		}
	}
	return b.String()
}

func impossibleList() string {
	var b strings.Builder
	for _, r := range rules() {
		fmt.Fprintf(&b, "* %s\n", r.reason)
	}
	return b.String()
}

func defectList() string {
	var b strings.Builder
	for _, d := range defects() {
		fmt.Fprintf(&b, "* %s\n", d.reason)
	}
	return b.String()
}
