package formats

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The fields of a collection's JSON record.

func (j *jsonFormat) gc(dst []byte, d *gclog.GCDetails, lost uint64) []byte {
	at := d.PauseStart()
	o := j.begin(dst, d, !d.Complete || d.PauseMax() >= j.longPause(),
		func(b []byte) []byte { return appendMessage(b, d) })
	j.event(&o, "event", "gc")
	started := d.Flaws&gclog.FlawNoStart == 0
	if started {
		j.time(&o, "start", d.Start)
	}
	if d.Known.Has(gclog.GroupEnd) {
		j.time(&o, "end", d.End)
	}
	if started && d.Known.Has(gclog.GroupEnd) {
		o.int("duration", d.Duration())
	}
	if d.Known.Has(gclog.GroupNumber) {
		o.uint("sequence", uint64(d.Number))
	}
	o.close()
	j.openProcess(&o, at)
	appendMemory(&o, &d.Memory)
	j.closeProcess(&o)
	o.open("gc")
	j.record, j.lost = o, lost
	j.fields(&j.record, d)
	o = j.record
	o.close()
	o.close()
	return j.rest(&o)
}

// appendMemory appends the memory of the process and its control group.
func appendMemory(o *object, m *gclog.Memory) {
	if m.Resident > 0 {
		o.open("memory")
		o.bytes("rss", m.Resident)
		o.close()
	}
	if m.Cgroup|m.CgroupLimit == 0 {
		return
	}
	o.open("cgroup")
	o.open("memory")
	if m.Cgroup > 0 {
		o.bytes("usage", m.Cgroup)
	}
	if m.CgroupLimit > 0 {
		o.bytes("limit", m.CgroupLimit)
	}
	o.close()
	o.close()
}

// appendMessage appends one human-readable line, of words that need no escaping.
func appendMessage(b []byte, d *gclog.GCDetails) []byte {
	b = append(b, "GC"...)
	if d.Known.Has(gclog.GroupNumber) {
		b = append(b, ' ')
		b = appendUint(b, uint64(d.Number))
	}
	b = append(b, " gen"...)
	b = strconv.AppendInt(b, int64(d.Generation), 10)
	if d.KindKnown() {
		b = append(b, ' ')
		b = append(b, d.Kind.String()...)
	}
	if d.Known.Has(gclog.GroupReason) {
		b = append(b, " ("...)
		b = append(b, d.Reason.String()...)
		b = append(b, ')')
	}
	if d.HeapDump {
		b = append(b, " for a heap snapshot"...)
	}
	if len(d.Pauses) > 0 {
		b = append(b, ": pause "...)
		b = appendMillis(b, d.Pause())
		b = append(b, " ms"...)
	}
	if d.Known.Has(gclog.GroupBefore) && d.Known.Has(gclog.GroupAfter) {
		b = append(b, ", heap "...)
		b = appendBytes(b, d.SizeBefore())
		b = append(b, " -> "...)
		b = appendBytes(b, d.SizeAfter())
	}
	return b
}

// A jsonStep writes a field of the record.
type jsonStep struct {
	get    func(*gclog.GCDetails) (uint64, bool)
	unit   fields.Unit
	place  int    // differs from that of the step before if its object does
	object string // the path of the object that it is in, with a point behind each name
	open   string // what is in front of the value
	nested bool   // the value is in an object of its own, whose only member is named after the unit
	text   func(*gclog.GCDetails) string
	code   func(j *jsonFormat, o *object, d *gclog.GCDetails)
	absent func(*gclog.GCDetails) bool // whether this and the others of its object are unknown
	others int                         // how many those are
}

// jsonSteps returns what writes a record, in order.
var jsonSteps = sync.OnceValue(func() (steps []jsonStep) {
	for _, f := range fields.All() {
		code := jsonCode[f.JSON]
		if f.JSON == "" || f.Get == nil && f.Text == nil && code == nil {
			continue // it is not in json, or the code of the one before writes it
		}
		dot := strings.LastIndexByte(f.JSON, '.') + 1
		x := jsonStep{
			get:    f.Get,
			unit:   f.Unit,
			text:   f.Text,
			code:   code,
			object: f.JSON[:dot],
			open:   `"` + f.JSON[dot:] + `":`,
		}
		if unit := jsonUnits[f.Unit]; unit != "" {
			x.open, x.nested = x.open+`{"`+unit+`":`, true
		}
		if n := len(steps); n > 0 && steps[n-1].object == x.object {
			x.place = steps[n-1].place
		} else {
			x.place = n + 1
		}
		steps = append(steps, x)
	}
	for object, absent := range jsonAbsent {
		first := slices.IndexFunc(steps, func(x jsonStep) bool { return strings.HasPrefix(x.object, object) })
		steps[first].absent = absent
		for _, x := range steps[first+1:] {
			if strings.HasPrefix(x.object, object) {
				steps[first].others++
			}
		}
	}
	return steps
})

