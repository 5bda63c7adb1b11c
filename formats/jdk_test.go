package formats_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
)

// A kind is a kind of line with the only form that it may have.
type kind struct {
	name string
	*regexp.Regexp
}

var unifiedKinds = []kind{
	{"collector", regexp.MustCompile(stamp + `\[gc\] Using Concurrent Mark Sweep$`)},
	{"arguments", regexp.MustCompile(stamp + `\[gc,init\] VM Arguments: \.NET` + plain + ` workers[a-z ]*$`)},
	{"process", regexp.MustCompile(stamp + `\[gc,init\]         DotNet: [a-z_]+=[A-Za-z0-9 .:_/=-]+(?:, [a-z_]+=[A-Za-z0-9 .:_/=-]+)*, workers=(?:\d+|unknown)$`)},
	{"start", regexp.MustCompile(stamp + `\[gc,start\] GC\((\d+)\)` + nine + `(Pause (?:Young \((?:` + young + `)\)|Full \((?:` + full + `)\)))$`)},
	{"start", regexp.MustCompile(stamp + `\[gc,start\] GC\((\d+)\) (Pause (?:Initial Mark|Remark))$`)},
	{"young", regexp.MustCompile(stamp + `\[gc,heap\] GC\((\d+)\)` + nine + `ParNew: ` + sizes + `$`)},
	{"old", regexp.MustCompile(stamp + `\[gc,heap\] GC\((\d+)\)` + nine + `CMS: ` + sizes + `$`)},
	{"dotnet", regexp.MustCompile(stamp + `\[gc,stats\] GC\((\d+)\)` + nine + `(DotNet: gen[012] (?:blocking|background|foreground)(?: compacting| sweeping)?(?:, [a-z0-9_]+=[A-Za-z0-9.:>+/-]+)*, workers=(?:\d+|unknown))$`)},
	{"pause", regexp.MustCompile(stamp + `\[gc\] GC\((\d+)\) (Pause [A-Z][^0-9]*) ` + sizes + ` ` + ms + `$`)},
	{"cpu", regexp.MustCompile(stamp + `\[gc,cpu\] GC\((\d+)\) User=0\.00s Sys=0\.00s Real=(\d+\.\d\d)s$`)},
	{"begin", regexp.MustCompile(stamp + `\[gc\] GC\((\d+)\) (Concurrent (?:Mark|Sweep|Reset))$`)},
	{"end", regexp.MustCompile(stamp + `\[gc\] GC\((\d+)\) (Concurrent (?:Mark|Sweep|Reset)) ` + ms + `$`)},
	{"cycle", regexp.MustCompile(stamp + `\[gc,heap\] GC\((\d+)\) Old: ` + sizes + `$`)},
}

const at8 = date + `: ` + up + `: `

// times is the end of a line. Only the time that has passed is known.
const times = ` \[Times: user=0\.00 sys=0\.00, real=(\d+\.\d\d) secs\]$`

var jdk8Kinds = []kind{
	{"vm", regexp.MustCompile(`^OpenJDK 64-Bit Server VM \(\.NET` + plain + `\) for linux-amd64 JRE \(1\.8\.0_0-dotnet\), built on [A-Z][a-z]{2} [ \d]\d \d{4} \d\d:\d\d:\d\d .+$`)},
	{"flags", regexp.MustCompile(`^CommandLine flags: (?:-XX:\+[A-Za-z]+ )+$`)},
	{"young", regexp.MustCompile(`^` + at8 + `\[GC \((` + young + `)\) ` + at8 + `\[ParNew: ` + sizes + `, ` + s7 + `\] ` + sizes + `, ` + s7 + `\]` + times)},
	{"full", regexp.MustCompile(`^` + at8 + `\[Full GC \((` + full + `)\) ` + at8 + `\[CMS: ` + sizes + `, ` + s7 + `\] ` + sizes + `, \[CMS Perm : ` + sizes + `\], ` + s7 + `\]` + times)},
	{"initial", regexp.MustCompile(`^` + at8 + `\[GC \(CMS Initial Mark\) \[1 CMS-initial-mark: ` + size + `\] ` + size + `, ` + s7 + `\]` + times)},
	{"remark", regexp.MustCompile(`^` + at8 + `\[GC \(CMS Final Remark\) \[YG occupancy: (\d{1,10}) K \((\d{1,10}) K\)\]` + at8 + `\[Rescan \(parallel\) , ` + s7 + `\]` +
		at8 + `\[weak refs processing, 0\.0000000 secs\] \[1 CMS-remark: ` + size + `\] ` + size + `, ` + s7 + `\]` + times)},
	{"begin", regexp.MustCompile(`^` + at8 + `\[CMS-concurrent-(mark|sweep|reset)-start\]$`)},
	{"end", regexp.MustCompile(`^` + at8 + `\[CMS-concurrent-(mark|sweep|reset): (\d+\.\d{3})/(\d+\.\d{3}) secs\]` + times)},
}

