package formats_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A memory is an Output that keeps what it is given.
type memory struct {
	header func(dst []byte, number int) []byte
	files  []*file
	// cut tells whether another file begins before a group; nil: never.
	cut  func(hold bool) bool
	held bool // the last group was
}

// A file is what would be in one file.
type file struct {
	text   []byte
	groups []int // where each group begins
}

func (m *memory) Begin(header func(dst []byte, number int) []byte, _ bool) {
	if m.header == nil {
		m.header = header
	}
}

func (m *memory) Write(group []byte, hold bool) error {
	if len(group) == 0 || group[len(group)-1] != '\n' {
		return errors.New("a group that is not whole lines")
	}
	if len(m.files) == 0 || m.cut != nil && m.cut(hold) {
		m.files = append(m.files, &file{text: m.header(nil, len(m.files)+1)})
	}
	m.held = hold
	f := m.files[len(m.files)-1]
	f.groups = append(f.groups, len(f.text))
	f.text = append(f.text, group...)
	return nil
}

// text is all files one after the other.
func (m *memory) text() []byte {
	var all []byte
	for _, f := range m.files {
		all = append(all, f.text...)
	}
	return all
}

// A conversion is a recording in every format, with what the Observer was told.
type conversion struct {
	processes []*converted
	outputs   map[string]*memory // of the formats that hold several processes
	err       error              // of the stream
}

// converted is one process of a recording.
type converted struct {
	process gclog.Process
	writers []*formats.Writer
	outputs map[string]*memory // of all formats
	pauses  []gclog.Pause
	heaps   []int64 // for each pause: KiB after the collection that was told last, -1: none was
	gcs     []*gclog.GCDetails
	gaps    int
	last    *gclog.GCDetails

	background bool // a background collection goes on
	held       int  // groups that were held though none does
}

func (c *converted) each(f func(*formats.Writer)) {
	for _, w := range c.writers {
		f(w)
	}
}

func (c *converted) Pause(p *gclog.Pause) {
	q := *p
	if p.GC != nil {
		q.GC = p.GC.Clone()
	}
	c.pauses = append(c.pauses, q)
	heap := int64(-1)
	if c.last != nil {
		young, old := javaSizes(c.last)
		heap = young[1] + old[1]
	}
	c.heaps = append(c.heaps, heap)
	if p.Kind == gclog.PauseBlocking && p.GC.HasSizesAfter {
		c.last = q.GC
	}
	c.each(func(w *formats.Writer) { w.Pause(p) })
	c.background = c.background || p.Kind == gclog.PauseInitial || p.Kind == gclog.PauseFinal
	for _, out := range c.outputs {
		if !c.background && p.GC != nil && out.held {
			c.held++
		}
	}
}

func (c *converted) Phase(p *gclog.Phase) {
	c.background = c.background || !p.End
	c.each(func(w *formats.Writer) { w.Phase(p) })
}

func (c *converted) GC(d *gclog.GCDetails) {
	c.gcs = append(c.gcs, d.Clone())
	if d.Kind == gclog.KindBackground {
		c.background = false
	}
	if d.Kind == gclog.KindBackground && d.HasSizesAfter {
		c.last = c.gcs[len(c.gcs)-1]
	}
	c.each(func(w *formats.Writer) { w.GC(d) })
}

func (c *converted) Gap(g *gclog.Gap) {
	c.gaps++
	c.each(func(w *formats.Writer) { w.Gap(g) })
}

// A span is a part of a recording: what Scan finds from the first to before the
// last.
type span struct{ from, to int }

var everything = span{0, math.MaxInt}

// read gives the events of a stream to a Processes, as gclog convert does, and
// returns the newest time.
func read(stream []byte, s span, processes *gclog.Processes) (newest int64, err error) {
	r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	trace, err := r.ReadTrace()
	if err != nil {
		return 0, err
	}
	processes.Begin(trace)
	for i := 0; r.Scan(); i++ {
		if i < s.from || i >= s.to {
			continue
		}
		if l := r.Loss(); l != nil {
			processes.Loss(l)
			continue
		}
		processes.Event(r.Event())
	}
	processes.Finish()
	return processes.Newest(), r.Err()
}

// convert converts a recording to the formats with these names, all if there are
// none. cut is that of memory.
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
			c.writers = append(c.writers, formats.NewWriter(f, out, formats.Options{Process: *p, Version: "1.0", Session: "test"}))
		}
		return c
	})
	newest, err := read(stream, s, processes)
	x.err = err
	for _, c := range x.processes {
		c.each(func(w *formats.Writer) { w.End(&formats.End{At: newest, Reason: formats.EndOfRecording}) })
	}
	return x
}

// damaged are the recordings whose streams end in an error: they were cut.
var damaged = map[string]bool{"v6-net8-wks-cut": true, "net10-wks-oom": true}

// forEach runs a test for each recording, two at a time. With -short it leaves
// out those beside the repository.
func forEach(t *testing.T, run func(t *testing.T, name string, stream []byte)) {
	one := func(t *testing.T, tr shared.Trace) {
		t.Parallel()
		run(t, tr.Name, shared.Read(t, tr.Path))
	}
	if testing.Short() {
		for _, tr := range shared.Repository(t) {
			t.Run(tr.Name, func(t *testing.T) { one(t, tr) })
		}
		t.Run("shared", func(t *testing.T) { t.Skip("-short: only the recordings of the repository") })
		return
	}
	shared.ForEach(t, one)
}

