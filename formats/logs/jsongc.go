package logs

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The members of a line. The fields of a collection go straight into the record, if they can; until
// settleGC its times are nanoseconds since 1970.

// A jsonGC is the fields that are not in the record, or not yet.
type jsonGC struct {
	typeName               []byte
	compacting, compactive bool  // whether it compacted, and whether that is known
	paused, delay          int64 // paused in units of 0.01 %
	hasPaused              bool
	hardLimit              uint64
	forAll                 clr.Condemned
	hasForAll              bool
	lostWithin             uint64
	hasLostWithin          bool

	committed    uint64
	hasCommitted bool

	mark, sweep       int64 // durations of the concurrent phases
	hasMark, hasSweep bool

	newHeaps       uint16 // of DATAS
	hasNewHeaps    bool
	cost, gen2Cost float32

	named bool // the kind, or the reason, of a suspension, stall or gap is one that we know
}

// A jsonNode is a member of an object of the line.
type jsonNode struct {
	name    string
	field   *fields.Field // of a collection
	fact    int           // about the process: the place in fields.Process, from 1
	read    func(l *jsonLine, n *jsonNode, r *record)
	members []jsonNode
}

// jsonMembers returns the object that is the line, with its members in the order in which they are
// written.
var jsonMembers = sync.OnceValue(func() *jsonNode {
	var root jsonNode
	all := fields.All()
	for i := range all {
		if path := all[i].JSON; path != "" {
			root.add("dotnet.gc." + path).field = &all[i]
		}
	}
	for i, f := range fields.Process() {
		if f.Set != nil || f.SetText != nil { // what is derived from others is skipped
			root.add(f.JSON).fact = i + 1
		}
	}
	for _, name := range []string{"server", "concurrent"} { // also in the record of a collection
		root.add("dotnet.gc." + name).fact = fields.FactAt(fields.Settings+name) + 1
	}
	addRows(&root, "dotnet.gc.", fields.Gap(), func(r *record) *gclog.Gap { return &r.Gap })
	addRows(&root, "dotnet.gc.", fields.Suspension(), func(r *record) *gclog.Pause { return &r.Pause })
	addRows(&root, "dotnet.gc.", fields.Stall(), func(r *record) *gclog.Stall { return &r.Stall })
	addRows(&root, "", fields.Verdict(), func(r *record) *gclog.End { return &r.End })
	for path := range jsonCode {
		root.add(path)
	}
	return &root
})

// addRows adds the fields of a record other than a collection, below a path, but for what is derived.
func addRows[R any](root *jsonNode, path string, list []fields.Row[R], of func(*record) *R) {
	for i := range list {
		switch f := &list[i]; {
		case f.SetText != nil:
			root.add(path + f.JSON).read = func(l *jsonLine, _ *jsonNode, r *record) {
				text := l.s.text()
				l.gc.named = f.SetText(of(r), text[:min(len(text), maxText)])
			}
		case f.Set != nil:
			root.add(path + f.JSON).read = func(l *jsonLine, _ *jsonNode, r *record) {
				f.Set(of(r), l.readValue(f.Unit, f.Max))
			}
		}
	}
}

// add adds what is at a path, up to a list, and returns it.
func (n *jsonNode) add(path string) *jsonNode {
	at := 0
	for name := range strings.SplitSeq(path, ".") {
		name, isList := strings.CutSuffix(name, "[]")
		at += len(name) + 1
		i := slices.IndexFunc(n.members, func(m jsonNode) bool { return m.name == name })
		if i < 0 {
			i = len(n.members)
			n.members = append(n.members, jsonNode{name: name, read: jsonCode[path[:at-1]]})
		}
		if n = &n.members[i]; isList {
			break
		}
	}
	return n
}

// member returns the index of a member. It is fast if that is at next, or soon after it.
func (n *jsonNode) member(name []byte, next int) (i int, known bool) {
	for i := next; i < len(n.members); i++ {
		if n.members[i].name == string(name) {
			return i, true
		}
	}
	for i := range next {
		if n.members[i].name == string(name) {
			return i, true
		}
	}
	return 0, false
}

