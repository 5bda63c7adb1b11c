//go:build linux

package harmless

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestDocs: docs/reliability.md lists the factors, the impossible cells, and the runtime defects
// that are tolerated.
func TestDocs(t *testing.T) {
	generated.Sections(t, filepath.Join(recordings.Root(), "docs", "reliability.md"), map[string]string{
		"factors": factorTable(), "impossible": impossibleList(), "defects": defectList(),
	})
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