// TestRecordings converts every recording to every format and holds the lines
// against the rules of the formats and against what the Observer was told.
func TestRecordings(t *testing.T) {
	forEach(t, func(t *testing.T, name string, stream []byte) {
		x := convert(stream, everything, nil)
		if x.err != nil && !damaged[name] {
			t.Error(x.err)
		}
		x.check(t, name)
		again := convert(stream, everything, nil, "json")
		if a, b := fileID.ReplaceAll(x.outputs["json"].text(), nil), fileID.ReplaceAll(again.outputs["json"].text(), nil); !bytes.Equal(a, b) {
			t.Errorf("converted again, the JSON is another one: %s", difference(string(a), string(b)))
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

// TestFromAnywhere: a log that begins and ends anywhere, as that of a session
// does, follows the rules too. It has all pauses that were told.
func TestFromAnywhere(t *testing.T) {
	places := 8
	if testing.Short() {
		places = 2
	}
	for _, tr := range shared.Repository(t) {
		t.Run(tr.Name, func(t *testing.T) {
			t.Parallel()
			stream := shared.Read(t, tr.Path)
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

// TestFiles: where other files begin as soon as the formats allow it, each file
// of a JDK format can be read alone: with its own head, at the time of its first
// event, an event in it, and no phase without its begin.
func TestFiles(t *testing.T) {
	cut := func(hold bool) bool { return !hold }
	checkFiles(t, cut, map[string]coverage{"unified": whole, "jdk8": whole}, func(t *testing.T, log *jdkLog, f *file) {
		if log.events == 0 {
			t.Errorf("no event in it:\n%s", f.text)
		}
	})
}

// TestFilesInsidePhases: where a rotation could not wait for the end of a
// background collection, jdk8 repeats the begin of the phase; unified does not.
func TestFilesInsidePhases(t *testing.T) {
	always := func(bool) bool { return true }
	checkFiles(t, always, map[string]coverage{"unified": part, "jdk8": repeated}, nil)
}

// checkFiles checks every file of a conversion by itself, up to the first that
// is wrong.
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

// coverage is what a piece of a log may lack.
type coverage int

const (
	whole    coverage = iota // nothing
	part                     // phases may begin before it and end after it
	repeated                 // phases may end after it
)

// Parts of the lines of the JDK formats, as spec/java-formats.md has them.
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

// A kind is a kind of line with the only form that it may have.
type kind struct {
	name string
	*regexp.Regexp
}

var unifiedKinds = []kind{
	{"collector", regexp.MustCompile(stamp + `\[gc\] Using Concurrent Mark Sweep$`)},
	{"arguments", regexp.MustCompile(stamp + `\[gc,init\] VM Arguments: \.NET` + plain + ` workers[a-z ]*$`)},
	{"start", regexp.MustCompile(stamp + `\[gc,start\] GC\((\d+)\)` + nine + `(Pause (?:Young \((?:` + young + `)\)|Full \((?:` + full + `)\)))$`)},
	{"start", regexp.MustCompile(stamp + `\[gc,start\] GC\((\d+)\) (Pause (?:Initial Mark|Remark))$`)},
	{"young", regexp.MustCompile(stamp + `\[gc,heap\] GC\((\d+)\)` + nine + `ParNew: ` + sizes + `$`)},
	{"old", regexp.MustCompile(stamp + `\[gc,heap\] GC\((\d+)\)` + nine + `CMS: ` + sizes + `$`)},
	{"dotnet", regexp.MustCompile(stamp + `\[gc,stats\] GC\((\d+)\)` + nine + `(DotNet: gen[012] (?:blocking|background|foreground)(?: compacting| sweeping)?(?:, [a-z0-9]+=[A-Za-z0-9.>-]+)*, workers=\d+)$`)},
	{"pause", regexp.MustCompile(stamp + `\[gc\] GC\((\d+)\) (Pause [A-Z][^0-9]*) ` + sizes + ` ` + ms + `$`)},
	{"cpu", regexp.MustCompile(stamp + `\[gc,cpu\] GC\((\d+)\) User=0\.00s Sys=0\.00s Real=(\d+\.\d\d)s$`)},
	{"begin", regexp.MustCompile(stamp + `\[gc\] GC\((\d+)\) (Concurrent (?:Mark|Sweep|Reset))$`)},
	{"end", regexp.MustCompile(stamp + `\[gc\] GC\((\d+)\) (Concurrent (?:Mark|Sweep|Reset)) ` + ms + `$`)},
	{"cycle", regexp.MustCompile(stamp + `\[gc,heap\] GC\((\d+)\) Old: ` + sizes + `$`)},
}

const at8 = date + `: ` + up + `: `

var jdk8Kinds = []kind{
	{"vm", regexp.MustCompile(`^OpenJDK 64-Bit Server VM \(\.NET` + plain + `\) for linux-amd64 JRE \(1\.8\.0_0-dotnet\), built on [A-Z][a-z]{2} [ \d]\d \d{4} \d\d:\d\d:\d\d .+$`)},
	{"flags", regexp.MustCompile(`^CommandLine flags: (?:-XX:\+[A-Za-z]+ )+$`)},
	{"young", regexp.MustCompile(`^` + at8 + `\[GC \((` + young + `)\) ` + at8 + `\[ParNew: ` + sizes + `, ` + s7 + `\] ` + sizes + `, ` + s7 + `\]$`)},
	{"full", regexp.MustCompile(`^` + at8 + `\[Full GC \((` + full + `)\) ` + at8 + `\[CMS: ` + sizes + `, ` + s7 + `\] ` + sizes + `, \[CMS Perm : ` + sizes + `\], ` + s7 + `\]$`)},
	{"initial", regexp.MustCompile(`^` + at8 + `\[GC \(CMS Initial Mark\) \[1 CMS-initial-mark: ` + size + `\] ` + size + `, ` + s7 + `\]$`)},
	{"remark", regexp.MustCompile(`^` + at8 + `\[GC \(CMS Final Remark\) \[YG occupancy: (\d{1,10}) K \((\d{1,10}) K\)\]` + at8 + `\[Rescan \(parallel\) , ` + s7 + `\]` +
		at8 + `\[weak refs processing, 0\.0000000 secs\] \[1 CMS-remark: ` + size + `\] ` + size + `, ` + s7 + `\]$`)},
	{"begin", regexp.MustCompile(`^` + at8 + `\[CMS-concurrent-(mark|sweep|reset)-start\]$`)},
	{"end", regexp.MustCompile(`^` + at8 + `\[CMS-concurrent-(mark|sweep|reset): (\d+\.\d{3})/(\d+\.\d{3}) secs\]$`)},
}

// match finds what kind of line it is.
func match(kinds []kind, line string) (string, []string) {
	for _, k := range kinds {
		if m := k.FindStringSubmatch(line); m != nil {
			return k.name, m[1:]
		}
	}
	return "", nil
}

// heap is before, after and capacity in KiB.
type heap struct{ before, after, cap int64 }

func heapOf(m []string) heap { return heap{number(m[0]), number(m[1]), number(m[2])} }
func (h heap) String() string {
	return fmt.Sprintf("%dK->%dK(%dK)", h.before, h.after, h.cap)
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err) // the expressions let only digits through
	}
	return n
}

// fixed returns a decimal number without its dot.
func fixed(s string) int64 { return number(strings.Replace(s, ".", "", 1)) }

// A jdkPause is a pause as a log shows it.
type jdkPause struct {
	number            int64 // -1: the format has none
	name              string
	start             int64 // milliseconds
	duration          int64 // in the unit of the format
	young, old, total heap
	pools             bool // young and old are there
}

// jdkLog is what is in a log.
type jdkLog struct {
	pauses []jdkPause
	events int // pauses, and begins and ends of phases
}

// A reading is a log while it is checked.
type reading struct {
	jdkLog
	t        *testing.T
	format   string
	coverage coverage
	line     int
	text     string
	lag      int64 // date less uptime
	latest   int64 // time of the last pause's start, or of the last phase's begin or end
	failures int

	phase      string // that is open
	phaseStart int64
	phaseGC    int64
	ended      int // phases
}

func (r *reading) errorf(format string, args ...any) {
	r.t.Helper()
	if r.failures++; r.failures <= 5 {
		r.t.Errorf("%s line %d: %s\n\t%s", r.format, r.line+1, fmt.Sprintf(format, args...), r.text)
	}
}

// at reads the date and the uptime of a line in milliseconds: they run alike.
func (r *reading) at(m []string) int64 {
	d, err := time.Parse("2006-01-02T15:04:05.000-0700", m[0])
	if err != nil {
		r.errorf("%v", err)
	}
	at := d.UnixMilli()
	lag := at - fixed(m[1])
	if r.lag == 0 {
		r.lag = lag
	}
	// Both are cut off, at different points.
	if lag-r.lag > 1 || r.lag-lag > 1 {
		r.errorf("the date is %d ms from the uptime, %d at the beginning", lag, r.lag)
	}
	return at
}

// inOrder: garbagecat gives up when a pause begins before the one that it read
// last, GCToolKit warns.
func (r *reading) inOrder(at int64) {
	if at < r.latest {
		r.errorf("%d ms before the line above it", r.latest-at)
	}
	r.latest = max(r.latest, at)
	r.events++
}

func (r *reading) capacities(what string, h heap) {
	if h.cap < h.before || h.cap < h.after {
		r.errorf("%s has a capacity that is too small: %v", what, h)
	}
}

// sums: readers find the old generation as heap less young.
func (r *reading) sums(young, old, total heap) {
	if (heap{young.before + old.before, young.after + old.after, young.cap + old.cap}) != total {
		r.errorf("young %v and old %v are not the heap %v", young, old, total)
	}
	r.capacities("young", young)
	r.capacities("old", old)
	r.capacities("heap", total)
}

func (r *reading) beginPhase(name string, gc, at int64) {
	r.inOrder(at)
	if r.phase != "" {
		r.errorf("%s begins while %s of %d goes on", name, r.phase, r.phaseGC)
	}
	r.phase, r.phaseGC, r.phaseStart = name, gc, at
}

// endPhase: the duration is in units of 1/unit ms.
func (r *reading) endPhase(name string, gc, at, duration, unit int64) {
	r.inOrder(at)
	r.ended++
	open := r.phase
	r.phase = ""
	if open == "" && r.coverage == part && r.ended == 1 {
		return // it began in the file before
	}
	if open != name || r.phaseGC != gc {
		r.errorf("%s of %d ends, open is %q of %d", name, gc, open, r.phaseGC)
		return
	}
	if at < r.phaseStart {
		r.errorf("%s ends before it began", name)
	}
	took := at - r.phaseStart
	if strings.EqualFold(name, "reset") || strings.HasSuffix(name, "Reset") {
		took = 0
	}
	// The least that readers count is one unit.
	if off := duration - took*unit; duration < 1 || off < -unit-1 || off > unit+1 {
		r.errorf("%s took %d/%d ms, the stamps are %d ms apart", name, duration, unit, took)
	}
}

func (r *reading) finish() *jdkLog {
	if r.phase != "" && r.coverage == whole {
		r.errorf("%s of %d has no end", r.phase, r.phaseGC)
	}
	if r.failures > 5 {
		r.t.Errorf("%s: %d more failures", r.format, r.failures-5)
	}
	return &r.jdkLog
}

func lines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// checkUnified holds a log against sections 5 and 6 of spec/java-formats.md.
func checkUnified(t *testing.T, text []byte, c coverage) *jdkLog {
	t.Helper()
	r := &reading{t: t, format: "unified", coverage: c}
	var head int64   // stamp of the head
	var p *jdkPause  // whose group is open
	var end int64    // stamp of the lines at the end of the pause
	var cpu string   // MS of the line before, whose cpu line must follow
	var cpuGC int64  //
	var last string  // kind of the line before
	var group string // kinds of the lines of the group
	for i, line := range lines(text) {
		r.line, r.text = i, line
		kind, m := match(unifiedKinds, line)
		if kind == "" {
			r.errorf("no known line")
			continue
		}
		at := r.at(m)
		if want := map[int]string{0: "collector", 1: "arguments"}[i]; (i < 2 || kind == "collector" || kind == "arguments") && kind != want {
			r.errorf("is %s at this place", kind)
		}
		switch {
		case i == 0:
			head = at
			continue
		case i == 1 || i == 2:
			// GCToolKit drops older files without a word if the head is earlier than the
			// first event.
			if at != head {
				r.errorf("the head is of %d ms before it", at-head)
			}
			if i == 1 {
				continue
			}
		}
		if strings.Contains(line, "Using") {
			r.errorf("GCViewer takes it for information")
		}
		gc := number(m[2])
		if p != nil && gc != p.number {
			r.errorf("inside the group of %d", p.number)
		}
		if cpu != "" && (kind != "cpu" || gc != cpuGC) {
			r.errorf("the cpu line of %d must be here", cpuGC)
			cpu = ""
		}
		group += " " + kind
		switch kind {
		case "start":
			if p != nil {
				r.errorf("the group of %d has no end", p.number)
			}
			r.inOrder(at)
			p = &jdkPause{number: gc, name: m[3], start: at}
			group, end = kind, 0
			continue
		case "young", "old", "dotnet":
			if kind == "dotnet" {
				checkDotnet(r, m[3])
			}
			switch {
			case p == nil && kind == "dotnet" && last == "cycle":
			case p == nil:
				r.errorf("outside of a group")
			case kind == "young":
				p.young, p.pools = heapOf(m[3:]), true
			case kind == "old":
				p.old = heapOf(m[3:])
			}
		case "pause":
			if p == nil {
				r.errorf("has no start")
				break
			}
			if m[3] != p.name {
				r.errorf("must be %q as its start", p.name)
			}
			p.total, p.duration = heapOf(m[4:]), fixed(m[7])
			if p.pools {
				r.sums(p.young, p.old, p.total)
			}
			r.capacities("heap", p.total)
			if off := (at-p.start)*1000 - p.duration; off < -1001 || off > 1001 {
				r.errorf("began %d ms before", at-p.start)
			}
			if want := unifiedGroups[firstTwo(p.name)]; group != want {
				r.errorf("its group is %q, not %q", group, want)
			}
			if strings.HasSuffix(p.name, "Mark") || strings.HasSuffix(p.name, "Remark") {
				if p.total.before != p.total.after {
					r.errorf("nothing is freed in it")
				}
			}
			r.pauses = append(r.pauses, *p)
			cpu, cpuGC = m[7], gc
		case "cpu":
			if cpu == "" {
				r.errorf("without a line before it")
				break
			}
			if off := fixed(m[3])*10_000 - fixed(cpu); off < -5001 || off > 5001 {
				r.errorf("is not %s ms", cpu)
			}
			cpu, p = "", nil
		case "begin":
			if p != nil {
				r.errorf("inside the group of %d", p.number)
			}
			r.beginPhase(m[3], gc, at)
		case "end":
			r.endPhase(m[3], gc, at, fixed(m[4]), 1000)
			cpu, cpuGC = m[4], gc
		case "cycle":
			r.capacities("old", heapOf(m[3:]))
		}
		if p != nil {
			if end != 0 && at != end {
				r.errorf("is not of the end of the pause")
			}
			end = at
		}
		last = kind
	}
	if p != nil || cpu != "" {
		r.errorf("the last group has no end")
	}
	return r.finish()
}

// unifiedGroups are the lines of a pause.
var unifiedGroups = map[string]string{
	"Pause Young":   "start young old dotnet pause",
	"Pause Full":    "start young old dotnet pause",
	"Pause Initial": "start dotnet pause",
	"Pause Remark":  "start pause",
}

func firstTwo(s string) string { return strings.Join(strings.Fields(s)[:2], " ") }

// checkDotnet: readers take parts of this line for their own if they are there.
func checkDotnet(r *reading, text string) {
	for _, bad := range []string{"[gc", "Pause ", "ParNew", "CMS", "Old", "Using", "Concurrent"} {
		if strings.Contains(text, bad) {
			r.errorf("%q is in it", bad)
		}
	}
}

// checkJDK8 holds a log against sections 4 and 6 of spec/java-formats.md.
func checkJDK8(t *testing.T, text []byte, c coverage) *jdkLog {
	t.Helper()
	r := &reading{t: t, format: "jdk8", coverage: c}
	for i, line := range lines(text) {
		r.line, r.text = i, line
		kind, m := match(jdk8Kinds, line)
		if kind == "" {
			r.errorf("no known line")
			continue
		}
		if want := map[int]string{0: "vm", 1: "flags"}[i]; (i < 2 || kind == "vm" || kind == "flags") && kind != want {
			r.errorf("is %s at this place", kind)
		}
		if i < 2 {
			if i == 1 && (!strings.Contains(line, "-XX:+UseConcMarkSweepGC ") || !strings.Contains(line, "-XX:+PrintGCDetails ")) {
				r.errorf("GCToolKit cannot tell the collector")
			}
			continue
		}
		at := r.at(m)
		p := jdkPause{number: -1, start: at}
		again := func(stamp []string) {
			if !slices.Equal(stamp, m[:2]) {
				r.errorf("has two times")
			}
		}
		took := func(seconds ...string) {
			p.duration = fixed(seconds[0])
			for _, s := range seconds {
				if s != seconds[0] {
					r.errorf("has two durations")
				}
			}
		}
		switch kind {
		case "young":
			again(m[3:5])
			p.name, p.young, p.total = "Pause Young ("+m[2]+")", heapOf(m[5:]), heapOf(m[9:])
			took(m[8], m[12])
			p.old = heap{p.total.before - p.young.before, p.total.after - p.young.after, p.total.cap - p.young.cap}
			p.pools = true
			r.sums(p.young, p.old, p.total)
		case "full":
			again(m[3:5])
			p.name, p.old, p.total = "Pause Full ("+m[2]+")", heapOf(m[5:]), heapOf(m[9:])
			took(m[8], m[15])
			p.young = heap{p.total.before - p.old.before, p.total.after - p.old.after, p.total.cap - p.old.cap}
			p.pools = true
			r.sums(p.young, p.old, p.total)
			if perm := heapOf(m[12:]); perm.before > p.old.before || perm.after > p.old.after || perm.cap != max(perm.before, perm.after) {
				r.errorf("the large objects %v are no part of the old generation", perm)
			}
		case "initial":
			p.name = "Pause Initial Mark"
			p.total = heap{number(m[4]), number(m[4]), number(m[5])}
			if old := (heap{number(m[2]), number(m[2]), number(m[3])}); old.before > p.total.before || old.cap > p.total.cap || old.before > old.cap {
				r.errorf("old %v is no part of the heap %v", old, p.total)
			}
			r.capacities("heap", p.total)
			took(m[6])
		case "remark":
			again(m[4:6])
			again(m[7:9])
			p.name = "Pause Remark"
			young := heap{number(m[2]), number(m[2]), number(m[3])}
			old := heap{number(m[9]), number(m[9]), number(m[10])}
			p.total = heap{number(m[11]), number(m[11]), number(m[12])}
			r.sums(young, old, p.total)
			took(m[6], m[13])
		case "begin":
			r.beginPhase(m[2], -1, at)
			continue
		case "end":
			if m[3] != m[4] {
				r.errorf("GCViewer takes the first number, GCToolKit the second")
			}
			r.endPhase(m[2], -1, at, fixed(m[3]), 1)
			continue
		}
		r.inOrder(at)
		r.pauses = append(r.pauses, p)
	}
	return r.finish()
}

// checkJDK holds the pauses of a log against those that the Observer was told:
// all of collections, each with its name, time, sizes and duration, in units of
// so many nanoseconds.
func checkJDK(t *testing.T, c *converted, format string, log *jdkLog, unit int64) {
	t.Helper()
	var told []*gclog.Pause
	var heaps []int64
	for i := range c.pauses {
		if c.pauses[i].GC != nil {
			told, heaps = append(told, &c.pauses[i]), append(heaps, c.heaps[i])
		}
	}
	var sum, want int64
	for _, p := range log.pauses {
		sum += p.duration
	}
	for _, p := range told {
		want += p.Duration
	}
	if off := sum*unit - want; off < -unit*int64(len(told)) || off > unit*int64(len(told)) {
		t.Errorf("%s: the pauses add up to %d ns, told were %d", format, sum*unit, want)
	}
	if len(log.pauses) != len(told) {
		t.Errorf("%s: %d pauses, told were %d", format, len(log.pauses), len(told))
		return
	}
	failures := 0
	for i, p := range told {
		got := &log.pauses[i]
		wrong := func(what string, got, want any) {
			t.Helper()
			if failures++; failures <= 5 {
				t.Errorf("%s: pause %d (#%d): %s is %v, want %v", format, i, p.GC.Number, what, got, want)
			}
		}
		if got.number >= 0 && got.number != int64(p.GC.Number) {
			wrong("number", got.number, p.GC.Number)
		}
		if name := javaName(p); got.name != name {
			wrong("name", got.name, name)
		}
		if d := (p.Duration + unit/2) / unit; got.duration != d {
			wrong("duration", got.duration, d)
		}
		if start := (c.process.Sync.UnixNano() + p.Start) / 1e6; got.start != start {
			wrong("start", got.start, start)
		}
		// The pauses of a background collection carry the last known size.
		if !got.pools && heaps[i] >= 0 && got.total.before != heaps[i] {
			wrong("heap", got.total, heaps[i])
		}
		if !got.pools || !p.GC.HasBefore || !p.GC.HasSizesAfter {
			continue
		}
		if y, o := javaSizes(p.GC); [2]int64{got.young.before, got.young.after} != y || [2]int64{got.old.before, got.old.after} != o {
			wrong("heap", fmt.Sprint("young ", got.young, ", old ", got.old), fmt.Sprint(y, o))
		}
		if p.GC.HasCommittedAfter {
			most := max(got.young.before, got.young.after) + max(got.old.before, got.old.after)
			if want := max(int64(p.GC.CommittedAfter+512)/1024, most); got.total.cap != want {
				wrong("capacity of the heap", got.total.cap, want)
			}
		}
	}
}

// javaName is the name that section 2 and 6 of spec/java-formats.md give a pause.
func javaName(p *gclog.Pause) string {
	induced := p.GC.HasReason && strings.HasPrefix(p.GC.Reason.String(), "Induced")
	low := strings.HasPrefix(p.GC.Reason.String(), "LowMemory") || strings.HasPrefix(p.GC.Reason.String(), "OutOfSpace")
	switch {
	case p.Kind == gclog.PauseInitial:
		return "Pause Initial Mark"
	case p.Kind == gclog.PauseFinal:
		return "Pause Remark"
	case p.GC.Generation < 2 && induced:
		return "Pause Young (System.gc())"
	case p.GC.Generation < 2:
		return "Pause Young (Allocation Failure)"
	case induced:
		return "Pause Full (System.gc())"
	case low:
		return "Pause Full (Last ditch collection)"
	}
	return "Pause Full (Allocation Failure)"
}

// javaSizes are the young and the old generation in KiB, before and after: each
// generation is rounded by itself.
func javaSizes(d *gclog.GCDetails) (young, old [2]int64) {
	for g, x := range d.Generations {
		sum := &old
		if g <= gclog.Gen1 {
			sum = &young
		}
		sum[0] += int64(x.Before+512) / 1024
		sum[1] += int64(x.After+512) / 1024
	}
	return young, old
}

var textLine = regexp.MustCompile(`^(\d\d:\d\d:\d\d\.\d{3}) +(\d+|\?|-) +(?:(\d)->)?(\d|-)  ([a-z]+) +(\S+) +(?:(yes|no|\?) +)?(\d+\.\d{3}|\?) +((?:\d+\.\d{3}\+)*\d+\.\d{3}|\?)(?:$| )`)

// checkText: every pause is shown, in the order of the records, and the columns
// are where the head says.
func checkText(t *testing.T, c *converted) {
	t.Helper()
	var want, got []string
	for i, p := range c.pauses {
		if p.GC == nil {
			want = append(want, fmt.Sprintf("- %s %.3f", p.Kind, float64((c.pauses[i].Duration+500)/1000)/1000))
		}
	}
	for _, d := range c.gcs {
		var parts []string
		for _, p := range d.Pauses {
			parts = append(parts, fmt.Sprintf("%.3f", float64((p.Duration+500)/1000)/1000))
		}
		if len(parts) == 0 {
			parts = []string{"?"}
		}
		name := "?"
		if d.HasNumber {
			name = strconv.FormatUint(uint64(d.Number), 10)
		}
		want = append(want, fmt.Sprintf("%s gen%d %s", name, d.Generation, strings.Join(parts, "+")))
	}
	list := lines(c.outputs["text"].text())
	gaps, shifted, example := 0, 0, ""
	for i, line := range list {
		m := textLine.FindStringSubmatch(line)
		switch {
		case i == 0:
			if !strings.HasPrefix(line, "time ") {
				t.Errorf("text: no head: %s", line)
			}
		case len(line) > 16 && strings.HasPrefix(line[12:], "  ! "):
			gaps++
		case m == nil:
			t.Errorf("text line %d: no known line\n\t%s", i+1, line)
		case m[2] == "-":
			got = append(got, fmt.Sprintf("- %s %s", m[6], m[9]))
		default:
			got = append(got, fmt.Sprintf("%s gen%s %s", m[2], m[4], m[9]))
			if strings.LastIndex(line, " ->") != strings.LastIndex(list[0], " ->") {
				shifted, example = shifted+1, line
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("text: not the pauses that were told: %s", difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
	}
	if shifted > 0 {
		t.Errorf("text: the columns of %d lines are not those of the head:\n\t%s\n\t%s", shifted, list[0], example)
	}
	if gaps != c.gaps {
		t.Errorf("text: %d gaps, told were %d", gaps, c.gaps)
	}
}

// criteo are the columns that Criteo's GcLog has.
const criteo = "StartRelativeMSec,Number,Generation,Type,Reason,IsCompacting,SuspensionDurationInMilliSeconds,PauseDurationInMilliSeconds,FinalPauseDurationInMilliSeconds," +
	"Gen0Size,Gen1Size,Gen2Size,LOHSize,ObjGen0Before,ObjGen1Before,ObjGen2Before,ObjLOHBefore,ObjGen0After,ObjGen1After,ObjGen2After,ObjLOHAfter"

// csvForms are the forms that fields of a column may have, if they are not empty.
var csvForms = map[string]*regexp.Regexp{
	"Type":         regexp.MustCompile(`^(NonConcurrentGC|BackgroundGC|ForegroundGC)$`),
	"Reason":       regexp.MustCompile(`^(AllocSmall|Induced|LowMemory|Empty|AllocLarge|OutOfSpaceSOH|OutOfSpaceLOH|InducedNotForced|Internal|InducedLowMemory|InducedCompacting|LowMemoryHost|PMFullGC|LowMemoryHostBlocking|BgcTuningSOH|BgcTuningLOH|BgcStepping|InducedAggressive)$`),
	"IsCompacting": regexp.MustCompile(`^(True|False)$`),
	"Complete":     regexp.MustCompile(`^(True|False)$`),
	"StartTime":    regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`),
	"Kind":         regexp.MustCompile(`^(blocking|background|foreground)$`),
}

var (
	csvMillis = regexp.MustCompile(`^-?\d+\.\d{3}$`)
	csvNumber = regexp.MustCompile(`^\d+$`)
)

// checkCSV: one row per record, in their order, with the numbers that were told.
func checkCSV(t *testing.T, x *conversion) {
	t.Helper()
	var gcs []*gclog.GCDetails
	byProcess := map[string][]*gclog.GCDetails{}
	var told int64
	parts := int64(0)
	for _, c := range x.processes {
		key := strconv.FormatInt(c.process.ID, 10)
		byProcess[key] = append(byProcess[key], c.gcs...)
		gcs = append(gcs, c.gcs...)
		for _, p := range c.pauses {
			if p.GC != nil {
				told += p.Duration
				parts++
			}
		}
	}
	if len(gcs) == 0 {
		return
	}
	r := csv.NewReader(bytes.NewReader(x.outputs["csv"].text()))
	rows, err := r.ReadAll() // it wants as many fields in each row as in the first
	if err != nil {
		t.Fatal(err)
	}
	columns := rows[0]
	if got := strings.Join(columns[:min(21, len(columns))], ","); got != criteo {
		t.Errorf("csv: the first columns are %s", got)
	}
	if len(rows)-1 != len(gcs) {
		t.Fatalf("csv: %d rows, %d records", len(rows)-1, len(gcs))
	}
	sum := int64(0)
	for i, fields := range rows[1:] {
		row := map[string]string{}
		for c, v := range fields {
			row[columns[c]] = v
			form := csvForms[columns[c]]
			switch {
			case form != nil:
			case strings.HasSuffix(columns[c], "MSec"), strings.HasSuffix(columns[c], "MilliSeconds"):
				form = csvMillis
			default:
				form = csvNumber
			}
			if v != "" && !form.MatchString(v) {
				t.Errorf("csv row %d: %s is %q", i+1, columns[c], v)
			}
		}
		list := byProcess[row["ProcessID"]]
		if len(list) == 0 {
			t.Fatalf("csv row %d: no record is left of process %s", i+1, row["ProcessID"])
		}
		d := list[0]
		byProcess[row["ProcessID"]] = list[1:]
		checkCSVRow(t, i+1, row, d)
		if v := row["PauseDurationInMilliSeconds"]; v != "" {
			sum += fixed(v) * 1000
		}
	}
	if off := sum - told; off < -1000*parts || off > 1000*parts {
		t.Errorf("csv: the pauses add up to %d ns, told were %d", sum, told)
	}
}

func checkCSVRow(t *testing.T, n int, row map[string]string, d *gclog.GCDetails) {
	t.Helper()
	ms := func(ns int64, known bool) string {
		if !known {
			return ""
		}
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 3, 64)
	}
	bytes := func(v uint64, known bool) string {
		if !known {
			return ""
		}
		return strconv.FormatUint(v, 10)
	}
	title := map[bool]string{true: "True", false: "False"}
	g := &d.Generations
	paused := len(d.Pauses) > 0
	for column, want := range map[string]string{
		"Number":                      bytes(uint64(d.Number), d.HasNumber),
		"Generation":                  strconv.Itoa(d.Generation),
		"PauseDurationInMilliSeconds": ms(d.Pause(), paused), "SuspensionDurationInMilliSeconds": ms(d.Suspend(), paused),
		"FinalPauseDurationInMilliSeconds": ms(d.FinalPause(), paused && d.Kind == gclog.KindBackground),
		"Gen0Size":                         bytes(g[0].After, d.HasSizesAfter), "Gen1Size": bytes(g[1].After, d.HasSizesAfter),
		"Gen2Size": bytes(g[2].After, d.HasSizesAfter), "LOHSize": bytes(g[3].After, d.HasSizesAfter),
		"ObjGen0Before": bytes(g[0].ObjectsBefore, d.HasHistory), "ObjGen1Before": bytes(g[1].ObjectsBefore, d.HasHistory),
		"ObjGen2Before": bytes(g[2].ObjectsBefore, d.HasHistory), "ObjLOHBefore": bytes(g[3].ObjectsBefore, d.HasHistory),
		"ObjGen0After": bytes(g[0].ObjectsAfter, d.HasHistory), "ObjGen1After": bytes(g[1].ObjectsAfter, d.HasHistory),
		"ObjGen2After": bytes(g[2].ObjectsAfter, d.HasHistory), "ObjLOHAfter": bytes(g[3].ObjectsAfter, d.HasHistory),
		"HeapBefore": bytes(d.SizeBefore(), d.HasBefore), "HeapAfter": bytes(d.SizeAfter(), d.HasSizesAfter),
		"Promoted": bytes(d.PromotedBytes, d.HasPromoted), "Complete": title[d.Complete],
	} {
		got, there := row[column]
		if !there {
			t.Errorf("csv: no column %s", column)
		}
		// The last digit of a half may be rounded either way.
		if a, err := strconv.ParseFloat(got, 64); err == nil && strings.Contains(want, ".") {
			if b, _ := strconv.ParseFloat(want, 64); a-b < 0.0011 && b-a < 0.0011 {
				continue
			}
		}
		if got != want {
			t.Errorf("csv row %d (#%d): %s is %q, want %q", n, d.Number, column, got, want)
		}
	}
}

// paths are the paths of all members of all records with what they are: for a
// shipper a name is a value or an object for ever.
type paths struct {
	mu    sync.Mutex
	kinds map[string]string
	first map[string]string // where they were seen
}

// seenPaths are those of all tests.
var seenPaths = &paths{kinds: map[string]string{}, first: map[string]string{}}

func (p *paths) note(t *testing.T, where, path, kind string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	set := func(path, kind string) {
		if was, there := p.kinds[path]; !there {
			p.kinds[path], p.first[path] = kind, where
		} else if was != kind {
			t.Errorf("%s is of type %s in %s, but %s in %s", path, kind, where, was, p.first[path])
		}
	}
	set(path, kind)
	for i, c := range path { // log.level makes log an object
		if c == '.' {
			set(path[:i], "object")
		}
	}
}

// A member is one value in a record, with the names that lead to it.
type member struct {
	path  string
	value any // string, json.Number, bool, nil
}

// members walks through a record: encoding/json accepts names that occur twice,
// shippers do not.
func members(t *testing.T, where string, line []byte) (top []string, all []member) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	next := func() json.Token {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("%s: %v\n\t%s", where, err, line)
		}
		return token
	}
	var value func(path string, depth int)
	value = func(path string, depth int) {
		token := next()
		switch token := token.(type) {
		case json.Delim:
			if token == '[' {
				seenPaths.note(t, where, path, "array")
				for dec.More() {
					value(path+"[]", depth)
				}
				next()
				return
			}
			if path != "" {
				seenPaths.note(t, where, path, "object")
				path += "."
			}
			seen := map[string]bool{}
			for dec.More() {
				name := next().(string)
				if seen[name] {
					t.Errorf("%s: %s%s occurs twice\n\t%s", where, path, name, line)
				}
				seen[name] = true
				if depth == 0 {
					top = append(top, name)
				}
				value(path+name, depth+1)
			}
			next()
		default:
			kind := fmt.Sprintf("%T", token)
			seenPaths.note(t, where, path, kind)
			all = append(all, member{path, token})
		}
	}
	value("", 0)
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("%s: more than one value: %v\n\t%s", where, err, line)
	}
	return top, all
}

var (
	jsonTime   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$`)
	anyTime    = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
	jsonWhole  = regexp.MustCompile(`\.(bytes|ns|count)$`)
	hexID      = regexp.MustCompile(`^[0-9a-f]{32}$`)
	fileID     = regexp.MustCompile(`"gclog_file_id":"[0-9a-f]{16}"`)
	fileIDHead = regexp.MustCompile(`^\{"gclog_file_id":"[0-9a-f]{16}",`)
	jsonActs   = []string{"gc", "gc-session-start", "gc-session-end", "gc-suspension", "gc-gap", "gc-stall", "gc-settings", "gc-summary", "gc-finding"}
)

// checkRecord holds one record against section 3a of
// spec/users-and-conventions.md and returns its members by path.
func checkRecord(t *testing.T, where string, line []byte) map[string]any {
	t.Helper()
	top, all := members(t, where, line)
	if want := []string{"@timestamp", "log.level", "message", "ecs.version"}; len(top) < 4 || !slices.Equal(top[:4], want) {
		t.Errorf("%s begins with %v, not with %v", where, top[:min(4, len(top))], want)
	}
	byPath := map[string]any{}
	for _, m := range all {
		byPath[m.path] = m.value
		s, _ := m.value.(string)
		n, _ := m.value.(json.Number)
		switch {
		case m.value == nil:
			t.Errorf("%s: %s is null: what is unknown is left out", where, m.path)
		case anyTime.MatchString(s) && !jsonTime.MatchString(s):
			t.Errorf("%s: %s is %q: times have nine decimals and Z", where, m.path, s)
		case jsonWhole.MatchString(m.path) && !csvNumber.MatchString(n.String()):
			t.Errorf("%s: %s is %v: not a whole number", where, m.path, m.value)
		case strings.HasSuffix(m.path, ".pct"):
			if v, err := n.Float64(); err != nil || v < 0 {
				t.Errorf("%s: %s is %v", where, m.path, m.value)
			}
		}
	}
	for path, want := range map[string]any{"event.module": "dotnet", "event.dataset": "dotnet.gc", "log.logger": "gclog", "gclog.schema": "1.0"} {
		if byPath[path] != want {
			t.Errorf("%s: %s is %v, want %v", where, path, byPath[path], want)
		}
	}
	if message, _ := byPath["message"].(string); byPath["event.action"] == "gc" && byPath["dotnet.gc.pause.count"] == nil && strings.Contains(message, "pause") {
		t.Errorf("%s: its pause is not known, its message is %q", where, message)
	}
	if act, _ := byPath["event.action"].(string); !slices.Contains(jsonActs, act) {
		t.Errorf("%s: event.action is %v", where, byPath["event.action"])
	}
	if level := byPath["log.level"]; level != "info" && level != "warn" {
		t.Errorf("%s: log.level is %v", where, level)
	}
	if id, _ := byPath["gclog_doc_id"].(string); !hexID.MatchString(id) {
		t.Errorf("%s: gclog_doc_id is %q", where, id)
	}
	return byPath
}

// checkHeader checks the first line of a JSON file: shippers tell files apart by
// their first 1024 bytes.
func checkHeader(t *testing.T, where string, line []byte) {
	t.Helper()
	top, all := members(t, where, line)
	if want := []string{"gclog_file_id", "@timestamp", "log.level", "message", "ecs.version"}; len(top) < 5 || !slices.Equal(top[:5], want) {
		t.Errorf("%s begins with %v, not with %v", where, top[:min(5, len(top))], want)
	}
	if !fileIDHead.Match(line[:min(64, len(line))]) {
		t.Errorf("%s has no id in its first 64 bytes: %s", where, line[:min(64, len(line))])
	}
	if len(line)+1 < 1100 {
		t.Errorf("%s is only %d bytes long", where, len(line)+1)
	}
	for _, m := range all {
		if s, _ := m.value.(string); anyTime.MatchString(s) && !jsonTime.MatchString(s) {
			t.Errorf("%s: %s is %q: times have nine decimals and Z", where, m.path, s)
		}
		if m.path == "gclog_doc_id" {
			t.Errorf("%s has a gclog_doc_id: it is no fact", where)
		}
		if m.path == "event.action" && m.value != "gc-log-header" {
			t.Errorf("%s: event.action is %v", where, m.value)
		}
	}
}

// checkJSON: every line is a record as shippers want it, and the pauses in them
// add up to those that were told, to the nanosecond.
func checkJSON(t *testing.T, x *conversion, name string) {
	t.Helper()
	var want, sum int64
	records := 0
	for _, c := range x.processes {
		records += len(c.gcs) + c.gaps
		for _, p := range c.pauses {
			want += p.Duration
			if p.GC == nil {
				records++
			}
		}
	}
	if records == 0 {
		return
	}
	list := lines(x.outputs["json"].text())
	checkHeader(t, name+" line 1", []byte(list[0]))
	if len(list)-1 != records {
		t.Errorf("json: %d records, told were %d", len(list)-1, records)
	}
	ids := map[string]int{}
	for i, line := range list[1:] {
		where := fmt.Sprintf("%s line %d", name, i+2)
		byPath := checkRecord(t, where, []byte(line))
		id, _ := byPath["gclog_doc_id"].(string)
		if at := ids[id]; at != 0 {
			t.Errorf("%s has the gclog_doc_id of line %d: a shipper drops it\n\t%s\n\t%s", where, at, list[at-1], line)
		}
		ids[id] = i + 2
		sum += pausesOf(t, where, line)
	}
	if sum != want {
		t.Errorf("json: the pauses add up to %d ns, told were %d", sum, want)
	}
}

// pausesOf adds up the pauses in a record.
func pausesOf(t *testing.T, where, line string) (sum int64) {
	t.Helper()
	var r struct {
		Dotnet struct {
			GC struct {
				Suspension struct{ NS int64 }
				Pause      struct {
					Total struct{ NS int64 }
					Count int
					Parts []struct{ NS int64 }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	p := &r.Dotnet.GC.Pause
	for _, part := range p.Parts {
		sum += part.NS
	}
	if sum != p.Total.NS || len(p.Parts) != p.Count {
		t.Errorf("%s: %d parts of %d ns in all, its total is %d parts of %d ns", where, len(p.Parts), sum, p.Count, p.Total.NS)
	}
	return sum + r.Dotnet.GC.Suspension.NS
}

// difference shows the first lines in which two texts differ, of long lines the
// part that does.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := 0
	if i < len(a) && i < len(b) {
		for from < len(a[i]) && from < len(b[i]) && a[i][from] == b[i][from] {
			from++
		}
	}
	from = max(0, from-80)
	var s strings.Builder
	fmt.Fprintf(&s, "%d lines, want %d; line %d from byte %d on:", len(a), len(b), i+1, from)
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"got ", a}, {"want", b}} {
		for j := i; j < min(i+3, len(side.lines)); j++ {
			line := side.lines[j][min(from, len(side.lines[j])):]
			fmt.Fprintf(&s, "\n%s %s", side.sign, line[:min(240, len(line))])
		}
	}
	return s.String()
}

// goldenLines is how many lines of a format a golden file has at most.
var goldenLines = map[string]int{"json": 12, "csv": 30, "text": 60, "unified": 60, "jdk8": 60}

// TestGolden holds the begin of four recordings in all formats against the files
// of testdata/golden: what changes there is seen by users. GCLOG_UPDATE=1 writes
// them anew.
func TestGolden(t *testing.T) {
	golden := []string{"core31-svr-induced", "net10-datas-bgc", "net10-wks-oom", "net9-wks-attach"}
	for _, tr := range shared.Repository(t) {
		if !slices.Contains(golden, tr.Name) {
			continue
		}
		x := convert(shared.Read(t, tr.Path), everything, nil)
		for _, f := range formats.All() {
			t.Run(tr.Name+"."+f.Name, func(t *testing.T) {
				text := x.processes[0].outputs[f.Name].text()
				list := bytes.SplitAfter(text, []byte("\n"))
				got := bytes.Join(list[:min(len(list), goldenLines[f.Name])], nil)
				got = fileID.ReplaceAll(got, []byte(`"gclog_file_id":"0123456789abcdef"`))
				path := filepath.Join("testdata", "golden", tr.Name+"."+f.Name)
				if os.Getenv("GCLOG_UPDATE") != "" {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("%v: write it with GCLOG_UPDATE=1", err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("not as in %s: %s", path, difference(string(got), string(want)))
				}
			})
		}
	}
}

// someone is a process of which everything is known.
func someone() gclog.Process {
	p := gclog.Process{
		ID: 4711, Name: "MyApp", CommandLine: "dotnet MyApp.dll", EntryAssembly: "MyApp", Service: "shop", RuntimeVersion: "10.0.14",
		Flavor: "CoreCLR", OS: "linux", Architecture: "x86_64", Cookie: "1b8a56c0-0000-4000-8000-4a4f5c9e0001",
		Started: time.Date(2026, 11, 5, 9, 59, 58, 250_000_000, time.UTC), StartKey: 4242, Executable: "/usr/bin/dotnet", User: "app", ContainerID: "0123456789ab",
		Server: gclog.Yes, Concurrent: gclog.No, HeapCount: 4, GCLibrary: "libclrgc.so", HasLimits: true,
		Sync: time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC), UptimeAtSync: 1750 * time.Millisecond,
	}
	fill(reflect.ValueOf(&p.Limits).Elem())
	return p
}

// written is what a format makes of what is written: the head and the records.
func written(t *testing.T, format string, o formats.Options, write func(w *formats.Writer)) (head string, records []string) {
	t.Helper()
	f, err := formats.Find(format)
	if err != nil {
		t.Fatal(err)
	}
	out := &memory{}
	w := formats.NewWriter(f, out, o)
	write(w)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	if len(out.files) == 0 {
		return "", nil
	}
	from := out.files[0].groups[0]
	text := string(out.files[0].text)
	return strings.TrimSuffix(text[:from], "\n"), lines([]byte(text[from:]))
}

// TestJSONRecords holds the records that are no collection against their shapes
// in section 3a.2 of spec/users-and-conventions.md.
func TestJSONRecords(t *testing.T) {
	const hour = int64(time.Hour)
	open := gclog.Open{Kind: gclog.OpenGC, Since: hour - 1e9, Ticks: 77, Number: 17, HasNumber: true, Generation: 2, Type: clr.TypeBackground, Reason: clr.ReasonAllocLarge, HasReason: true}
	for _, c := range []struct {
		name  string
		write func(w *formats.Writer)
		want  map[string]any
	}{
		{
			"start", func(w *formats.Writer) {
				w.Start(&formats.Start{At: hour, Ticks: 1, NextNumber: 17, Providers: "Microsoft-Windows-DotNETRuntime:0x1:4"})
			},
			map[string]any{
				"event.action": "gc-session-start", "dotnet.gc.number": 17, "dotnet.runtime.version": "10.0.14", "dotnet.gc.settings.server": true,
				"dotnet.gc.settings.concurrent": false, "gclog.providers": "Microsoft-Windows-DotNETRuntime:0x1:4",
			},
		},
		{
			"end exited", func(w *formats.Writer) {
				w.End(&formats.End{At: hour, Ticks: 1, Reason: formats.EndExited, ExitCode: -1, HasCode: true})
			},
			map[string]any{"event.action": "gc-session-end", "event.reason": "exited", "process.exit_code": -1, "process.pid": 4711},
		},
		{
			"end killed", func(w *formats.Writer) { w.End(&formats.End{At: hour, Ticks: 2, Reason: formats.EndKilled}) },
			map[string]any{"event.reason": "killed", "process.exit_code": nil},
		},
		{
			"end detached", func(w *formats.Writer) { w.End(&formats.End{At: hour, Ticks: 3, Reason: formats.EndDetached}) },
			map[string]any{"event.reason": "detached"},
		},
		{
			"end broken", func(w *formats.Writer) {
				w.End(&formats.End{At: hour, Ticks: 4, Reason: formats.EndStreamError, Message: "a \"block\"\nof 7 bytes"})
			},
			map[string]any{"event.reason": "stream-error", "log.level": "warn", "error.message": "a \"block\"\nof 7 bytes"},
		},
		{
			"suspension", func(w *formats.Writer) {
				w.Pause(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: hour, Duration: 1234567, Suspend: 4567}, Ticks: 5, UsedNumber: 18})
			},
			map[string]any{
				"event.action": "gc-suspension", "event.duration": 1234567, "dotnet.gc.suspension.kind": "no-gc-region",
				"dotnet.gc.suspension.ns": 1234567, "dotnet.gc.suspension.suspend.ns": 4567,
			},
		},
		{
			"long suspension", func(w *formats.Writer) {
				w.Pause(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown, Start: hour, Duration: 300e6}, Ticks: 6})
			},
			map[string]any{"log.level": "warn", "dotnet.gc.suspension.kind": "unknown"},
		},
		{
			"lost events", func(w *formats.Writer) {
				w.Gap(&gclog.Gap{Reason: gclog.GapLostEvents, Time: hour, Ticks: 7, LostEvents: 5})
			},
			map[string]any{
				"event.action": "gc-gap", "log.level": "warn", "dotnet.gc.gap.reason": "lost-events", "dotnet.gc.gap.lost_events.count": 5,
				"dotnet.gc.gap.from": nil, "dotnet.gc.gap.to": nil,
			},
		},
		{
			"missed collections", func(w *formats.Writer) {
				w.Gap(&gclog.Gap{Reason: gclog.GapMissedGCs, Time: hour, Ticks: 8, From: 3, To: 4})
			},
			map[string]any{"dotnet.gc.gap.reason": "missed-gcs", "dotnet.gc.gap.from": 3, "dotnet.gc.gap.to": 4},
		},
		{
			"reattached", func(w *formats.Writer) { w.Gap(&gclog.Gap{Reason: gclog.GapReattached, Time: hour, Ticks: 9}) },
			map[string]any{"dotnet.gc.gap.reason": "reattached"},
		},
		{
			"queue full", func(w *formats.Writer) {
				w.Gap(&gclog.Gap{Reason: gclog.GapQueueFull, Time: hour, Ticks: 10, Records: 6})
			},
			map[string]any{"dotnet.gc.gap.reason": "queue-full", "dotnet.gc.gap.records.count": 6},
		},
		{
			"stalled collection", func(w *formats.Writer) { w.Stall(&gclog.Stall{Open: open, Now: hour + 500, Threshold: 1e9}) },
			map[string]any{
				"event.action": "gc-stall", "log.level": "warn", "dotnet.gc.stall.kind": "gc", "dotnet.gc.stall.since": "2026-11-05T10:59:59.000000000Z",
				"dotnet.gc.stall.ns": 1_000_000_500, "dotnet.gc.stall.threshold.ns": 1_000_000_000,
				"dotnet.gc.number": 17, "dotnet.gc.generation": 2, "dotnet.gc.type": "background", "dotnet.gc.reason": "AllocLarge",
			},
		},
		{
			"stalled suspension", func(w *formats.Writer) {
				w.Stall(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenSuspension, Since: hour - 1e9, Ticks: 77}, Now: hour + 500, Threshold: 1e9})
			},
			map[string]any{"dotnet.gc.stall.kind": "suspension", "dotnet.gc.stall.ns": 1_000_000_500, "dotnet.gc.number": nil, "dotnet.gc.type": nil},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, records := written(t, "json", formats.Options{Process: someone(), Version: "1.0", Session: "s", Host: "node-1"}, c.write)
			checkHeader(t, c.name+" head", []byte(head))
			if len(records) != 1 {
				t.Fatalf("%d records", len(records))
			}
			byPath := checkRecord(t, c.name, []byte(records[0]))
			for path, want := range c.want {
				got := byPath[path]
				if n, ok := got.(json.Number); ok {
					got = n.String()
				}
				if n, ok := want.(int); ok {
					want = strconv.Itoa(n)
				}
				if got != want {
					t.Errorf("%s is %v, want %v\n\t%s", path, got, want, records[0])
				}
			}
			for path, want := range map[string]any{
				"process.entity_id": someone().Cookie, "process.name": "MyApp", "process.executable": "/usr/bin/dotnet",
				"service.name": "shop", "host.name": "node-1", "container.id": "0123456789ab", "gclog.session.id": "s",
			} {
				if byPath[path] != want {
					t.Errorf("%s is %v, want %v", path, byPath[path], want)
				}
			}
		})
	}
}

// TestDocumentIDs: an id is that of a fact, in whatever session it was seen.
func TestDocumentIDs(t *testing.T) {
	id := func(o formats.Options, write func(w *formats.Writer)) (ids []string) {
		_, records := written(t, "json", o, write)
		for _, r := range records {
			ids = append(ids, regexp.MustCompile(`"gclog_doc_id":"([0-9a-f]{32})"`).FindStringSubmatch(r)[1])
		}
		return ids
	}
	a := formats.Options{Process: someone(), Session: "a", Host: "node-1"}
	later := a
	later.Session, later.Version = "b", "2.0"
	later.Process.Sync = a.Process.Sync.Add(time.Minute)
	restarted := a
	restarted.Process.Cookie = "1b8a56c0-0000-4000-8000-4a4f5c9e0002"
	old, oldRestarted, oldElsewhere := a, a, a // .NET Core 3.1 has no cookie
	old.Process.Cookie, oldRestarted.Process.Cookie, oldElsewhere.Process.Cookie = "", "", ""
	oldRestarted.Process.StartKey++
	oldElsewhere.Host = "node-2"

	gc := func(number uint32) func(w *formats.Writer) {
		return func(w *formats.Writer) { w.GC(&gclog.GCDetails{Number: number, HasNumber: true}) }
	}
	if x, y := id(a, gc(5)), id(later, gc(5)); x[0] != y[0] {
		t.Errorf("a collection has the ids %s and %s in two sessions", x[0], y[0])
	}
	seen := map[string]string{}
	note := func(what string, ids []string) {
		for _, id := range ids {
			if was := seen[id]; was != "" {
				t.Errorf("%s has the id of %s: a shipper drops it", what, was)
			}
			seen[id] = what
		}
	}
	note("collection 5", id(a, gc(5)))
	note("collection 6", id(a, gc(6)))
	note("collection 5 of another runtime with that pid", id(restarted, gc(5)))
	note("collection 5 of 3.1", id(old, gc(5)))
	note("collection 5 of 3.1, restarted", id(oldRestarted, gc(5)))
	note("collection 5 of 3.1 on another host", id(oldElsewhere, gc(5)))
	for _, ticks := range []int64{5, 6} {
		note("suspension", id(a, func(w *formats.Writer) {
			w.Pause(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown}, Ticks: ticks})
		}))
	}
	for _, threshold := range gclog.StallThresholds {
		note("stall", id(a, func(w *formats.Writer) { w.Stall(&gclog.Stall{Threshold: threshold}) }))
	}
	// The losses of all threads are told at one point of the stream.
	note("a loss", id(a, func(w *formats.Writer) {
		w.Gap(&gclog.Gap{Reason: gclog.GapLostEvents, Time: 9, Ticks: 9, Since: 3, LostEvents: 5})
	}))
	note("the loss of another thread", id(a, func(w *formats.Writer) {
		w.Gap(&gclog.Gap{Reason: gclog.GapLostEvents, Time: 9, Ticks: 9, Since: 4, LostEvents: 70})
	}))
}