// readObject reads the members of an object.
func (l *jsonLine) readObject(n *jsonNode, r *record) {
	s := &l.s
	next := 0
	for s.object(); s.next(); {
		i, known := n.member(s.key, next)
		if !known {
			s.skip()
			continue
		}
		m := &n.members[i]
		next = i + 1
		switch {
		case m.read != nil:
			m.read(l, m, r)
		case m.fact > 0:
			l.readFact(m.fact - 1)
		case m.field == nil:
			l.readObject(m, r)
		case m.field.Set == nil:
			s.skip() // it is derived from others
		case m.field.Unit == fields.Time:
			l.times = append(l.times, fieldTime{m.field, s.time()})
		default:
			m.field.Set(&r.GC, l.readValue(m.field.Unit, m.field.Max))
		}
	}
}

// A fieldTime is the value of a field that is a time.
type fieldTime struct {
	field *fields.Field
	at    int64
}

// readValue reads a value up to most.
func (l *jsonLine) readValue(u fields.Unit, most uint64) uint64 {
	s := &l.s
	switch u {
	case fields.Bytes:
		return s.unit(`{"bytes":`, most)
	case fields.Nanoseconds:
		return s.unit(`{"ns":`, most)
	case fields.Count:
		return s.unit(`{"count":`, most)
	case fields.Signed:
		return uint64(s.int())
	case fields.Date, fields.Time:
		return uint64(s.time())
	case fields.WholePercent:
		return uint64(l.percent())
	case fields.Percent, fields.ExactPercent:
		return math.Float64bits(s.share())
	case fields.Ratio:
		return math.Float64bits(s.ratio())
	case fields.Flag:
		if s.bool() {
			return 1
		}
		return 0
	}
	return s.uint(most)
}

