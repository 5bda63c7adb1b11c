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

// A formatter appends the lines for its argument to a buffer. If it appends nothing, nothing is
// written.
type formatter interface {
	// header appends the header of a file whose first record has the time at. number counts the
	// files of a Writer from 1.
	header(dst []byte, at int64, number int) []byte
	start(dst []byte, s *Start) []byte
	pause(dst []byte, p *gclog.Pause) []byte
	phase(dst []byte, p *gclog.Phase) []byte
	gc(dst []byte, d *gclog.GCDetails, lost uint64) []byte // lost: events lost since the last record of a collection
	suspension(dst []byte, s *gclog.Suspension) []byte
	gap(dst []byte, g *gclog.Gap) []byte
	stall(dst []byte, s *gclog.Stall) []byte
	summary(dst []byte, s *Summary) []byte
	heapGrowth(dst []byte, g *HeapGrowth) []byte
	end(dst []byte, e *End) []byte
	// hold reports whether a new file should not start with what is appended next.
	hold() bool
	// save saves what the header of a file would need that starts with what is appended next.
	save()
}

// noLines is what a formatter does about records that its format leaves out.
type noLines struct{}

func (noLines) start(dst []byte, _ *Start) []byte                 { return dst }
func (noLines) pause(dst []byte, _ *gclog.Pause) []byte           { return dst }
func (noLines) phase(dst []byte, _ *gclog.Phase) []byte           { return dst }
func (noLines) suspension(dst []byte, _ *gclog.Suspension) []byte { return dst }
func (noLines) gap(dst []byte, _ *gclog.Gap) []byte               { return dst }
func (noLines) stall(dst []byte, _ *gclog.Stall) []byte           { return dst }
func (noLines) summary(dst []byte, _ *Summary) []byte             { return dst }
func (noLines) heapGrowth(dst []byte, _ *HeapGrowth) []byte       { return dst }
func (noLines) end(dst []byte, _ *End) []byte                     { return dst }
func (noLines) hold() bool                                        { return false }
func (noLines) save()                                             {}

var table = []Format{
	{Name: "unified", About: "JDK 9+ unified logging (-Xlog:gc*), for GCViewer, GCToolKit, garbagecat", joinHeader: true, oneProcess: true, holdPauses: true, new: newUnified},
	{Name: "jdk8", About: "JDK 8 style (PrintGCDetails), for older readers of Java GC logs", joinHeader: true, oneProcess: true, new: newJDK8},
	{Name: "json", About: "one JSON object per line, Elastic Common Schema, for shippers", Extensions: []string{".json", ".ndjson", ".jsonl"}, new: newJSON},
	{Name: "csv", About: "one row per collection, for spreadsheets", Extensions: []string{".csv"}, joinHeader: true, new: newCSV},
	{Name: "text", About: "one aligned line per collection, for people", Extensions: []string{".txt"}, oneProcess: true, new: newText},
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

// Start is the start of a session with a process.
type Start struct {
	At        int64  // nanoseconds since the sync point
	Ticks     int64  // At in ticks
	Providers string // what the session listens to, in dotnet-trace's syntax; "": start of a recording
}

// A Summary is what happened in an interval.
type Summary struct {
	From, To int64 // nanoseconds since the sync point
	Ticks    int64 // To in ticks
	Partial  bool  // the session started or ended within the interval
	gclog.Tally
}

// span returns the length of the interval in nanoseconds.
func (s *Summary) span() int64 { return max(0, s.To-s.From) }

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
	Owner  Owner                               // of a file that starts with it
}