// hostile is what a target may call itself.
const hostile = "My\"App\\ (young)][gc\x1b[31m\n\t\x00\x7f\u0085\u2028\xff{}\u00e9\U0001f600"

// fill gives everything in v a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	case reflect.String:
		v.SetString(hostile)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				fill(f)
			}
		}
	}
}

// TestEverything writes records in which everything is there, also what no
// runtime sends together: they come from a target that is not trusted.
func TestEverything(t *testing.T) {
	for _, kind := range []gclog.Kind{gclog.KindBlocking, gclog.KindBackground, gclog.KindForeground} {
		for _, generation := range []int{0, 1, 2, 255} {
			d := &gclog.GCDetails{}
			fill(reflect.ValueOf(d).Elem())
			d.Kind, d.Generation, d.GenerationCount, d.TimingCount = kind, generation, gclog.Generations, clr.Times
			d.Flaws = ^gclog.Flaw(0)
			d.Global.Mechanisms, d.Global.Condemned = ^d.Global.Mechanisms, ^d.Global.Condemned
			d.Reason, d.Global.PauseMode = 99, 99
			d.Datas.Tuning.MedianThroughputCost = float32(math.NaN())
			for i := range d.Heaps {
				d.Heaps[i].History.Generations = gclog.Generations
			}
			o := formats.Options{Process: someone(), Version: hostile, Session: hostile, Host: hostile}
			name := fmt.Sprintf("%v gen%d", kind, generation)
			head, records := written(t, "json", o, func(w *formats.Writer) { w.GC(d) })
			checkHeader(t, name+" head", []byte(head))
			checkRecord(t, name, []byte(records[0]))
			head, records = written(t, "csv", o, func(w *formats.Writer) { w.GC(d) })
			if rows, err := csv.NewReader(strings.NewReader(head + "\n" + records[0] + "\n")).ReadAll(); err != nil || len(rows) != 2 {
				t.Errorf("csv: %d rows: %v", len(rows), err)
			}
			if _, records = written(t, "text", o, func(w *formats.Writer) { w.GC(d) }); len(records) != 1 {
				t.Errorf("text: %d lines", len(records))
			}
		}
	}
}

