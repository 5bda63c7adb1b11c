package formats

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
)

// A Format is a way to write records. The formats are the rows of one table;
// their Name is what users choose them by.
type Format struct {
	Name       string
	About      string
	Extensions []string // of files that are of this format unless the user says otherwise

	// joinHeader: the head of a file is written together with its first records, so
	// that no file has a head and nothing else.
	joinHeader bool
	// one process per file: readers take a second one for nonsense.
	oneProcess bool
	// holdPauses: no file should begin with a pause without a collection: readers cannot do with
	// a file of nothing else.
	holdPauses bool
	new        func(*Options) formatter
}

// A formatter appends the lines of what it is told to a buffer. What appends
// nothing writes nothing.
type formatter interface {
	// header is the head of a file whose first record is of the time at. number
	// counts the files of a Writer from 1 on.
	header(dst []byte, at int64, number int) []byte
	start(dst []byte, s *Start) []byte
	pause(dst []byte, p *gclog.Pause) []byte
	phase(dst []byte, p *gclog.Phase) []byte
	gc(dst []byte, d *gclog.GCDetails, lost uint64) []byte // lost: events, since the last record of a collection
	suspension(dst []byte, s *gclog.Suspension) []byte
	gap(dst []byte, g *gclog.Gap) []byte
	stall(dst []byte, s *gclog.Stall) []byte
	summary(dst []byte, s *Summary) []byte
	end(dst []byte, e *End) []byte
	// next comes before each of the others. It reports whether a new file should
	// not begin with what they append, and notes what its head needs if it does.
	next() (hold bool)
}

var table = []Format{
	{Name: "unified", About: "JDK 9+ unified logging (-Xlog:gc*), for GCViewer, GCToolKit, garbagecat", joinHeader: true, oneProcess: true, holdPauses: true, new: newUnified},
	{Name: "jdk8", About: "JDK 8 style (PrintGCDetails), for older readers of Java GC logs", joinHeader: true, oneProcess: true, new: newJDK8},
	{Name: "json", About: "one JSON object per line, Elastic Common Schema, for shippers", Extensions: []string{".json", ".ndjson", ".jsonl"}, new: newJSON},
	{Name: "csv", About: "one row per collection, for spreadsheets", Extensions: []string{".csv"}, joinHeader: true, new: newCSV},
	{Name: "text", About: "one aligned line per collection, for eyes", Extensions: []string{".txt"}, oneProcess: true, new: newText},
}

// All returns the formats in the order in which help shows them.
func All() []Format { return slices.Clone(table) }

// Default is the format of outputs whose name does not tell one.
const Default = "unified"

// Find returns a format by name.
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

// ForFile returns the format that the extension of a file name means.
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

// ManyProcesses reports whether a file of this format may hold several processes.
func (f Format) ManyProcesses() bool { return !f.oneProcess }

// Options is what a Writer needs to know.
type Options struct {
	Process      gclog.Process              // facts as they are known at the start
	DotnetCauses bool                       // .NET's reasons in the JDK formats instead of Java's causes
	Color        bool                       // text only
	Screen       func() (width, height int) // text only: the size of the terminal, asked before each line; nil, and a width of 0: there is none
	Version      string                     // of gclog
	Session      string                     // a random id of this run
	Host         string                     // name of the host that the process runs on, "" to go by Process
	LongPause    int64                      // JSON: nanoseconds from which on a record is a warning
	Selection    *Selection                 // unified only: which lines there are; nil: those of gc* that all readers know, in UTC
}

// Start is the start of a session with a process.
type Start struct {
	At        int64  // nanoseconds since the sync point
	Ticks     int64  // the same in ticks
	Providers string // what the session listens to, in dotnet-trace's syntax; "": a recording begins
}

// EndReason is why a session with a process ended.
type EndReason uint8

// The reasons.
const (
	EndDetached    EndReason = iota // gclog was asked to stop
	EndExited                       // the process ended
	EndKilled                       // a signal ended the process, or it left its socket behind
	EndOOMKilled                    // the kernel ended it, because there was no memory left
	EndUnseen                       // the process ended; where it ran, nothing tells how
	EndStreamError                  // the stream broke
	EndOfRecording                  // a recording ends here: how the session did is not known
	EndOfLog                        // a log ends here: only what is open is closed
)

var endNames = [...]string{"detached", "exited", "killed", "oom-killed", "ended", "stream-error", "end-of-recording", "end-of-log"}

func (r EndReason) String() string { return endNames[r] }

// End is the end of a session.
type End struct {
	At       int64 // nanoseconds since the sync point
	Ticks    int64
	Reason   EndReason
	ExitCode int // of the process
	HasCode  bool
	Signal   int    // that ended the process, 0 if none or unknown
	Message  string // more about the reason, "" if there is nothing
	// Process is what is known of the process by now, nil: no more than at the start.
	Process *gclog.Process
}

// A Summary is what happened in a time between two others.
type Summary struct {
	From, To int64 // nanoseconds since the sync point
	Ticks    int64 // To in ticks
	Partial  bool  // the session has begun, or ended, within the interval
	gclog.Tally
}

// Span is how long the time was, in nanoseconds.
func (s *Summary) Span() int64 { return max(0, s.To-s.From) }

// An Output takes whole groups of lines. A group is never divided.
type Output interface {
	// Write writes one group, after the head if it is the first of a file. hold:
	// another file must not begin before it, if that can be avoided.
	Write(head Head, group []byte, hold bool) error
}

// A Head is what every file begins with.
type Head struct {
	Append func(dst []byte, number int) []byte // number counts the files of an Output from 1 on
	Joined bool                                // it is written together with the first group
}

