package formats_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// A memory is an Output that keeps what it receives.
type memory struct {
	files []*file
	// cut reports whether a new file starts before a group; nil: never.
	cut  func(hold bool) bool
	held bool // whether the last group was held
}

// A file is the contents of one file.
type file struct {
	text   []byte
	groups []int // offset of each group
}

func (m *memory) Write(head formats.Head, group []byte, hold bool) error {
	if len(group) == 0 || group[len(group)-1] != '\n' {
		return errors.New("a group that is not whole lines")
	}
	if len(m.files) == 0 || m.cut != nil && m.cut(hold) {
		m.files = append(m.files, &file{text: head.Append(nil, len(m.files)+1)})
	}
	m.held = hold
	f := m.files[len(m.files)-1]
	f.groups = append(f.groups, len(f.text))
	f.text = append(f.text, group...)
	return nil
}

// text returns all files, concatenated.
func (m *memory) text() []byte {
	var all []byte
	for _, f := range m.files {
		all = append(all, f.text...)
	}
	return all
}

// A conversion is a recording in every format, with the calls of its Observers.
type conversion struct {
	processes []*converted
	outputs   map[string]*memory // of the formats that may contain several processes
	err       error              // of the stream
}

// converted is one process of a recording.
type converted struct {
	process gclog.Process
	writers []*formats.Writer
	outputs map[string]*memory // of all formats
	pauses  []gclog.Pause
	heaps   []int64 // for each pause: KiB after the collection emitted last, -1: none yet
	gcs     []*gclog.GCDetails
	gaps    int
	last    *gclog.GCDetails

	background bool // a background collection is running
	begun      bool // there was a pause or phase of a collection
	held       int  // groups that were held although none is running
}

func (c *converted) each(f func(*formats.Writer)) {
	for _, w := range c.writers {
		f(w)
	}
}

// Observe takes a record.
func (c *converted) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		q := *r
		if r.GC != nil {
			q.GC = r.GC.Clone()
		}
		c.pauses = append(c.pauses, q)
		heap := int64(-1)
		if c.last != nil {
			young, old := javaSizes(c.last)
			heap = young[1] + old[1]
		}
		c.heaps = append(c.heaps, heap)
		if r.Kind == gclog.PauseBlocking && r.GC.Known.Has(gclog.GroupAfter) {
			c.last = q.GC
		}
		c.each(func(w *formats.Writer) { w.Observe(r) })
		c.background = c.background || r.Kind == gclog.PauseInitial || r.Kind == gclog.PauseFinal
		for _, out := range c.outputs {
			if !c.background && r.GC != nil && out.held && c.begun {
				c.held++
			}
		}
		c.begun = c.begun || r.GC != nil
	case *gclog.Phase:
		c.background, c.begun = c.background || !r.End, true
		c.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.GCDetails:
		c.gcs = append(c.gcs, r.Clone())
		if r.Kind == gclog.KindBackground {
			c.background = false
		}
		if r.Kind == gclog.KindBackground && r.Known.Has(gclog.GroupAfter) {
			c.last = c.gcs[len(c.gcs)-1]
		}
		c.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.Gap:
		c.gaps++
		c.each(func(w *formats.Writer) { w.Observe(r) })
	}
}

// A span is a range of a recording: the results of Scan from index from up to, but not including,
// to.
type span struct{ from, to int }

var everything = span{0, math.MaxInt}

// read passes the events of a stream to a Processes, as gclog convert does, and returns the latest
// time.
func read(stream []byte, s span, processes *gclog.Processes) (newest int64, err error) {
	r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	trace, err := r.ReadTrace()
	if err != nil {
		return 0, err
	}
	processes.Begin(trace)
	for i := 0; r.Scan(); i++ {
		if i >= s.from && i < s.to {
			processes.Take(r)
		}
	}
	processes.Finish()
	return processes.Latest(), r.Err()
}

// convert converts a recording to the formats with these names, or to all formats if there are no
// names. cut is that of memory.
func convert(stream []byte, s span, cut func(hold bool) bool, names ...string) *conversion {
	x := &conversion{outputs: map[string]*memory{}}
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		c := &converted{process: *p, outputs: map[string]*memory{}}
		x.processes = append(x.processes, c)
		for _, f := range formats.All() {
			if len(names) > 0 && !slices.Contains(names, f.Name) {
				continue
			}
			out := x.outputs[f.Name]
			if out == nil {
				out = &memory{cut: cut}
				if f.ManyProcesses() {
					x.outputs[f.Name] = out
				}
			}
			c.outputs[f.Name] = out
			w := formats.NewWriter(f, out, formats.Options{Process: *p, Version: "1.0", Session: "test"})
			w.Observe(&gclog.Start{})
			c.writers = append(c.writers, w)
		}
		return c.Observe
	})
	newest, err := read(stream, s, processes)
	x.err = err
	for _, c := range x.processes {
		c.each(func(w *formats.Writer) { w.Observe(&gclog.End{At: newest, Reason: gclog.EndOfRecording}) })
	}
	return x
}

// damaged are the recordings whose streams end in an error: they were truncated.
var damaged = map[string]bool{"v6-net8-wks-cut": true, "net10-wks-oom": true}

// forEach runs a test for each recording, two at a time. With -short it skips those outside the
// repository.
func forEach(t *testing.T, run func(t *testing.T, name string, stream []byte)) {
	forEachInTurn(t, func(t *testing.T, name string, stream []byte) {
		t.Parallel()
		run(t, name, stream)
	})
}