// TestHostileFacts: whatever a process calls itself, a log stays one of its kind.
func TestHostileFacts(t *testing.T) {
	p := someone()
	for _, s := range []*string{&p.Name, &p.Service, &p.RuntimeVersion, &p.Flavor, &p.Architecture, &p.Cookie, &p.Executable, &p.ContainerID, &p.GCLibrary} {
		*s = hostile
	}
	p.Name = strings.Repeat(hostile, 100)
	o := formats.Options{Process: p, Host: hostile, Version: hostile, Session: hostile}
	pause := &gclog.Pause{PausePart: gclog.PausePart{Duration: 1e6}, GC: &gclog.GCDetails{Number: 1, HasNumber: true}}
	write := func(w *formats.Writer) {
		w.Start(&formats.Start{Providers: hostile})
		w.Pause(pause)
		w.End(&formats.End{Reason: formats.EndStreamError, Message: hostile, HasCode: true})
	}
	for format, check := range map[string]func(*testing.T, []byte, coverage) *jdkLog{"unified": checkUnified, "jdk8": checkJDK8} {
		head, records := written(t, format, o, write)
		if log := check(t, []byte(head+"\n"+strings.Join(records, "\n")+"\n"), whole); len(log.pauses) != 1 {
			t.Errorf("%s: %d pauses", format, len(log.pauses))
		}
		if !regexp.MustCompile(`^[\n -~]*$`).MatchString(head) || len(head) > 4096 {
			t.Errorf("%s: a head of %d bytes: %q", format, len(head), head)
		}
	}
	head, records := written(t, "json", o, write)
	checkHeader(t, "head", []byte(head))
	for i, r := range records {
		byPath := checkRecord(t, fmt.Sprintf("record %d", i), []byte(r))
		if want := string([]rune(p.Name)); byPath["process.name"] != want {
			t.Errorf("process.name is %q", byPath["process.name"])
		}
	}
	_, records = written(t, "text", o, write)
	if text := strings.Join(records, ""); strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("text: %q", text)
	}
}