// jsonUnits are the names of units.
var jsonUnits = map[fields.Unit]string{
	fields.Count: "count", fields.Bytes: "bytes", fields.Nanoseconds: "ns",
	fields.WholePercent: "pct", fields.Percent: "pct", fields.ExactPercent: "pct",
}

// jsonAbsent reports whether an object is left out, whatever is known of its fields. That also saves
// asking each of them.
var jsonAbsent = map[string]func(*gclog.GCDetails) bool{
	"heap.": unsized, "gen0.": unsized, "gen1.": unsized, "gen2.": unsized, "loh.": unsized, "poh.": unsized,
	"alloc_rate.":   func(d *gclog.GCDetails) bool { return !d.Known.Has(gclog.GroupAllocated) },
	"finalization.": func(d *gclog.GCDetails) bool { return !d.Known.Has(gclog.GroupFinalizationCount) },
	"background.":   func(d *gclog.GCDetails) bool { return d.Background == nil },
	"cpu.":          func(d *gclog.GCDetails) bool { return d.CPU == gclog.CPUShortage{} },
	"datas.":        func(d *gclog.GCDetails) bool { return d.Known&gclog.GroupsDatas == 0 },
}

// unsized reports whether nothing is known of sizes.
func unsized(d *gclog.GCDetails) bool {
	return !d.Known.Has(gclog.GroupBefore) && !d.Known.Has(gclog.GroupAfter)
}

// jsonCode writes what is no plain field, by the path of its first part. If that has a value, code
// comes first.
var jsonCode = map[string]func(j *jsonFormat, o *object, d *gclog.GCDetails){
	"reason_group":                        (*jsonFormat).reasonGroup,
	"server":                              (*jsonFormat).ofProcess,
	"mechanisms[]":                        (*jsonFormat).mechanisms,
	"pause.parts[].start":                 (*jsonFormat).parts,
	"hard_limit":                          (*jsonFormat).hardLimit,
	"condemned.initial":                   (*jsonFormat).condemned,
	"heaps[].numbers[]":                   (*jsonFormat).heaps,
	"mark.*.longest":                      (*jsonFormat).marks,
	"background.concurrent_mark":          (*jsonFormat).background,
	"background.alloc_waits.list[].start": (*jsonFormat).waits,
	"loh_compaction.plan":                 (*jsonFormat).largeObjects,
	"dynamic_events[].time":               (*jsonFormat).dynamic,
	"flaws[]":                             (*jsonFormat).flaws,
	"lost_events.count":                   (*jsonFormat).lostEvents,
}

// fields writes the fields of a collection.
func (j *jsonFormat) fields(o *object, d *gclog.GCDetails) {
	place := 0
	for i := 0; i < len(j.steps); i++ {
		x := &j.steps[i]
		if x.absent != nil && x.absent(d) {
			i += x.others
			continue
		}
		if x.code != nil {
			x.code(j, o, d)
			place = 0
		}
		if x.text != nil {
			if text := x.text(d); text != "" {
				o.enter(x.object)
				place = x.place
				o.b = appendJSONString(o.member(x.open), text)
			}
		}
		if x.get == nil {
			continue
		}
		v, known := x.get(d)
		if !known {
			continue
		}
		if x.place != place {
			o.enter(x.object)
			place = x.place
		}
		b := o.member(x.open)
		b = j.appendValue(b, x.unit, v)
		if x.nested {
			b = append(b, '}')
		}
		o.b = b
	}
	o.enter("")
}

// appendValue appends a value that is no text.
func (j *jsonFormat) appendValue(dst []byte, u fields.Unit, v uint64) []byte {
	switch u {
	case fields.Flag:
		return strconv.AppendBool(dst, v != 0)
	case fields.Number, fields.Count, fields.Bytes, fields.PlainBytes:
		return appendUint(dst, v)
	case fields.Signed:
		return strconv.AppendInt(dst, int64(v), 10)
	case fields.Date:
		return j.appendValue(dst, fields.Time, v-uint64(j.clock.sync))
	case fields.Time:
		return append(j.clock.appendClock(append(dst, '"'), int64(v), 9), 'Z', '"')
	case fields.WholePercent:
		return strconv.AppendFloat(dst, float64(v)/100, 'f', 4, 64)
	case fields.Percent:
		return strconv.AppendFloat(dst, math.Float64frombits(v)/100, 'f', 4, 64)
	case fields.ExactPercent:
		return appendRatio(dst, math.Float64frombits(v)/100)
	case fields.Ratio:
		return appendRatio(dst, math.Float64frombits(v))
	}
	return appendUint(dst, uint64(max(0, int64(v)))) // a duration
}

