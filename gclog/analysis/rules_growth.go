package analysis

import (
	"fmt"
	"strconv"

	"github.com/gclog/gclog/gclog"
)

func growthRules() []Rule {
	return []Rule{
		{
			Number: 15, ID: "memory-growth", Title: "Retained memory grows", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%/h", 20, "growth per hour, by linear regression over the sizes"},
				{"count", "", 5, "minimum number of gen2 collections"},
				{"span", "ns", 600e9, "minimum time from the first to the last of them"},
				{"floor", "bytes", 10e6, "smaller growth in that time is ignored"},
				{"quick", "bytes", 100e6, "smaller growth in a shorter time is ignored"},
			},
			Sample:      "gen2 collections according to the thresholds; at least 3, or a shorter time, if they rise steadily and by a fifth or more",
			Evidence:    "objects in gen2 and the large object heap after each gen2 collection, without free space; least squares",
			Explanation: "Objects that survive gen2 collections again and again are in use, or retained by mistake. A rising straight line that fits (it explains at least half of the variation) looks like a leak; so do a cache that fills up and a program that has just started.",
			Advice:      "Compare two heap snapshots, an hour apart, at the same load: gclog heap snapshot, then gclog heap diff, and gclog heap suspects of the later one. Look for static collections, event handlers that are not removed, caches without a limit, timers. handle-leak reports growing numbers of handles.",
			Basis:       BasisMicrosoft, lasting: true, running: true,
			judge: func(l limits) judge {
				return &growth{
					l: l, what: "gen2 and large objects", unit: "bytes", name: "objects", of: func(x *judgedGC) (low, high float64, known bool) {
						objects := float64(x.Generations[gclog.Gen2].ObjectsAfter + x.Generations[gclog.LOH].ObjectsAfter)
						return objects, objects, x.HasHistory
					}, why: "no gen2 collection reports the surviving objects, which the heap histories contain",
					closer: "gclog gc %s --wait shows what remains after a full collection",
				}
			},
		},
		{
			Number: 22, ID: "handle-leak", Title: "The number of GC handles grows", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%/h", 10, "growth per hour, by linear regression over the counts"},
				{"count", "", 5, "minimum number of gen2 collections"},
				{"span", "ns", 600e9, "minimum time from the first to the last of them"},
				{"floor", "", 10000, "fewer handles at the end of that time are ignored"},
				{"quick", "", 20000, "smaller growth in a shorter time is ignored"},
			},
			Sample:      "gen2 collections according to the thresholds; at least 3, or a shorter time, if they rise steadily and by a fifth or more",
			Evidence:    "GC handles after each gen2 collection, where the count is exact; least squares",
			Explanation: "Every collection examines each handle (strong, weak, pinned, dependent). Handles that are created and not freed slow down all collections, and the objects they refer to may never be freed.",
			Advice:      "Look for GCHandle.Alloc without Free, for WeakReference and ConditionalWeakTable entries created per request, for timers, and for native libraries with callbacks. In a dump, gchandles of dotnet-dump counts them by kind and type.",
			Basis:       BasisHeuristic, lasting: true, running: true,
			judge: func(l limits) judge {
				return &growth{
					l: l, what: "GC handles", name: "handles", end: true, of: func(x *judgedGC) (low, high float64, known bool) {
						handles := float64(x.Handles)
						return handles, handles, x.HasHandles
					}, why: "no gen2 collection reports the number of handles",
					closer: "gclog gc %s --wait -f json shows how many remain after a full collection",
				}
			},
		},
		{
			Number: 27, ID: "native-growth", Title: "Memory outside the GC heap grows", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%/h", 20, "growth per hour, by linear regression over the sizes"},
				{"count", "", 10, "minimum number of collections that report it"},
				{"span", "ns", 600e9, "minimum time from the first to the last of them"},
				{"floor", "bytes", 50e6, "smaller growth in that time is ignored"},
				{"quick", "bytes", 200e6, "smaller growth in a shorter time is ignored"},
			},
			Sample:      "collections according to the thresholds; at least 3, or a shorter time, if it rises steadily and by a fifth or more",
			Evidence:    "resident memory of the process (RSS) minus what the GC has committed after a collection, and RSS minus the heap, which must both rise; least squares",
			Explanation: "The process grows, but not because of its objects. Native libraries, malloc buffers, mapped files, thread stacks, code that is compiled again and again: the GC sees none of it, and no heap snapshot shows it. In a container, the process is killed for lack of memory all the same.",
			Advice:      "Find out what grows: pmap -x PID twice, or smaps in /proc. Many blocks of 64 MB are malloc arenas (MALLOC_ARENA_MAX=2); blocks of 8 MB or 1.5 MB are stacks: count the threads. Look for Marshal.AllocHGlobal and NativeMemory.Alloc without a matching free, for objects that are not disposed of (streams, bitmaps, database connections, compression), and for assemblies, regular expressions or expression trees that are compiled for each request. heaptrack or bcc's memleak show what allocates. If finalizer-backlog is found, start there.",
			Basis:       BasisHeuristic, lasting: true, running: true,
			judge: func(l limits) judge { return nativeGrowth(l) },
		},
	}
}

// leastFit is how well a line must fit to count as growth, and surelyFits how well one must fit for
// a smaller sample than the thresholds require: of three values, each must be larger than the
// previous one.
const (
	leastFit   = 0.5
	surelyFits = 0.75
)

// Factors of growth that count although the sample is small, and that are no coincidence.
const (
	grown      = 1.2
	grownGrave = 1.5
)