// jsonCode reads what is in neither table, by its path.
var jsonCode = map[string]func(l *jsonLine, n *jsonNode, r *record){
	"@timestamp":   func(l *jsonLine, _ *jsonNode, _ *record) { l.at, l.hasTime = l.s.time(), true },
	"event.action": func(l *jsonLine, _ *jsonNode, _ *record) { l.action = l.s.text() },
	"event.reason": func(l *jsonLine, _ *jsonNode, _ *record) { l.reason = l.s.text() },
	"event.start":  func(l *jsonLine, _ *jsonNode, _ *record) { l.begin, l.hasBegin = l.s.time(), true },
	"event.end": func(l *jsonLine, _ *jsonNode, r *record) {
		l.end = l.s.time()
		r.GC.Known |= gclog.GroupEnd
	},
	"error.message": func(l *jsonLine, _ *jsonNode, _ *record) { l.message = l.s.text() },
	"labels":        func(l *jsonLine, _ *jsonNode, _ *record) { l.readLabels() },
	"process.uptime": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.uptime = int64(l.s.uint(fields.MaxSpan / uint64(time.Second)))
	},
	"process.exit_code": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.exitCode, l.hasExit = l.s.int(), true
	},
	"process.exit_signal":         func(l *jsonLine, _ *jsonNode, _ *record) { l.signal = l.s.int() },
	"process.memory.rss":          func(l *jsonLine, _ *jsonNode, r *record) { r.GC.Memory.Resident = l.s.bytes() },
	"process.cgroup.memory.usage": func(l *jsonLine, _ *jsonNode, r *record) { r.GC.Memory.Cgroup = l.s.bytes() },
	"process.cgroup.memory.limit": func(l *jsonLine, _ *jsonNode, r *record) { r.GC.Memory.CgroupLimit = l.s.bytes() },
	"gclog.schema":                func(l *jsonLine, _ *jsonNode, _ *record) { l.readSchema() },
	"gclog.providers":             func(l *jsonLine, _ *jsonNode, _ *record) { l.providers = l.s.text() },
	"dotnet.counters":             func(l *jsonLine, _ *jsonNode, r *record) { l.readCounters(&r.Counters) },
	"dotnet.heap":                 func(l *jsonLine, _ *jsonNode, r *record) { l.readHeapGrowth(&r.HeapGrowth) },
	"dotnet.gc": func(l *jsonLine, n *jsonNode, r *record) {
		r.GC.Summary = &r.summary
		l.readObject(n, r)
	},
	"dotnet.gc.settings": func(l *jsonLine, n *jsonNode, r *record) {
		l.hasSettings = true
		l.readObject(n, r)
	},
	"dotnet.gc.type": func(l *jsonLine, _ *jsonNode, _ *record) { l.gc.typeName = l.s.text() },
	"dotnet.gc.reason": func(l *jsonLine, _ *jsonNode, r *record) {
		reason, known := clr.ParseReason(l.s.text())
		r.GC.Reason = reason
		r.GC.Known.Set(gclog.GroupReason, known)
	},
	"dotnet.gc.heap_dump_by": func(l *jsonLine, _ *jsonNode, r *record) {
		r.GC.HeapDumpBy, _ = gclog.ParseRequester(l.s.text())
	},
	"dotnet.gc.compacting": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.compacting, l.gc.compactive = l.s.bool(), true
	},
	"dotnet.gc.mechanisms": func(l *jsonLine, _ *jsonNode, r *record) {
		r.GC.Known |= gclog.GroupGlobal
		readSet(&l.s, &r.GC.Global.Mechanisms, clr.ParseMechanism)
	},
	"dotnet.gc.pause_mode": func(l *jsonLine, _ *jsonNode, r *record) {
		r.GC.Global.PauseMode, r.GC.Global.HasMemoryLoad = clr.ParsePauseMode(l.s.text())
	},
	"dotnet.gc.pause.parts": func(l *jsonLine, _ *jsonNode, r *record) {
		for l.s.list(); l.s.element(); {
			addPause(&r.GC, l.readPause())
		}
	},
	"dotnet.gc.trigger.delay": func(l *jsonLine, _ *jsonNode, _ *record) { l.gc.delay = l.s.ns() },
	"dotnet.gc.paused": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.paused, l.gc.hasPaused = l.s.pct(), true
	},
	"dotnet.gc.heap.committed": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.committed, l.gc.hasCommitted = l.s.bytes(), true
	},
	"dotnet.gc.hard_limit":     func(l *jsonLine, _ *jsonNode, _ *record) { l.gc.hardLimit = l.s.bytes() },
	"dotnet.gc.condemned":      func(l *jsonLine, _ *jsonNode, r *record) { l.readCondemned(&r.GC) },
	"dotnet.gc.heaps":          func(l *jsonLine, _ *jsonNode, r *record) { l.readHeaps(&r.summary) },
	"dotnet.gc.mark":           func(l *jsonLine, _ *jsonNode, r *record) { l.readMarks(r) },
	"dotnet.gc.loh_compaction": func(l *jsonLine, _ *jsonNode, r *record) { l.readLargeObjects(&r.GC) },
	"dotnet.gc.background": func(l *jsonLine, n *jsonNode, r *record) {
		r.GC.Background = &r.background
		l.readObject(n, r)
	},
	"dotnet.gc.background.concurrent_mark": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.mark, l.gc.hasMark = l.s.ns(), true
	},
	"dotnet.gc.background.concurrent_sweep": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.sweep, l.gc.hasSweep = l.s.ns(), true
	},
	"dotnet.gc.background.alloc_waits.list": func(l *jsonLine, _ *jsonNode, r *record) {
		for l.s.list(); l.s.element(); {
			l.readWait(&r.background)
		}
	},
	"dotnet.gc.datas": func(l *jsonLine, n *jsonNode, r *record) {
		l.gc.cost, l.gc.gen2Cost = float32(math.NaN()), float32(math.NaN())
		l.readObject(n, r)
		l.settleDatas(&r.GC)
	},
	"dotnet.gc.datas.new_heaps": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.newHeaps, l.gc.hasNewHeaps = uint16(l.s.uint(math.MaxUint16)), true
	},
	"dotnet.gc.datas.throughput_cost": func(l *jsonLine, _ *jsonNode, _ *record) { l.gc.cost = float32(l.s.share()) },
	"dotnet.gc.datas.gen2_cost": func(l *jsonLine, _ *jsonNode, _ *record) {
		l.gc.gen2Cost = float32(l.s.share())
	},
	"dotnet.gc.dynamic_events": func(l *jsonLine, _ *jsonNode, r *record) { l.readDynamic(&r.GC) },
	"dotnet.gc.flaws": func(l *jsonLine, _ *jsonNode, r *record) {
		readSet(&l.s, &r.GC.Flaws, gclog.ParseFlaw)
	},
	"dotnet.gc.lost_events": func(l *jsonLine, _ *jsonNode, r *record) { l.readLost(&r.GC) },
}

// readSet reads a list of names of bits. A newer gclog may write further names.
func readSet[T ~uint16 | ~uint32](s *scanner, set *T, parse func([]byte) (T, bool)) {
	for s.list(); s.element(); {
		if bit, ok := parse(s.text()); ok {
			*set |= bit
		}
	}
}