// A Writer writes records in one format to one Output. It is an Observer.
type Writer struct {
	f          formatter
	out        Output
	holdPauses bool // as that of the Format
	head       Head
	buf        []byte
	at         int64  // time of the record at hand
	number     uint32 // of the collection whose record that is, 0 if it is none
	err        error

	written, dropped int64
	missing          gclog.Missing // what was dropped since the last gap
	lost             uint64        // events, since the last record of a collection
	told             int64         // how many times something was
	kept             []gclog.Gap   // that could not be written: what they say is in no other record
	gap              []byte
}

// mostKept is how many gaps wait to be written at most; what more of them tell is told with
// the records that could not be written.
const mostKept = 16

var _ gclog.SuspensionObserver = (*Writer)(nil)

// NewWriter returns a Writer.
func NewWriter(f Format, out Output, o Options) *Writer {
	if o.Host == "" {
		o.Host = o.Process.Host
	}
	w := &Writer{f: f.new(&o), out: out, holdPauses: f.holdPauses}
	w.head = Head{func(dst []byte, number int) []byte { return w.f.header(dst, w.at, number) }, f.joinHeader}
	return w
}

// Succeed makes w the Writer that comes after another one on the same Output: it tells
// what that could not write.
func (w *Writer) Succeed(before *Writer) {
	w.missing, before.missing = before.missing, gclog.Missing{}
	w.kept, before.kept = before.kept, nil
	w.at, w.told = before.at, before.told
}

// Err returns the last error of the Output. Records that could not be written
// are counted, and the next one is tried again.
func (w *Writer) Err() error { return w.err }

// Dropped is how many groups of lines could not be written.
func (w *Writer) Dropped() int64 { return w.dropped }

// Written is how many groups of lines were written.
func (w *Writer) Written() int64 { return w.written }

// Start writes the start of a session.
func (w *Writer) Start(s *Start) { w.write(s.At, w.f.next(), w.f.start(w.buf[:0], s)) }

// Pause writes a pause.
func (w *Writer) Pause(p *gclog.Pause) {
	w.number = p.UsedNumber
	hold := w.f.next() || w.holdPauses && p.GC == nil
	w.write(p.Start, hold, w.f.pause(w.buf[:0], p))
	w.number = 0
}

// Phase writes the start or end of a concurrent phase.
func (w *Writer) Phase(p *gclog.Phase) { w.write(p.Time, w.f.next(), w.f.phase(w.buf[:0], p)) }

// Suspension writes a suspension of the program.
func (w *Writer) Suspension(s *gclog.Suspension) {
	w.write(s.Start, w.f.next(), w.f.suspension(w.buf[:0], s))
}

// GC writes the record of a collection.
func (w *Writer) GC(d *gclog.GCDetails) {
	w.number = d.Number
	if w.write(d.PauseStart(), w.f.next(), w.f.gc(w.buf[:0], d, w.lost)) {
		w.lost = 0
	}
	w.number = 0
}

// Gap writes that something is missing. If that cannot be written, it is as soon as
// something can.
func (w *Writer) Gap(g *gclog.Gap) {
	w.lost += g.LostEvents
	if w.write(g.Time, w.f.next(), w.f.gap(w.buf[:0], g)) {
		return
	}
	if len(w.kept) < mostKept {
		w.kept = append(w.kept, *g)
		return
	}
	w.missing.AddGap(g)
}

// Stall writes that something has not ended for long.
func (w *Writer) Stall(s *gclog.Stall) { w.write(s.Now, w.f.next(), w.f.stall(w.buf[:0], s)) }

// Summary writes what happened since the last one.
func (w *Writer) Summary(s *Summary) { w.write(s.To, w.f.next(), w.f.summary(w.buf[:0], s)) }

// End writes the end of a session, and of the phases that are open.
//
// No file begins with it: it would have nothing else.
func (w *Writer) End(e *End) {
	w.f.next()
	w.write(e.At, true, w.f.end(w.buf[:0], e))
}

// write writes a group, and reports whether that was possible.
func (w *Writer) write(at int64, hold bool, group []byte) bool {
	w.buf = group
	if len(group) == 0 {
		return true
	}
	w.at = at
	if err := w.put(group, hold); err != nil {
		w.err = err
		w.dropped++
		w.missing.Add(w.number)
		return false
	}
	w.written++
	return true
}

// put writes a group, after a line about those that could not be written before.
func (w *Writer) put(group []byte, hold bool) error {
	if err := w.tellMissing(hold); err != nil {
		return err
	}
	return w.out.Write(w.head, group, hold)
}

// Flush tells what could not be written before. The next record does so too: it is for
// when none may come.
func (w *Writer) Flush() {
	if err := w.tellMissing(w.f.next()); err != nil {
		w.err = err
	}
}

func (w *Writer) tellMissing(hold bool) error {
	if w.missing.Records == 0 {
		return nil
	}
	w.gap = w.gap[:0]
	// Two of them may be of one moment, and each is a fact of its own.
	w.missing.Gaps(gclog.Gap{Reason: gclog.GapUnwritten, Time: w.at, Ticks: w.at + w.told}, func(g *gclog.Gap) { w.gap = w.f.gap(w.gap, g) })
	for i := range w.kept {
		g := &w.kept[i]
		if g.Reason != gclog.GapLostEvents && g.To > 0 && w.missing.Names(g) {
			if g.From, g.To = 0, 0; g.Records == 0 { // each number in one gap
				continue
			}
		}
		w.gap = w.f.gap(w.gap, g)
	}
	if len(w.gap) > 0 {
		if err := w.out.Write(w.head, w.gap, hold); err != nil {
			return err
		}
	}
	w.missing, w.kept = gclog.Missing{}, w.kept[:0]
	w.told++
	return nil
}