// match returns the kind of a line and its fields.
func match(kinds []kind, line string) (string, []string) {
	for _, k := range kinds {
		if m := k.FindStringSubmatch(line); m != nil {
			return k.name, m[1:]
		}
	}
	return "", nil
}

// heap is the sizes before and after, and the capacity, in KiB.
type heap struct{ before, after, cap int64 }

func heapOf(m []string) heap { return heap{number(m[0]), number(m[1]), number(m[2])} }
func (h heap) String() string {
	return fmt.Sprintf("%dK->%dK(%dK)", h.before, h.after, h.cap)
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err) // the expressions match only digits
	}
	return n
}

// fixed returns a decimal number without its decimal point.
func fixed(s string) int64 { return number(strings.Replace(s, ".", "", 1)) }

// A jdkPause is a pause as it appears in a log.
type jdkPause struct {
	number            int64 // -1: the format does not contain it
	name              string
	start             int64 // milliseconds
	duration          int64 // in the unit of the format
	young, old, total heap
	pools             bool // young and old are known
}

// jdkLog is the contents of a log.
type jdkLog struct {
	pauses []jdkPause
	phases []jdkPhase
	events int   // pauses, and starts and ends of phases
	lag    int64 // date minus uptime, in milliseconds
}

// A jdkPhase is a concurrent phase as it appears in a log.
type jdkPhase struct {
	name       string // mark, sweep, reset
	start, end int64  // milliseconds
	duration   int64  // in the format's unit for phases
}

// A reading is the state of checking a log.
type reading struct {
	jdkLog
	t        *testing.T
	format   string
	coverage coverage
	line     int
	text     string
	latest   int64 // time of the last pause's start, or of the last phase's start or end
	failures int

	phase      string // open phase, if any
	phaseStart int64
	phaseGC    int64
	ended      int // number of phases that ended
}

func (r *reading) errorf(format string, args ...any) {
	r.t.Helper()
	if r.failures++; r.failures <= 5 {
		r.t.Errorf("%s line %d: %s\n\t%s", r.format, r.line+1, fmt.Sprintf(format, args...), r.text)
	}
}

// at reads the date and the uptime of a line in milliseconds: their difference is constant.
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
	// Both are truncated, at different points.
	if lag-r.lag > 1 || r.lag-lag > 1 {
		r.errorf("the date is %d ms from the uptime, %d at the beginning", lag, r.lag)
	}
	return at
}

// inOrder checks the order of lines: if a pause starts before the one read last, garbagecat gives
// up and GCToolKit warns.
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

// sums checks the sums: readers compute the old generation as heap minus young.
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