// TestOpenPhases: a phase whose end was not seen is ended when its collection is
// given up, or the log ends: readers wait for it. The lines stay in order.
func TestOpenPhases(t *testing.T) {
	const ms = int64(time.Millisecond)
	background := &gclog.GCDetails{Number: 5, HasNumber: true, Generation: 2, Type: clr.TypeBackground, Kind: gclog.KindBackground}
	pause := func(w *formats.Writer, n uint32, kind gclog.PauseKind, start int64) {
		d := &gclog.GCDetails{Number: n, HasNumber: true, Kind: gclog.KindForeground}
		if kind != gclog.PauseBlocking {
			d = background
		}
		w.Pause(&gclog.Pause{PausePart: gclog.PausePart{Kind: kind, Start: start, Duration: ms}, GC: d})
	}
	ends := map[string]func(w *formats.Writer){
		"given up": func(w *formats.Writer) {
			d := background.Clone()
			d.Flaws = gclog.FlawNoEnd
			w.GC(d)
			pause(w, 7, gclog.PauseBlocking, 90*ms)
		},
		"ended unseen": func(w *formats.Writer) {
			d := background.Clone()
			d.End, d.HasEnd, d.HasSizesAfter = 80*ms, true, true
			w.GC(d)
			pause(w, 7, gclog.PauseBlocking, 90*ms)
		},
		"end of the log": func(w *formats.Writer) { w.End(&formats.End{At: 100 * ms, Reason: formats.EndExited}) },
	}
	for name, end := range ends {
		for _, kind := range []gclog.PhaseKind{gclog.PhaseMark, gclog.PhaseSweep} {
			for format, check := range map[string]func(*testing.T, []byte, coverage) *jdkLog{"unified": checkUnified, "jdk8": checkJDK8} {
				t.Run(fmt.Sprint(format, " ", kind, " ", name), func(t *testing.T) {
					head, records := written(t, format, formats.Options{Process: someone()}, func(w *formats.Writer) {
						pause(w, 5, gclog.PauseInitial, 10*ms)
						w.Phase(&gclog.Phase{Kind: kind, Start: 11 * ms, Time: 11 * ms, GC: background})
						pause(w, 6, gclog.PauseBlocking, 50*ms)
						end(w)
					})
					log := check(t, []byte(head+"\n"+strings.Join(records, "\n")+"\n"), whole)
					if len(log.pauses) < 2 {
						t.Errorf("%d pauses", len(log.pauses))
					}
				})
			}
		}
	}
}

