package formats

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
)

// A Format is a way to write records. The formats are the rows of one table; users choose them by
// Name.
type Format struct {
	Name       string
	About      string
	Extensions []string // of files that have this format unless the user specifies another

	// joinHeader: a file's header is written together with its first records, so that no file
	// contains only a header.
	joinHeader bool
	// oneProcess: one process per file, because readers misinterpret a second one.
	oneProcess bool
	// holdPauses: no file should contain only pauses without a collection, because readers cannot
	// handle it: none starts with such a pause, and the first one does not end after it.
	holdPauses bool
	new        func(*Options) formatter
}

// A formatter appends lines to a buffer. If it appends nothing, nothing is written.
type formatter interface {
	// header appends the header of a file whose first record has the time at. number counts the
	// files of a Writer from 1.
	header(dst []byte, at int64, number int) []byte
	// append appends the lines of a record; nothing if the format leaves it out. lost is the number of
	// events lost since the last record of a collection.
	append(dst []byte, r gclog.Record, lost uint64) []byte
	// hold reports whether a new file should not start with what is appended next.
	hold() bool
	// save saves what the header of a file would need that starts with what is appended next.
	save()
}

// stateless has what a formatter needs whose lines do not depend on those before.
type stateless struct{}

func (stateless) hold() bool { return false }
func (stateless) save()      {}

var table = []Format{
	{
		Name: "unified", About: "JDK 9+ unified logging (-Xlog:gc*), for GCViewer, GCToolKit, garbagecat",
		joinHeader: true, oneProcess: true, holdPauses: true, new: newUnified,
	},
	{
		Name: "jdk8", About: "JDK 8 style (PrintGCDetails), for older readers of Java GC logs", joinHeader: true,
		oneProcess: true, new: newJDK8,
	},
	{
		Name: "json", About: "one JSON object per line, Elastic Common Schema, for shippers",
		Extensions: []string{".json", ".ndjson", ".jsonl"}, new: newJSON,
	},
	{
		Name: "csv", About: "one row per collection, for spreadsheets", Extensions: []string{".csv"}, joinHeader: true,
		new: newCSV,
	},
	{
		Name: "text", About: "one aligned line per collection, for people", Extensions: []string{".txt"},
		oneProcess: true, new: newText,
	},
}

// All returns the formats in the order of the help text.
func All() []Format { return slices.Clone(table) }

// Default is the format of outputs whose name does not imply one.
const Default = "unified"

// Find returns the format with this name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range table {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q: the formats are %s", name, strings.Join(names, ", "))
}

// ForFile returns the format that a file name's extension implies.
func ForFile(path string) Format {
	ext := strings.ToLower(filepath.Ext(path))
	f, _ := Find(Default)
	for _, g := range table {
		if slices.Contains(g.Extensions, ext) {
			f = g
		}
	}
	return f
}

// ManyProcesses reports whether a file of this format may contain several processes.
func (f Format) ManyProcesses() bool { return !f.oneProcess }

// Options configure a Writer.
type Options struct {
	Process      gclog.Process // as known at the start
	DotnetCauses bool          // JDK formats: .NET's reasons instead of Java's causes
	Color        bool          // text only
	// Screen returns the size of the terminal, for text only. It is called before each line. nil or a
	// width of 0: there is no terminal.
	Screen    func() (width, height int)
	Version   string     // of gclog
	Session   string     // random id of this run
	Host      string     // name of the host that the process runs on; "": use Process.Host
	LongPause int64      // JSON: duration in nanoseconds from which a record is a warning
	Selection *Selection // unified only: the lines to write; nil: the gc* lines that all readers know, in UTC
}

// An Output receives whole groups of lines. A group is never split.
type Output interface {
	// Write writes one group, after the header if the group is the first of a file. If hold is set,
	// no new file should start with this group, if that can be avoided.
	Write(head Head, group []byte, hold bool) error
}

// A Head is the header that every file starts with.
type Head struct {
	Append func(dst []byte, number int) []byte // number counts the files of an Output from 1
	Joined bool                                // written together with the first group
	// Process is what a file that starts with it is about, as it was known when the Writer began.
	Process *gclog.Process
}