// growth judges a value after collections that rises.
type growth struct {
	l          limits
	what       string
	name, unit string
	end        bool // floor is for the value at the end, otherwise for its growth
	young      bool // all collections may report it, not only gen2
	// of returns the value. If only its bounds are known, both must rise.
	of     func(*judgedGC) (low, high float64, known bool)
	why    string // why nothing reports it
	closer string // what shows more if there is too little for a trend; %s is the pid
	now    func() (text string, e []Fact)

	live      bool // it covers the last day, otherwise everything
	reported  uint64
	low, high series
	worst     ranking
}

func (j *growth) gc(x *judgedGC) {
	if !x.isGen2 && !j.young {
		return
	}
	low, high, known := j.of(x)
	if !known {
		return
	}
	j.reported++
	at := max(x.Start, x.End)
	j.forget(at)
	j.low.add(at, low)
	j.high.add(at, high)
	j.worst.add(x.GCDetails, low)
}

// forget drops what a live process reported more than a day before a time.
func (j *growth) forget(now int64) {
	if j.live {
		j.low.forget(now - lastDay)
		j.high.forget(now - lastDay)
	}
}

// collections names the collections that report the value.
func (j *growth) collections() string {
	if j.young {
		return "collection"
	}
	return "gen2 collection"
}

func (j *growth) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, j.why
	}
	j.forget(s.to)
	low, high := j.low.line(), j.high.line()
	if low.values < j.l["count"] || float64(low.span) < j.l["span"] {
		return j.early(s, &low, &high)
	}
	matters := min(low.end-low.begin, high.end-high.begin)
	if j.end {
		matters = low.end
	}
	if low.perHour() <= j.l["over"] || low.fit < leastFit || matters <= j.l["floor"] {
		return f, ""
	}
	return j.finding(&low, low.begin, low.end, fmt.Sprintf(": %s", valueText(low.perHour(), "%/h"))), ""
}

// early judges a smaller sample than a trend requires: as a leak grows, gen2 collections become
// rare.
func (j *growth) early(s *stretch, low, high *line) (f Finding, why string) {
	first, last := j.low.ends()
	matters := min(last-first, high.end-high.begin)
	if j.end {
		matters = last
	}
	long := float64(low.span) >= j.l["span"]
	switch {
	case low.values < leastGen2, low.fit <= surelyFits, matters <= j.l["floor"],
		low.span < leastTime, last < grown*first,
		long && low.perHour() <= j.l["over"],
		!long && last-first <= j.l["quick"]:
		why = fmt.Sprintf("needs %.0f %ss over %s, saw %.0f over %s", j.l["count"], j.collections(), durationText(j.l["span"]), low.values, durationText(float64(low.span)))
		if low.values > 0 {
			why += fmt.Sprintf(": %s, then %s", valueText(first, j.unit), valueText(last, j.unit))
		}
		return f, why
	}
	times := ""
	if first > 0 {
		times = fmt.Sprintf(", %s times as much", digits(last/first))
	}
	pid := "PID"
	if s.process.ID != 0 {
		pid = strconv.FormatInt(s.process.ID, 10)
	}
	little := "; this is too little data for a trend"
	if !s.ending.exited() {
		little += ": " + fmt.Sprintf(j.closer, pid)
	}
	f = j.finding(low, first, last, times+little)
	if first > 0 {
		f.Evidence = append(f.Evidence, countFact("growth.times", last/first))
	}
	if last < grownGrave*first {
		f.Severity = Info
	}
	return f, ""
}

func (j *growth) finding(l *line, from, to float64, and string) (f Finding) {
	f.Text = fmt.Sprintf("After %.0f %ss in %s, %s rose from %s to %s%s.",
		l.values, j.collections(), durationText(float64(l.span)), j.what, valueText(from, j.unit), valueText(to, j.unit), and)
	f.GCs = j.worst.numbers()
	f.explains = max(0, 1-quotient(from, to))
	count := "gen2"
	if j.young {
		count = "collections"
	}
	f.Evidence = []Fact{
		countFact(count, l.values), timeFact("span", l.span),
		{Name: j.name + ".begin", Value: from, Unit: j.unit},
		{Name: j.name + ".end", Value: to, Unit: j.unit},
		{Name: "growth", Value: l.perHour(), Unit: "%/h"},
		countFact("fit", l.fit),
	}
	if j.now != nil {
		text, e := j.now()
		f.Text += text
		f.Evidence = append(f.Evidence, e...)
	}
	return f
}

// nativeGrowth judges resident memory beyond what the GC has committed. Not all committed memory
// need be resident: what is not the GC's is at least the memory beyond that, and at most the memory
// beyond the heap, which the program has touched.
func nativeGrowth(l limits) *growth {
	var resident, committed float64
	var read int64
	return &growth{
		l: l, what: "resident memory beyond what the GC had committed", unit: "bytes", name: "other", young: true,
		of: func(x *judgedGC) (low, high float64, known bool) {
			m := &x.Memory
			if m.Resident == 0 || !x.HasCommittedAfter || !x.HasSizesAfter || m.At != 0 && m.At == read {
				return 0, 0, false // if several arrived together, only the first counts
			}
			read, resident, committed = m.At, float64(m.Resident), float64(x.CommittedAfter)
			return max(0, resident-committed), max(0, resident-x.after), true
		},
		why:    "no collection reports both the resident memory of the process and what the GC has committed; live sessions with .NET 8 and later do, and their logs in json and csv",
		closer: "pmap -x %s, now and later, shows what grows",
		now: func() (string, []Fact) {
			return fmt.Sprintf(" RSS was then %s, of which the GC had committed %s.", sizeText(resident), sizeText(committed)),
				[]Fact{bytesFact("rss", resident), bytesFact("committed", committed)}
		},
	}
}
