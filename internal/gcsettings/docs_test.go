package gcsettings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocs: the table of docs/settings.md matches the settings. GCLOG_UPDATE=1 rewrites it.
func TestDocs(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "settings.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const (
		begin = "<!-- settings: made by go test ./internal/gcsettings with GCLOG_UPDATE=1 -->\n"
		end   = "<!-- end of settings -->"
	)
	before, rest, found := strings.Cut(string(b), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", name)
	}
	text := before + begin + table() + end + after
	switch {
	case text == string(b):
	case os.Getenv("GCLOG_UPDATE") == "":
		t.Errorf("%s is not what the code says: write it anew with GCLOG_UPDATE=1", name)
	default:
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| variable | property | is | since | for | default | |\n|---|---|---|---|---|---|---|\n")
	for _, s := range Settings() {
		property, since, for_ := "", fmt.Sprintf("%d", s.Since), "all"
		if s.Property != "" {
			property = "`" + s.Property + "`"
		}
		if s.PropertySince != 0 {
			since += fmt.Sprintf(", property %d", s.PropertySince)
		}
		switch {
		case s.Server:
			for_ = "server"
		case s.Segments:
			for_ = "segments"
		case s.Regions:
			for_ = "regions"
		}
		is := s.Kind.String()
		if s.Unit != Plain {
			is = map[Unit]string{Bytes: "bytes", Percent: "percent", Mask: "mask"}[s.Unit]
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", s.Variable, property, is, since, for_, s.Default, s.About)
	}
	return b.String()
}