func (l *jsonLine) readPause() (p gclog.PausePart) {
	s := &l.s
	known := false
	for s.object(); s.next(); {
		switch string(s.key) {
		case "start":
			p.Start = s.time()
		case "suspend":
			p.Suspend, p.HasSuspend = s.ns(), true
		case "resume":
			p.Resume, p.HasResume = s.ns(), true
		case "ns":
			p.Duration = int64(s.uint(fields.MaxSpan))
		case "kind":
			p.Kind, known = named(s.text(), gclog.PauseUnknown)
		default:
			s.skip()
		}
	}
	if p.Start == 0 || !known {
		s.fail()
	}
	p.Suspend = min(p.Suspend, p.Duration)
	p.Resume = min(p.Resume, p.Duration-p.Suspend)
	return p
}

func (l *jsonLine) readCondemned(d *gclog.GCDetails) {
	s, g := &l.s, &d.Global
	g.HasCondemned = true
	g.CondemnedGenerations = readReasons(s, &g.Condemned, func() {
		if string(s.key) != "for_all" {
			s.skip()
			return
		}
		l.gc.hasForAll = true
		readSet(s, &l.gc.forAll, clr.ParseCondemned)
	})
}

// readReasons reads an object about which generation was condemned and why. rest reads, or skips,
// its other members.
func readReasons(s *scanner, reasons *clr.Condemned, rest func()) clr.CondemnedGenerations {
	var initial, final, budget, tuning int
	for s.object(); s.next(); {
		switch string(s.key) {
		case "initial":
			initial = int(s.uint(3))
		case "final":
			final = int(s.uint(3))
		case "budget_exceeded":
			budget = int(s.uint(3))
		case "time_tuning":
			tuning = int(s.uint(3))
		case "reasons":
			readSet(s, reasons, clr.ParseCondemned)
		default:
			rest()
		}
	}
	return clr.MakeCondemnedGenerations(initial, final, budget, tuning)
}

// maxHeaps is the maximum number of heaps in a record, as in package gclog.
const maxHeaps = 1024

// readHeaps reads the heaps' reasons, with heaps grouped that have the same ones.
func (l *jsonLine) readHeaps(x *gclog.HeapSummary) {
	s := &l.s
	for s.list(); s.element(); {
		first := len(x.Reasons)
		var r gclog.HeapReasons
		r.CondemnedGenerations = readReasons(s, &r.Condemned, func() {
			switch string(s.key) {
			case "numbers":
				for s.list(); s.element(); {
					if heap := uint32(s.uint(math.MaxUint32)); len(x.Reasons) < maxHeaps {
						x.Reasons = append(x.Reasons, gclog.HeapReasons{Heap: heap})
					}
				}
			case "compact":
				r.Compact, _ = clr.ParseCompactReason(s.text())
			case "expand":
				r.Expand, _ = clr.ParseExpandReason(s.text())
			default:
				s.skip()
			}
		})
		for i := first; i < len(x.Reasons); i++ {
			r.Heap = x.Reasons[i].Heap
			x.Reasons[i] = r
		}
	}
}

// readLargeObjects reads the cost of compacting large objects.
func (l *jsonLine) readLargeObjects(d *gclog.GCDetails) {
	s := &l.s
	var c clr.LOHCompact
	micros := func() uint32 { return uint32(s.unit(`{"ns":`, math.MaxUint32*1000) / 1000) }
	for s.object(); s.next(); {
		switch string(s.key) {
		case "plan":
			c.PlanMicroseconds = micros()
		case "relocate":
			c.RelocateMicroseconds = micros()
		case "compact":
			c.CompactMicroseconds = micros()
		case "references":
			c.TotalRefs = s.count(math.MaxUint64)
		default:
			s.skip()
		}
	}
	d.LOHCompactions = append(d.LOHCompactions[:0], c)
}