// A Writer writes records in one format to one Output. Its Observe is a gclog.Observer.
type Writer struct {
	f          formatter
	out        Output
	holdPauses bool // see Format.holdPauses
	hold       bool // the next group should not start a file
	begun      bool // a pause or phase of a collection was written
	head       Head
	buf        []byte
	at         int64 // time of the current record
	err        error

	written, dropped int64
	missing          gclog.Missing // dropped since the last gap
	lost             uint64        // events lost since the last record of a collection
	gapReports       int64         // number of times that missing records were reported
	kept             []gclog.Gap   // gaps that could not be written: no other record contains their information
	gap              []byte
}

// mostKept is the maximum number of gaps that wait to be written; the contents of further ones are
// merged into the report of records that could not be written.
const mostKept = 16

// NewWriter returns a Writer.
func NewWriter(f Format, out Output, o Options) *Writer {
	if o.Host == "" {
		o.Host = o.Process.Host
	}
	w := &Writer{f: f.new(&o), out: out, holdPauses: f.holdPauses}
	w.head = Head{
		func(dst []byte, number int) []byte { return w.f.header(dst, w.at, number) }, f.joinHeader, &o.Process,
	}
	return w
}

// TakeOver makes w the successor of another Writer on the same Output: w reports what that one
// could not write.
func (w *Writer) TakeOver(before *Writer) {
	w.missing, before.missing = before.missing, gclog.Missing{}
	w.kept, before.kept = before.kept, nil
	w.err = before.err // why that is so
	w.at, w.gapReports = before.at, before.gapReports
}

// Err returns the last error of the Output. Records that could not be written are counted; the next
// record is tried again.
func (w *Writer) Err() error { return w.err }

// Dropped returns the number of groups of lines that could not be written.
func (w *Writer) Dropped() int64 { return w.dropped }

// Written returns the number of groups of lines that were written.
func (w *Writer) Written() int64 { return w.written }

// Observe writes a record. A gap that cannot be written is written as soon as possible.
func (w *Writer) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		w.hold = w.hold || w.holdPauses && r.GC == nil
		w.begun = w.begun || r.GC != nil
	case *gclog.Phase:
		w.begun = true
	case *gclog.Gap:
		w.lost += r.LostEvents
	case *gclog.End:
		w.hold = true // no file starts with it: the file would contain nothing else
	}
	w.buf = w.f.append(w.buf[:0], r, w.lost)
	written := true
	if len(w.buf) > 0 {
		w.at, _ = r.When()
		written = w.put(r)
	}
	if _, of := r.(*gclog.GCDetails); of && written {
		w.lost = 0
	}
	w.hold = w.f.hold() || w.holdPauses && !w.begun
	w.f.save()
}

// put writes the group of a record, after a report of groups that could not be written before, and
// reports whether that succeeded.
func (w *Writer) put(r gclog.Record) bool {
	err := w.reportMissing()
	if err == nil {
		err = w.out.Write(w.head, w.buf, w.hold)
	}
	if err == nil {
		w.written++
		return true
	}
	w.err = err
	w.dropped++
	if g, is := r.(*gclog.Gap); is && len(w.kept) < mostKept {
		w.missing.Records++
		w.kept = append(w.kept, *g)
	} else {
		w.missing.Add(r)
	}
	return false
}

// Unwritten returns what could not be written, and of which there is no gap in the Output so far.
func (w *Writer) Unwritten() gclog.Missing {
	m := w.missing
	for i := range w.kept {
		m.AddGap(&w.kept[i])
	}
	return m
}

// Flush reports what could not be written before. The next record does so too: Flush is for the
// case that there is none.
func (w *Writer) Flush() {
	if err := w.reportMissing(); err != nil {
		w.err = err
	}
}

func (w *Writer) reportMissing() error {
	if w.missing.Records == 0 {
		return nil
	}
	w.gap = w.gap[:0]
	// Two gaps may be from the same moment, but each is a fact of its own.
	w.missing.Gaps(gclog.Gap{Reason: gclog.GapUnwritten, Time: w.at, Ticks: w.at + w.gapReports},
		func(g *gclog.Gap) { w.gap = w.f.append(w.gap, g, 0) })
	for i := range w.kept {
		g := &w.kept[i]
		if g.Reason != gclog.GapLostEvents && g.To > 0 && w.missing.Names(g) {
			if g.From, g.To = 0, 0; g.Records == 0 { // each number is in only one gap
				continue
			}
		}
		w.gap = w.f.append(w.gap, g, 0)
	}
	if len(w.gap) > 0 {
		if err := w.out.Write(w.head, w.gap, w.hold); err != nil {
			return err
		}
	}
	w.missing, w.kept = gclog.Missing{}, w.kept[:0]
	w.gapReports++
	return nil
}