func forEachInTurn(t *testing.T, run func(t *testing.T, name string, stream []byte)) {
	one := func(t *testing.T, tr recordings.Trace) { run(t, tr.Name, recordings.Read(t, tr.Path)) }
	recordings.ForEach(t, one)
}

// TestRecordings converts every recording to every format and checks the lines against the rules of
// the formats and against the calls of the Observer.
func TestRecordings(t *testing.T) {
	forEach(t, func(t *testing.T, name string, stream []byte) {
		x := convert(stream, everything, nil)
		if x.err != nil && !damaged[name] {
			t.Error(x.err)
		}
		x.check(t, name)
		again := convert(stream, everything, nil, "json")
		if a, b := headIDs.ReplaceAll(x.outputs["json"].text(), nil), headIDs.ReplaceAll(again.outputs["json"].text(), nil); !bytes.Equal(a, b) {
			t.Errorf("converted again, the JSON is another one: %s", generated.Difference(string(a), string(b)))
		}
	})
}

// check checks all formats.
func (x *conversion) check(t *testing.T, name string) {
	t.Helper()
	for _, c := range x.processes {
		c.each(func(w *formats.Writer) {
			if err := w.Err(); err != nil || w.Dropped() != 0 {
				t.Errorf("%d groups dropped: %v", w.Dropped(), err)
			}
		})
		if c.held != 0 {
			t.Errorf("%d groups hold up a rotation without a background collection", c.held)
		}
		if text := c.outputs["unified"].text(); text != nil {
			checkJDK(t, c, "unified", checkUnified(t, text, whole), 1000)
		}
		if text := c.outputs["jdk8"].text(); text != nil {
			checkJDK(t, c, "jdk8", checkJDK8(t, text, whole), 100)
		}
		if len(c.pauses)+len(c.gcs) > 0 {
			checkText(t, c)
		}
	}
	checkCSV(t, x)
	checkJSON(t, x, name)
}

// TestFromAnywhere: a log that starts and ends anywhere, as that of a session does, follows the
// rules too. It contains all pauses that were reported.
func TestFromAnywhere(t *testing.T) {
	extent.Long(t)
	places := extent.Pick(3, 8)
	for _, tr := range recordings.Repository(t) {
		t.Run(tr.Name, func(t *testing.T) {
			t.Parallel()
			stream := recordings.Read(t, tr.Path)
			n := 0
			for r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted); r.Scan(); n++ {
			}
			for i := range places {
				at := n*(2*i+1)/(2*places) + i
				for _, s := range []span{{at, n}, {0, at}} {
					name := fmt.Sprintf("events %d to %d of %d", s.from, s.to, n)
					t.Run(name, func(t *testing.T) { convert(stream, s, nil).check(t, name) })
				}
			}
		})
	}
}

// TestFiles: if new files start as soon as the formats allow it, each file of a JDK format can be
// read alone: it has its own header, at the time of its first event, contains an event, and has no
// phase without its start.
func TestFiles(t *testing.T) {
	cut := func(hold bool) bool { return !hold }
	checkFiles(t, cut, map[string]coverage{"unified": whole, "jdk8": whole}, func(t *testing.T, log *jdkLog, f *file) {
		if log.events == 0 {
			t.Errorf("no event in it:\n%s", f.text)
		}
	})
}

// TestFilesInsidePhases: if a rotation could not wait for the end of a background collection, jdk8
// repeats the start of the phase; unified does not.
func TestFilesInsidePhases(t *testing.T) {
	always := func(bool) bool { return true }
	checkFiles(t, always, map[string]coverage{"unified": part, "jdk8": repeated}, nil)
}

// checkFiles checks every file of a conversion on its own, up to the first with an error.
func checkFiles(t *testing.T, cut func(hold bool) bool, formats map[string]coverage, more func(*testing.T, *jdkLog, *file)) {
	check := map[string]func(*testing.T, []byte, coverage) *jdkLog{"unified": checkUnified, "jdk8": checkJDK8}
	forEach(t, func(t *testing.T, _ string, stream []byte) {
		x := convert(stream, everything, cut, "unified", "jdk8")
		for _, c := range x.processes {
			for format, coverage := range formats {
				t.Run(format, func(t *testing.T) {
					for i, f := range c.outputs[format].files {
						log := check[format](t, f.text, coverage)
						if more != nil {
							more(t, log, f)
						}
						if t.Failed() {
							t.Fatalf("file %d of %d", i+1, len(c.outputs[format].files))
						}
					}
				})
			}
		}
	})
}

// coverage is what may be missing in a part of a log.
type coverage int

const (
	whole    coverage = iota // nothing
	part                     // phases may start before it and end after it
	repeated                 // phases may end after it
)

// Parts of the lines of the JDK formats, as specified in spec/java-formats.md.
const (
	date  = `(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000)`
	up    = `(\d+\.\d{3})`
	stamp = `^\[` + date + `\]\[` + up + `s\]\[info\]`
	plain = `[A-Za-z0-9 .,:_/=-]+`
	size  = `(\d{1,10})K\((\d{1,10})K\)`
	sizes = `(\d{1,10})K->(\d{1,10})K\((\d{1,10})K\)`
	ms    = `(\d+\.\d{3})ms`
	s7    = `(\d+\.\d{7}) secs`
	young = `Allocation Failure|System\.gc\(\)`
	full  = young + `|Last ditch collection`
	nine  = `         `
)