func (j *jsonFormat) reasonGroup(o *object, d *gclog.GCDetails) {
	if d.Known.Has(gclog.GroupReason) {
		o.enter("")
		o.text("reason_group", ReasonGroup(d.Reason))
	}
}

// ReasonGroups are the groups of reasons.
var ReasonGroups = []string{"allocation", "induced", "low_memory", "other"}

// ReasonGroup returns the group of a reason.
func ReasonGroup(r clr.Reason) string {
	switch {
	case r.Induced():
		return "induced"
	case lowMemory(r):
		return "low_memory"
	case r == clr.ReasonAllocSmall, r == clr.ReasonAllocLarge:
		return "allocation"
	}
	return "other"
}

// ofProcess writes what the process says about all of its collections.
func (j *jsonFormat) ofProcess(o *object, _ *gclog.GCDetails) {
	o.enter("")
	o.members(j.mode)
}

func (j *jsonFormat) hardLimit(o *object, _ *gclog.GCDetails) {
	if p := &j.o.Process; p.HasLimits && p.Limits.HardLimit > 0 {
		o.enter("")
		o.bytes("hard_limit", p.Limits.HardLimit)
	}
}

func (j *jsonFormat) mechanisms(o *object, d *gclog.GCDetails) {
	if d.Known.Has(gclog.GroupGlobal) {
		o.enter("")
		j.names = d.Global.Mechanisms.Names(j.names[:0])
		o.strings("mechanisms", j.names)
	}
}

func (j *jsonFormat) flaws(o *object, d *gclog.GCDetails) {
	if d.Flaws != 0 {
		o.enter("")
		j.names = d.Flaws.Names(j.names[:0])
		o.strings("flaws", j.names)
	}
}

func (j *jsonFormat) lostEvents(o *object, d *gclog.GCDetails) {
	lost := j.lost
	within := d.LostEvents != lost && d.Flaws&gclog.FlawLostEvents != 0
	if lost == 0 && !within {
		return
	}
	o.enter("lost_events.")
	o.uint("count", lost)
	if within {
		o.uint("within", d.LostEvents)
	}
}

func (j *jsonFormat) parts(o *object, d *gclog.GCDetails) {
	if len(d.Pauses) == 0 {
		return
	}
	o.enter("pause.")
	o.openList("parts")
	for i := range d.Pauses {
		p := &d.Pauses[i]
		o.openElement()
		j.time(o, "start", p.Start)
		o.nsIf("suspend", p.Suspend, p.HasSuspend)
		o.nsIf("resume", p.Resume, p.HasResume)
		o.int("ns", p.Duration)
		o.text("kind", p.Kind.String())
		o.close()
	}
	o.closeList()
}

func (j *jsonFormat) condemned(o *object, d *gclog.GCDetails) {
	steps, conditions, known := d.Condemned()
	if !known {
		return
	}
	o.enter("condemned.")
	j.reasons(o, steps, conditions)
	if d.Global.HasCondemned && d.ReportedHeaps() > 0 {
		j.names = d.Global.Condemned.Names(j.names[:0])
		o.strings("for_all", j.names)
	}
}

// reasons writes why a generation was condemned.
func (j *jsonFormat) reasons(o *object, steps clr.CondemnedGenerations, conditions clr.Condemned) {
	o.int("initial", int64(steps.Initial()))
	o.int("final", int64(steps.Final()))
	o.int("budget_exceeded", int64(steps.BudgetExceeded()))
	o.int("time_tuning", int64(steps.TimeTuning()))
	j.names = conditions.Names(j.names[:0])
	o.strings("reasons", j.names)
}

