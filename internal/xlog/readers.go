package xlog

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/formats"
)

// ReaderWarnings returns which readers of Java's logs do not accept a file with these decorators, or
// report lines of it, in one sentence each. "make java" checks this against the readers.
func (o *Output) ReaderWarnings() (warnings []string) {
	s := &o.Selection
	if s.Levels[formats.TagGC] < formats.LevelInfo || !o.IsFile {
		return nil // none of them is meant to read it
	}
	for _, reader := range [...]struct {
		name string
		why  func(*formats.Selection) string
	}{{"GCViewer", gcViewer}, {"GCToolKit", gcToolKit}} {
		if why := reader.why(s); why != "" {
			warnings = append(warnings, fmt.Sprintf("%s will not read %s: %s", reader.name, o.Path, why))
		}
	}
	if gcViewer(s) != "" {
		return warnings
	}
	reported := func(lines, instead string) {
		warnings = append(warnings, fmt.Sprintf("GCViewer will report each line of %s in %s as one that it cannot "+
			"parse, and read all others: add %s to avoid that", lines, o.Path, instead))
	}
	if s.Levels[formats.TagPhases] >= formats.LevelInfo {
		reported("gc+phases", "gc+phases=off")
	}
	// GCViewer skips lines that are marked [debug].
	if s.Levels[formats.TagHeap] >= formats.LevelDebug && !s.Decorators.Has(formats.DecLevel) {
		reported("gc+heap=debug", "the decorator level")
	}
	return warnings
}

func gcViewer(s *formats.Selection) string {
	d := s.Decorators
	date := d & formats.Of(formats.DecTime, formats.DecUTCTime)
	if date.Has(formats.DecUTCTime) {
		d = d&^date | formats.Of(formats.DecTime) // it cannot distinguish them
	}
	switch d {
	case formats.Of(formats.DecTime, formats.DecUptime, formats.DecLevel, formats.DecTags),
		formats.Of(formats.DecTime, formats.DecUptime, formats.DecTags),
		formats.Of(formats.DecTime, formats.DecLevel, formats.DecTags),
		formats.Of(formats.DecUptime, formats.DecLevel, formats.DecTags),
		formats.Of(formats.DecTimeMillis, formats.DecLevel, formats.DecTags),
		formats.Of(formats.DecUptimeMillis, formats.DecLevel, formats.DecTags):
		if date != formats.Of(formats.DecTime, formats.DecUTCTime) {
			return ""
		}
	}
	return "it supports only the decorators level and tags with time, uptime or both (here: " + named(s.Decorators) +
		")"
}

func gcToolKit(s *formats.Selection) string {
	d := s.Decorators
	switch {
	case d.Has(formats.DecTime) && d.Has(formats.DecUTCTime):
		return "it supports only one date"
	case !d.Has(formats.DecUptime):
		return "it requires the decorator uptime"
	}
	return ""
}

// named lists decorators.
func named(set formats.Decorators) string {
	var names []string
	for i, d := range formats.DecoratorNames {
		if set.Has(formats.Decorator(i)) {
			names = append(names, d[0])
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}
