package gcsettings

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
)

// TestDocs: the table of docs/settings.md matches the settings.
func TestDocs(t *testing.T) {
	generated.Sections(t, filepath.Join("..", "..", "docs", "settings.md"), map[string]string{"settings": table()})
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
		if s.NumberSince != 0 {
			is += fmt.Sprintf(", number since %d", s.NumberSince)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", s.Variable, property, is, since, for_, s.Default, s.About)
	}
	return b.String()
}