// endPhase ends a phase; duration is in units of 1/unit ms.
func (r *reading) endPhase(name string, gc, at, duration, unit int64) {
	r.inOrder(at)
	r.ended++
	open := r.phase
	r.phase = ""
	if open == "" && r.coverage == part && r.ended == 1 {
		return // it started in the previous file
	}
	if open != name || r.phaseGC != gc {
		r.errorf("%s of %d ends, open is %q of %d", name, gc, open, r.phaseGC)
		return
	}
	if at < r.phaseStart {
		r.errorf("%s ends before it began", name)
	}
	words := strings.FieldsFunc(name, func(c rune) bool { return c == ' ' || c == '-' })
	r.phases = append(r.phases, jdkPhase{strings.ToLower(words[len(words)-1]), r.phaseStart, at, duration})
	took := at - r.phaseStart
	if strings.EqualFold(name, "reset") || strings.HasSuffix(name, "Reset") {
		took = 0
	}
	// Readers count at least one unit.
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

// checkUnified checks a log against sections 5 and 6 of spec/java-formats.md.
func checkUnified(t *testing.T, text []byte, c coverage) *jdkLog {
	t.Helper()
	r := &reading{t: t, format: "unified", coverage: c}
	var head int64   // stamp of the header
	var p *jdkPause  // the pause whose group is open
	var end int64    // stamp of the lines at the end of the pause
	var cpu string   // MS of the previous line, whose cpu line must follow
	var cpuGC int64  //
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
		if kind == "process" {
			continue // belongs to no group
		}
		switch {
		case i == 0:
			head = at
			continue
		case i == 1 || i == 2:
			// GCToolKit silently drops older files if the header is earlier than the first event.
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
			case p == nil && kind == "dotnet": // of a background collection
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
	}
	if p != nil || cpu != "" {
		r.errorf("the last group has no end")
	}
	return r.finish()
}

// unifiedGroups are the lines of each kind of pause.
var unifiedGroups = map[string]string{
	"Pause Young":   "start young old dotnet pause",
	"Pause Full":    "start young old dotnet pause",
	"Pause Initial": "start pause",
	"Pause Remark":  "start pause",
}

func firstTwo(s string) string { return strings.Join(strings.Fields(s)[:2], " ") }

// checkDotnet checks that the line contains none of the words that make readers interpret parts of
// it as their own.
func checkDotnet(r *reading, text string) {
	for _, bad := range []string{"[gc", "Pause ", "ParNew", "CMS", "Old", "Using", "Concurrent"} {
		if strings.Contains(text, bad) {
			r.errorf("%q is in it", bad)
		}
	}
}

// checkJDK8 checks a log against sections 4 and 6 of spec/java-formats.md.
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
		real := func(duration, unit int64) { // the last field
			if off := fixed(m[len(m)-1])*1e7 - duration*unit; off < -5e6 || off > 5e6 {
				r.errorf("has the real time %s, not %d ns", m[len(m)-1], duration*unit)
			}
		}
		took := func(seconds ...string) {
			p.duration = fixed(seconds[0])
			real(p.duration, 100)
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
			real(fixed(m[3]), 1e6)
			continue
		}
		r.inOrder(at)
		r.pauses = append(r.pauses, p)
	}
	return r.finish()
}

// checkJDK compares the pauses of a log with those passed to the Observer: all pauses of
// collections, each with its name, time, sizes and duration. unit is the unit of durations in
// nanoseconds.
func checkJDK(t *testing.T, c *converted, format string, log *jdkLog, unit int64) {
	t.Helper()
	var pauses []*gclog.Pause
	var heaps []int64
	for i := range c.pauses {
		if c.pauses[i].GC != nil {
			pauses, heaps = append(pauses, &c.pauses[i]), append(heaps, c.heaps[i])
		}
	}
	var sum, want int64
	for _, p := range log.pauses {
		sum += p.duration
	}
	for _, p := range pauses {
		want += p.Duration
	}
	if off := sum*unit - want; off < -unit*int64(len(pauses)) || off > unit*int64(len(pauses)) {
		t.Errorf("%s: the pauses add up to %d ns, want %d", format, sum*unit, want)
	}
	if len(log.pauses) != len(pauses) {
		t.Errorf("%s: %d pauses, want %d", format, len(log.pauses), len(pauses))
		return
	}
	failures := 0
	for i, p := range pauses {
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
		// The pauses of a background collection have the last known size.
		if !got.pools && heaps[i] >= 0 && got.total.before != heaps[i] {
			wrong("heap", got.total, heaps[i])
		}
		if !got.pools || !p.GC.Known.Has(gclog.GroupBefore) || !p.GC.Known.Has(gclog.GroupAfter) {
			continue
		}
		if y, o := javaSizes(p.GC); [2]int64{got.young.before, got.young.after} != y || [2]int64{got.old.before, got.old.after} != o {
			wrong("heap", fmt.Sprint("young ", got.young, ", old ", got.old), fmt.Sprint(y, o))
		}
		if p.GC.Known.Has(gclog.GroupCommittedAfter) {
			most := max(got.young.before, got.young.after) + max(got.old.before, got.old.after)
			if want := max(int64(p.GC.CommittedAfter+512)/1024, most); got.total.cap != want {
				wrong("capacity of the heap", got.total.cap, want)
			}
		}
	}
}

// javaName returns the name that sections 2 and 6 of spec/java-formats.md give to a pause.
func javaName(p *gclog.Pause) string {
	induced := p.GC.Known.Has(gclog.GroupReason) && strings.HasPrefix(p.GC.Reason.String(), "Induced")
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

// javaSizes returns the young and the old generation in KiB, before and after: each generation is
// rounded separately.
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
