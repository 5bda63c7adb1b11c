package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/rotate"
)

// log reads a log of gclog. If name is the current file of a rotated log, it reads all files.
func (r *Report) log(name string, h logs.Head, unpacked int64) {
	r.fact("format", "%s", h.Format)
	names := []string{name}
	archived := rotate.Archived(name)
	if from := rotate.ArchivedFrom(name); from != name {
		r.add(Note, "rotated", "it is one file of the rotated log %s", from)
	} else if len(archived) > 0 {
		r.add(Note, "rotated",
			"also read older files in the same directory: %d, such as %s", len(archived), filepath.Base(archived[0]))
		names = append(names,
			slices.DeleteFunc(archived, func(name string) bool { return !r.continues(name, h.Format) })...)
	}
	in, err := history.Open(names, history.Options{Unpacked: unpacked})
	if err != nil {
		r.fail("unreadable", "%v", err)
		return
	}
	defer in.Close()
	list, sum := tallies(in)
	for _, f := range in.Files {
		r.logFile(f)
	}
	if first := in.Files[0]; first.Log.File > 1 {
		r.add(Note, "rotated-incomplete",
			"%s is file %d of its session: the files before it are not here", filepath.Base(first.Name), first.Log.File)
	}
	r.logTotals(h, list, sum)
	r.verdict(list)
	r.endings(list)
}

// continues reports whether a file that was rotated away belongs to the same log.
func (r *Report) continues(name, format string) bool {
	in, err := history.Open([]string{name}, history.Options{})
	if call, ok := errors.AsType[*history.CallError](err); ok {
		r.add(Failure, "unreadable", "%s cannot be read: %v", filepath.Base(name), call.Unwrap())
		return false
	}
	if err == nil {
		in.Close()
		if in.Files[0].Log.Format == format {
			return true
		}
	}
	if !r.javaOnly(filepath.Base(name)+": ", err) && !errors.Is(err, history.ErrEmpty) {
		r.add(Warning, "foreign-lines", "%s does not belong to the same log", filepath.Base(name))
	}
	return false
}

// logFile adds what is wrong with one file.
func (r *Report) logFile(f *history.File) {
	name := filepath.Base(f.Name)
	if overlap, ok := errors.AsType[*logs.OverlapError](f.Err); ok {
		r.add(Failure, "repeated", "%s cannot be read further, %v", name, overlap)
	} else if f.Err != nil && !r.javaOnly(name+": ", f.Err) {
		r.unread(name+" ", f.Err)
	} else if f.Torn {
		r.add(Failure, "torn-line", "%s ends in the middle of a line", name)
	}
	switch n := f.Skipped.Count; {
	case n == 1:
		r.add(Warning, "foreign-lines",
			"%s has 1 line that is damaged or was not written by gclog: line %s", name, history.SkippedText(&f.Skipped))
	case n > 1:
		r.add(Warning, "foreign-lines", "%s has %d lines that are damaged or were not written by gclog: lines %s",
			name, n, history.SkippedText(&f.Skipped))
	}
}

// logTotals adds what the log contains in total.
func (r *Report) logTotals(h logs.Head, list []*tally, sum *tally) {
	r.processes(list)
	r.fact("records", "%d collections, %d of them background, %d incomplete; %d pauses",
		sum.gcs, sum.background, sum.incomplete, sum.pauses)
	r.fact("lacks", "%s", logs.Lacks(h.Format))
	if len(sum.gaps) > 0 {
		var reasons []string
		for reason, n := range sum.gaps {
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, n))
		}
		slices.Sort(reasons)
		r.add(Warning, "gaps", "the log records gaps: %s", strings.Join(reasons, ", "))
	}
	if sum.unended > 0 {
		r.add(Note, "no-session-end", "sessions without an end: %d", sum.unended)
	}
	switch {
	case sum.missing > 0 && h.Sessions:
		r.add(Warning, "missing-gcs", "missing collection numbers: %d", sum.missing)
	case sum.missing > 0:
		r.add(Warning, "missing-gcs",
			"missing collection numbers: %d; this log format does not record whether no-GC regions used them",
			sum.missing)
	}
}