// heaps writes the heaps' reasons, grouping heaps with the same ones: with many heaps most have the
// same.
func (j *jsonFormat) heaps(o *object, d *gclog.GCDetails) {
	same := func(a, b gclog.HeapReasons) bool {
		a.Heap = b.Heap
		return a == b
	}
	opened := false
next:
	for i := range d.ReportedHeaps() {
		r, known := d.HeapReasons(i)
		if !known {
			continue
		}
		for before := range i {
			if x, known := d.HeapReasons(before); known && same(x, r) {
				continue next
			}
		}
		if !opened {
			o.enter("")
			o.openList("heaps")
			opened = true
		}
		o.openElement()
		o.name("numbers")
		o.b = append(o.b, '[')
		for k := i; k < d.ReportedHeaps(); k++ {
			if x, known := d.HeapReasons(k); known && same(x, r) {
				if k > i {
					o.b = append(o.b, ',')
				}
				o.b = appendUint(o.b, uint64(x.Heap))
			}
		}
		o.b = append(o.b, ']')
		j.reasons(o, r.CondemnedGenerations, r.Condemned)
		o.textIf("compact", r.Compact.CompactReason())
		o.textIf("expand", r.Expand.ExpandReason())
		o.close()
	}
	if opened {
		o.closeList()
	}
}

func (j *jsonFormat) marks(o *object, d *gclog.GCDetails) {
	for t := range clr.MarkTypes {
		m := d.Mark(t)
		if !m.Known {
			continue
		}
		o.enter("mark.")
		o.open(fields.Roots[t])
		o.ns("longest", m.Longest)
		if !m.Unsized {
			o.bytes("promoted", m.Promoted)
		}
		if m.HasHeap {
			o.int("heap", int64(m.Heap))
		}
		if m.Imbalance > 0 {
			o.ratio("imbalance", m.Imbalance)
		}
		if d.Known.Has(gclog.GroupTicks) {
			j.markTimes(o, d, t)
		}
		o.close()
	}
}

// markTimes writes how long each heap took to mark from one kind of root. They are many on large
// machines, so only records of level full have them, which is where allocation ticks come from. A
// single heap is the slowest one.
func (j *jsonFormat) markTimes(o *object, d *gclog.GCDetails, t clr.MarkType) {
	j.times = d.MarkTimes(j.times[:0], t)
	if len(j.times) < 2 {
		return
	}
	o.openList("times")
	for _, x := range j.times {
		o.openElement()
		o.uint("heap", uint64(x.Heap))
		o.int("ns", x.Duration)
		o.close()
	}
	o.closeList()
}

// background opens the object of a background collection, which may be empty.
func (j *jsonFormat) background(o *object, d *gclog.GCDetails) {
	if d.Background != nil {
		o.enter("background.")
	}
}

// waits writes the allocation waits that were kept.
func (j *jsonFormat) waits(o *object, d *gclog.GCDetails) {
	if d.Background == nil || d.Background.WaitCount <= 0 || len(d.Background.Waits) == 0 {
		return
	}
	o.enter("background.alloc_waits.")
	o.openList("list")
	for i := range d.Background.Waits {
		w := &d.Background.Waits[i]
		o.openElement()
		j.time(o, "start", w.Start)
		o.int("ns", max(0, w.Duration))
		o.uint("thread", w.Thread)
		o.uint("reason", uint64(w.Reason))
		o.close()
	}
	o.closeList()
}

// largeObjects writes the cost of compacting large objects in the slowest heap.
func (j *jsonFormat) largeObjects(o *object, d *gclog.GCDetails) {
	if len(d.LOHCompactions) == 0 {
		return
	}
	var most clr.LOHCompact
	for _, c := range d.LOHCompactions {
		most.PlanMicroseconds = max(most.PlanMicroseconds, c.PlanMicroseconds)
		most.RelocateMicroseconds = max(most.RelocateMicroseconds, c.RelocateMicroseconds)
		most.CompactMicroseconds = max(most.CompactMicroseconds, c.CompactMicroseconds)
		most.TotalRefs += c.TotalRefs
	}
	o.enter("loh_compaction.")
	o.ns("plan", int64(most.PlanMicroseconds)*1000)
	o.ns("relocate", int64(most.RelocateMicroseconds)*1000)
	o.ns("compact", int64(most.CompactMicroseconds)*1000)
	o.count("references", most.TotalRefs)
}

func (j *jsonFormat) dynamic(o *object, d *gclog.GCDetails) {
	if len(d.Dynamic) == 0 {
		return
	}
	o.enter("")
	o.openList("dynamic_events")
	for i := range d.Dynamic {
		e := &d.Dynamic[i]
		o.openElement()
		j.time(o, "time", e.Time)
		o.text("name", e.Name)
		o.name("data")
		o.b = append(o.b, '"')
		o.b = hex.AppendEncode(o.b, e.Data)
		o.b = append(o.b, '"')
		o.close()
	}
	o.closeList()
}