// TestCauses: the words for why, also of reasons that no recording has.
func TestCauses(t *testing.T) {
	for reason := range clr.Reason(20) {
		for _, generation := range []int{0, 1, 2} {
			d := &gclog.GCDetails{Number: 1, HasNumber: true, Reason: reason, HasReason: true, Generation: generation}
			p := &gclog.Pause{GC: d}
			_, records := written(t, "jdk8", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Pause(p) })
			kind := map[bool]string{true: "Pause Full (", false: "Pause Young ("}[generation == 2]
			java := strings.TrimSuffix(strings.TrimPrefix(javaName(p), kind), ")")
			if !strings.Contains(records[0], "GC ("+java+") ") {
				t.Errorf("%v of gen%d must be %s: %s", reason, generation, java, records[0])
			}
			// With --causes dotnet only letters: digits and brackets lose the event.
			_, records = written(t, "unified", formats.Options{Process: someone(), DotnetCauses: true}, func(w *formats.Writer) { w.Pause(p) })
			want := reason.String()
			if !reason.Known() {
				want = "Other"
			}
			if !regexp.MustCompile(`^[A-Za-z]+$`).MatchString(want) || !strings.HasSuffix(records[0], kind+want+")") {
				t.Errorf("%v of gen%d: %s", reason, generation, records[0])
			}
		}
	}
}