// readLost reads how many events were lost since the previous record, and how many of them while
// the collection was open: all of them, unless stated otherwise.
func (l *jsonLine) readLost(d *gclog.GCDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "count":
			d.LostEvents = s.uint(math.MaxUint64)
		case "within":
			l.gc.lostWithin, l.gc.hasLostWithin = s.uint(math.MaxUint64), true
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readMarks(r *record) {
	s := &l.s
	for s.object(); s.next(); {
		if t, known := rootOf(s.key); known {
			l.readMark(&r.summary, t)
		} else {
			s.skip()
		}
	}
}

// maxMarkTimes is the maximum number of mark times in a record: those of 400 heaps.
const maxMarkTimes = 4 * maxHeaps

func (l *jsonLine) readMark(x *gclog.HeapSummary, t clr.MarkType) {
	s, m := &l.s, &x.Marks[t]
	m.Known, m.Unsized = true, true
	for s.object(); s.next(); {
		switch string(s.key) {
		case "longest":
			m.Longest = s.ns()
		case "promoted":
			m.Promoted, m.Unsized = s.bytes(), false
		case "heap":
			m.Heap, m.HasHeap = int(s.uint(math.MaxInt32)), true
		case "imbalance":
			m.Imbalance = s.ratio()
		case "times":
			for s.list(); s.element(); {
				if took := l.readMarkTime(t); len(x.MarkTimes) < maxMarkTimes {
					x.MarkTimes = append(x.MarkTimes, took)
				}
			}
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readMarkTime(t clr.MarkType) gclog.MarkTime {
	s := &l.s
	x := gclog.MarkTime{From: t}
	for s.object(); s.next(); {
		switch string(s.key) {
		case "heap":
			x.Heap = uint32(s.uint(math.MaxUint32))
		case "ns":
			x.Duration = int64(s.uint(fields.MaxSpan))
		default:
			s.skip()
		}
	}
	return x
}

// maxWaits is the maximum number of waits in a record, as in package gclog.
const maxWaits = 64

func (l *jsonLine) readWait(b *gclog.BackgroundDetails) {
	s := &l.s
	var w gclog.AllocWait
	for s.object(); s.next(); {
		switch string(s.key) {
		case "start":
			w.Start = s.time()
		case "ns":
			w.Duration = int64(s.uint(fields.MaxSpan))
		case "thread":
			w.Thread = s.uint(math.MaxUint64)
		case "reason":
			w.Reason = uint32(s.uint(math.MaxUint32))
		default:
			s.skip()
		}
	}
	if len(b.Waits) < maxWaits {
		b.Waits = append(b.Waits, w)
	}
}

// settleDatas completes the decisions of DATAS. Those of .NET 8 differ from later ones: no bounds for
// the number of heaps.
func (l *jsonLine) settleDatas(d *gclog.GCDetails) {
	x := &d.Datas
	if d.Known.Has(gclog.GroupDatasTuning) {
		x.Tuning.NewHeaps, x.Tuning.MedianThroughputCost = l.gc.newHeaps, l.gc.cost
	} else if l.gc.hasNewHeaps {
		d.Known |= gclog.GroupDatasTuning8
		x.Tuning8.NewHeaps, x.Tuning8.MedianThroughputCost = l.gc.newHeaps, l.gc.cost
	}
	if d.Known.Has(gclog.GroupDatasFullGCTuning) {
		x.FullGCTuning.MedianGen2Cost = l.gc.gen2Cost
	}
}

// Limits as in package gclog.
const (
	maxDynamic = 16
	maxData    = 1024 // bytes of a dynamic event
)

func (l *jsonLine) readDynamic(d *gclog.GCDetails) {
	s := &l.s
	for s.list(); s.element(); {
		n := len(d.Dynamic)
		switch {
		case n >= maxDynamic:
			s.skip()
			continue
		case n < cap(d.Dynamic): // reuses the memory of an earlier event
			d.Dynamic = d.Dynamic[:n+1]
		default:
			d.Dynamic = append(d.Dynamic, gclog.DynamicEvent{})
		}
		l.readDynamicEvent(&d.Dynamic[n])
	}
}

func (l *jsonLine) readDynamicEvent(e *gclog.DynamicEvent) {
	s := &l.s
	e.Time, e.Data = 0, e.Data[:0]
	var name []byte
	for s.object(); s.next(); {
		switch string(s.key) {
		case "time":
			e.Time = s.time()
		case "name":
			name = s.text()
		case "data":
			e.Data = l.appendHex(e.Data, s.text())
		default:
			s.skip()
		}
	}
	if string(name) != e.Name {
		e.Name = l.names.get(name)
	}
}

func (l *jsonLine) appendHex(dst, digits []byte) []byte {
	for ; len(digits) >= 2 && len(dst) < maxData; digits = digits[2:] {
		high, ok := hexDigit(digits[0])
		low, ok2 := hexDigit(digits[1])
		if !ok || !ok2 {
			l.s.fail()
			break
		}
		dst = append(dst, high<<4|low)
	}
	return dst
}