// A Writer writes records in one format to one Output. It is an Observer.
type Writer struct {
	f          formatter
	out        Output
	holdPauses bool // see Format.holdPauses
	hold       bool // the next group should not start a file
	begun      bool // a pause or phase of a collection was written
	head       Head
	buf        []byte
	at         int64  // time of the current record
	number     uint32 // of the collection that the current record belongs to, 0 if none
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

var _ gclog.SuspensionObserver = (*Writer)(nil)

// NewWriter returns a Writer.
func NewWriter(f Format, out Output, o Options) *Writer {
	if o.Host == "" {
		o.Host = o.Process.Host
	}
	w := &Writer{f: f.new(&o), out: out, holdPauses: f.holdPauses}
	w.head = Head{func(dst []byte, number int) []byte { return w.f.header(dst, w.at, number) }, f.joinHeader, OwnerOf(&o.Process)}
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

// Start writes the start of a session.
func (w *Writer) Start(s *Start) { w.write(s.At, w.f.start(w.buf[:0], s)) }

// Pause writes a pause.
func (w *Writer) Pause(p *gclog.Pause) {
	w.number = p.UsedNumber
	w.hold = w.hold || w.holdPauses && p.GC == nil
	w.begun = w.begun || p.GC != nil
	w.write(p.Start, w.f.pause(w.buf[:0], p))
	w.number = 0
}

// Phase writes the start or end of a concurrent phase.
func (w *Writer) Phase(p *gclog.Phase) {
	w.begun = true
	w.write(p.Time, w.f.phase(w.buf[:0], p))
}

// Suspension writes a suspension of the program.
func (w *Writer) Suspension(s *gclog.Suspension) { w.write(s.Start, w.f.suspension(w.buf[:0], s)) }

// GC writes the record of a collection.
func (w *Writer) GC(d *gclog.GCDetails) {
	w.number = d.Number
	if w.write(d.PauseStart(), w.f.gc(w.buf[:0], d, w.lost)) {
		w.lost = 0
	}
	w.number = 0
}

// Gap writes that something is missing. If that fails, it is written as soon as possible.
func (w *Writer) Gap(g *gclog.Gap) {
	w.lost += g.LostEvents
	if w.write(g.Time, w.f.gap(w.buf[:0], g)) {
		return
	}
	if len(w.kept) < mostKept {
		w.kept = append(w.kept, *g)
		return
	}
	w.missing.AddGap(g)
}

// Stall writes that something has been open for a long time.
func (w *Writer) Stall(s *gclog.Stall) { w.write(s.Now, w.f.stall(w.buf[:0], s)) }

// Summary writes what happened since the last summary.
func (w *Writer) Summary(s *Summary) { w.write(s.To, w.f.summary(w.buf[:0], s)) }

// End writes the end of a session, and of open phases.
//
// No file starts with it: the file would contain nothing else.
func (w *Writer) End(e *End) {
	w.hold = true
	w.write(e.At, w.f.end(w.buf[:0], e))
}

// write writes a group, and reports whether that succeeded.
func (w *Writer) write(at int64, group []byte) (ok bool) {
	w.buf, ok = group, true
	if len(group) > 0 {
		w.at = at
		ok = w.put(group)
	}
	w.hold = w.f.hold() || w.holdPauses && !w.begun
	w.f.save()
	return ok
}

// put writes a group, after a report of groups that could not be written before.
func (w *Writer) put(group []byte) (ok bool) {
	err := w.reportMissing()
	if err == nil {
		err = w.out.Write(w.head, group, w.hold)
	}
	if err != nil {
		w.err = err
		w.dropped++
		w.missing.Add(w.number)
		return false
	}
	w.written++
	return true
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
	w.missing.Gaps(gclog.Gap{Reason: gclog.GapUnwritten, Time: w.at, Ticks: w.at + w.gapReports}, func(g *gclog.Gap) { w.gap = w.f.gap(w.gap, g) })
	for i := range w.kept {
		g := &w.kept[i]
		if g.Reason != gclog.GapLostEvents && g.To > 0 && w.missing.Names(g) {
			if g.From, g.To = 0, 0; g.Records == 0 { // each number is in only one gap
				continue
			}
		}
		w.gap = w.f.gap(w.gap, g)
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
