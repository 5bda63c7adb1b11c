package history

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/unpack"
)

// A log is the files of one process in one format.
type log struct {
	*logs.Reader
	names []string // of the files read so far
}

// readLogs reads the files of logs.
func (s *Source) readLogs(files []*File, observe func(*gclog.Process) gclog.Observer) (all error) {
	if f := files[0]; !f.Log.Dated {
		s.notifyf("%s has no dates: its times are counted from the start of 1970", f.Name)
	}
	bySeries := map[series]*log{}
	var list []*log
	for _, f := range files {
		key := f.series()
		l := bySeries[key]
		if l == nil {
			r, err := logs.NewReader(f.Log, observe)
			if err != nil {
				return err
			}
			l = &log{Reader: r}
			bySeries[key], list = l, append(list, l)
		}
		l.names = append(l.names, f.Name)
		s.readLog(l, f)
		overlap, overlaps := errors.AsType[*logs.OverlapError](f.Err)
		switch {
		case overlaps:
			all = errors.Join(all, overlapping(overlap, l.names))
		case f.Err != nil:
			all = errors.Join(all, fmt.Errorf("%s: %w", f.Name, f.Err))
		}
		if s.why != nil {
			return s.why
		}
		if overlaps || s.stopped {
			break
		}
	}
	for _, l := range list {
		l.Finish()
	}
	if s.why != nil { // what the logs held back was not wanted
		return s.why
	}
	s.notifyOlder()
	return all
}

// overlapping returns the error for the latest of the files, which repeats what another one
// contains.
func overlapping(e *logs.OverlapError, names []string) error {
	name, before := names[len(names)-1], names[e.Before]
	if name == before {
		return fmt.Errorf("%s: %w: the same log twice, or sessions that ran at the same time: pass the log of each "+
			"session separately", name, e)
	}
	return fmt.Errorf("%s: %w, after %s: pass them one at a time", name, e, before)
}

// readLog reads one file.
func (s *Source) readLog(l *log, f *File) {
	if f.text == nil {
		src, err := f.again()
		if err == nil {
			f.text, err = unpack.Reader(src, &s.bytes, s.unpacked())
		}
		if err != nil {
			f.Err = err
			return
		}
	}
	text := &text{r: f.text, source: s}
	f.Skipped, f.Err = l.Read(text)
	f.Torn = text.last != '\n' && text.last != 0
	if f.Skipped.Count == 0 {
		return
	}
	what := "lines are damaged or were not written by gclog, and were skipped: lines "
	if f.Skipped.Count == 1 {
		what = "line is damaged or was not written by gclog, and was skipped: line "
	}
	s.notifyf("%s: %d %s%s", f.Name, f.Skipped.Count, what, SkippedText(&f.Skipped))
}

// SkippedText lists the numbers of skipped lines: "3, 4, ...".
func SkippedText(s *logs.Skipped) string {
	var lines []string
	for _, n := range s.Lines {
		lines = append(lines, strconv.FormatInt(n, 10))
	}
	if int64(len(lines)) < s.Count {
		lines = append(lines, "...")
	}
	return strings.Join(lines, ", ")
}

// A text is the content of a log, up to where reading is stopped.
type text struct {
	r      io.Reader
	source *Source
	last   byte
}

// Read implements io.Reader.
func (t *text) Read(p []byte) (int, error) {
	if t.source.stopped {
		return 0, io.EOF
	}
	n, err := t.r.Read(p)
	if n > 0 {
		t.last = p[n-1]
	}
	return n, err
}
