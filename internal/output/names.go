package output

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
)

// Places describes, for people, what the path of an output may contain; RecordingPlaces does so for
// the path of a recording, which starts before anything else is known, TablePlaces for that of a
// table, whose files may be of a time, and HostPlaces for a directory of all processes.
const (
	HostPlaces      = "%hn is the host, %% a percent sign"
	RecordingPlaces = "%p is the pid, %% a percent sign"
	TablePlaces     = "%d is the date and %H the hour of the records (UTC), " + Places
	Places          = "%p is the pid, %t the start of the process, %hn the host, %n the name of the process, %s its " +
		"service, %c its container, %P its pod, %N the namespace of the pod, %% a percent sign"
)

var (
	places          = []string{"%", "p", "t", "hn", "n", "s", "c", "P", "N"}
	recordingPlaces = places[:2]
	hostPlaces      = []string{"%", "hn"}
	tablePlaces     = append([]string{"d", "H"}, places...)
)

// Expand replaces the places in a path with their values. What a process reports about itself
// cannot lead out of the directory that the path is in, nor give one log the name of an archived
// file of another.
func Expand(path string, p *gclog.Process, host string) string {
	expanded := expand(path, p, host)
	if !looksArchived(expanded) {
		return expanded
	}
	plain := *p
	plain.Name, plain.Service, plain.ContainerID, plain.Pod, plain.Namespace = "x", "x", "x", "x", "x"
	if looksArchived(expand(path, &plain, host)) {
		return expanded // the author of the path intended this
	}
	ext := filepath.Ext(expanded)
	if other := strings.TrimSuffix(expanded, ext) + "_" + ext; !looksArchived(other) {
		return other
	}
	return expanded + "_"
}

func looksArchived(path string) bool { return rotate.ArchivedFrom(path) != path }

func expand(path string, p *gclog.Process, host string) string {
	expanded, _ := replace(path, func(place string) (string, bool) {
		switch place {
		case "%":
			return "%", true
		case "p":
			return strconv.FormatInt(p.ID, 10), true
		case "t":
			start := p.Started
			if start.IsZero() {
				start = p.Sync
			}
			return start.Local().Format("2006-01-02_15-04-05"), true
		case "hn":
			return partOfName(host), true
		case "n":
			return partOfName(p.Name), true
		case "s":
			service := p.Service
			if service == "" {
				service = p.Name
			}
			return partOfName(service), true
		case "c":
			return partOfName(p.ContainerID[:min(len(p.ContainerID), 12)]), true
		case "P":
			return partOfName(p.Pod), true
		case "N":
			return partOfName(p.Namespace), true
		}
		return "", false
	})
	return expanded
}

// BadPlace returns the first place in a path that Expand does not know, or "".
func BadPlace(path string) string { return unknownPlace(path, places) }

// BadRecordingPlace is BadPlace for the path of a recording.
func BadRecordingPlace(path string) string { return unknownPlace(path, recordingPlaces) }

// BadTablePlace is BadPlace for the path of a table.
func BadTablePlace(path string) string { return unknownPlace(path, tablePlaces) }

// ExpandTime replaces the places of a time in the path of a table, and leaves the others to Expand.
func ExpandTime(path string, at time.Time) string {
	expanded, _ := replace(path, func(place string) (string, bool) {
		switch place {
		case "d":
			return at.UTC().Format("2006-01-02"), true
		case "H":
			return at.UTC().Format("15"), true
		}
		return "%" + place, true
	})
	return expanded
}

// Span returns the length of the time that a file of a table is about, judging by its path; 0: it is
// about any time.
func Span(path string) time.Duration {
	switch {
	case hasPlace(path, "H"):
		return time.Hour
	case hasPlace(path, "d"):
		return 24 * time.Hour
	}
	return 0
}

// BadHostPlace is BadPlace for a directory of all processes.
func BadHostPlace(path string) string { return unknownPlace(path, hostPlaces) }

func unknownPlace(path string, known []string) string {
	_, bad := replace(path, func(place string) (string, bool) { return "", slices.Contains(known, place) })
	return bad
}

// KnownFolder returns the longest leading directory of a path that contains no places.
func KnownFolder(path string) string {
	dir := filepath.Dir(path)
	for strings.Contains(dir, "%") {
		dir = filepath.Dir(dir)
	}
	return dir
}

// PerProcess reports whether a path has a place for the pid.
func PerProcess(path string) bool { return hasPlace(path, "p") }

// PerHost reports whether a path has a place for the name of the host.
func PerHost(path string) bool { return hasPlace(path, "hn") }

func hasPlace(path, wanted string) (found bool) {
	replace(path, func(place string) (string, bool) {
		found = found || place == wanted
		return "", true
	})
	return found
}

// replace replaces the places in a path, up to the first that value does not know.
func replace(path string, value func(place string) (string, bool)) (replaced, bad string) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "%")
		b.WriteString(before)
		if !found {
			return b.String(), ""
		}
		place := rest[:min(len(rest), 1)]
		if strings.HasPrefix(rest, "hn") {
			place = "hn"
		}
		v, ok := value(place)
		if !ok {
			return b.String(), "%" + place
		}
		b.WriteString(v)
		path = rest[len(place):]
	}
}

// partOfName turns a string that may come from a target into part of a file name.
func partOfName(s string) string {
	const most = 100
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, s[:min(len(s), most)])
	s = strings.TrimLeft(s, ".-") // no hidden file, no parent directory, no flag
	if s == "" {
		return "unknown"
	}
	return s
}

// SamePath reports whether two names refer to the same file.
func SamePath(a, b string) bool {
	if IsStream(a) || IsStream(b) {
		return a == b
	}
	x, xerr := os.Stat(a)
	y, yerr := os.Stat(b)
	if xerr == nil && yerr == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return Resolved(a) == Resolved(b)
}

// Resolved returns the path without symbolic links, as far as it exists.
func Resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
