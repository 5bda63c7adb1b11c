package output

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gclog/gclog/internal/rotate"
)

// Made returns the existing files, including archived ones, that may have been written to a path
// with places, judging by their names.
func Made(path string) (list []string) {
	parts := strings.Split(filepath.Clean(path), string(filepath.Separator))
	dirs := []string{""}
	if filepath.IsAbs(path) {
		dirs = []string{string(filepath.Separator)}
		parts = parts[1:]
	}
	for _, part := range parts[:len(parts)-1] {
		dirs = below(dirs, part)
	}
	name := pattern(parts[len(parts)-1])
	for _, dir := range dirs {
		for _, e := range entries(dir) {
			full := filepath.Join(dir, e.Name())
			if e.Type().IsRegular() && name.MatchString(filepath.Base(rotate.ArchivedFrom(full))) {
				list = append(list, full)
			}
		}
	}
	return list
}

// below returns the folders in dirs whose names a part of a path may expand to.
func below(dirs []string, part string) (list []string) {
	if !strings.Contains(part, "%") {
		for _, dir := range dirs {
			list = append(list, filepath.Join(dir, part))
		}
		return list
	}
	name := pattern(part)
	for _, dir := range dirs {
		for _, e := range entries(dir) {
			if e.IsDir() && name.MatchString(e.Name()) {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list
}

func entries(dir string) []os.DirEntry {
	if dir == "" {
		dir = "."
	}
	list, _ := os.ReadDir(dir) // what cannot be read contains nothing of ours
	return list
}

// pattern returns a regular expression for what a part of a path may expand to.
func pattern(part string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	text, _ := replace(part, func(place string) (string, bool) { return "\x00" + place + "\x00", true })
	for i, piece := range strings.Split(text, "\x00") {
		switch {
		case i%2 == 0:
			b.WriteString(regexp.QuoteMeta(piece))
		case piece == "%":
			b.WriteString("%")
		case piece == "p":
			b.WriteString("[0-9]+")
		case piece == "d":
			b.WriteString("[0-9]{4}-[0-9]{2}-[0-9]{2}")
		case piece == "H":
			b.WriteString("[0-9]{2}")
		case piece == "t":
			b.WriteString("[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2}")
		default:
			b.WriteString("[A-Za-z0-9_][A-Za-z0-9._-]*")
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}
