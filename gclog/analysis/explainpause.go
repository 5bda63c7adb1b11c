package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Part is a part of a pause, or of the time of a background collection.
type Part struct {
	ID    string   `json:"id"`   // part of gclog's compatibility promise
	Name  string   `json:"name"` // for people
	Time  Number   `json:"time"`
	Share *float64 `json:"pct,omitempty"`   // of the whole pause, 0 to 1; nil: unknown, or not in a pause
	Parts []Part   `json:"parts,omitempty"` // the parts within it. The known ones add up to it
}

// A Root is a kind of root that objects were marked from.
type Root struct {
	Type      clr.MarkType `json:"type"`
	Name      string       `json:"-"`
	Longest   Number       `json:"longest"`        // time of the slowest heap
	Heap      *int         `json:"heap,omitempty"` // number of the slowest heap; nil: unknown
	Imbalance Number       `json:"imbalance"`      // slowest time divided by the mean; 1 is balanced
	Promoted  Number       `json:"promoted"`       // bytes promoted from there, in all heaps
}

// pauseNames are the names of the pauses of a collection with several.
var pauseNames = map[gclog.PauseKind]string{
	gclog.PauseBlocking: "pause",
	gclog.PauseInitial:  "initial pause",
	gclog.PauseFinal:    "final pause",
}

// pause describes how long the program was paused, and for what.
func (x *explainer) pause() {
	d := x.d
	if len(d.Pauses) == 0 {
		x.lacks("how long the program was paused",
			x.whyUnknown("the start or the end of its suspension was not recorded"))
	} else {
		x.pauseParts()
		x.processors()
	}
	x.phases()
	x.roots()
}

// pauseParts describes the pause, and divides it into parts.
func (x *explainer) pauseParts() {
	d := x.d
	background := d.Kind == gclog.KindBackground
	facts := []Fact{timeFact("dotnet.gc.pause.total", d.Pause())}
	var times []string
	for i := range d.Pauses {
		parts := x.divide(i)
		p := &d.Pauses[i]
		if !background && len(d.Pauses) == 1 {
			x.e.Parts = parts
			break
		}
		x.e.Parts = append(x.e.Parts,
			Part{ID: p.Kind.String(), Name: pauseNames[p.Kind], Time: nanoseconds(p.Duration), Parts: parts})
		times = append(times, timeText(p.Duration))
		facts = append(facts, timeFact(fmt.Sprintf("pause.%d.%s", i, p.Kind), p.Duration))
	}
	text := "The program was paused for " + timeText(d.Pause())
	if len(times) > 1 {
		text += " (" + andList(times) + ")"
	}
	if d.Window > 0 {
		text += fmt.Sprintf(", %s of the %s since the previous collection ended",
			valueText(d.PausePercent(), "%"), timeText(d.Window))
		facts = append(facts, percentFact("dotnet.gc.paused", d.PausePercent()), timeFact("window", d.Window))
	}
	share(x.e.Parts, d.Pause())
	x.say(&x.e.Pause, "pause", text+".", facts...)
	switch largest := x.largest(x.e.Parts, ""); {
	case largest.Time.Value <= 0 || largest.Time.Value == float64(d.Pause()):
	case largest.ID == "untold":
		x.because(&x.e.Pause, "largest", fmt.Sprintf("The largest part is unaccounted for: %s.",
			durationText(largest.Time.Value)), []string{largest.ID}, timeFact("largest", largest.Time.Value))
	default:
		x.because(&x.e.Pause, "largest", fmt.Sprintf("The largest part: %s, %s.", largest.Name,
			durationText(largest.Time.Value)), []string{largest.ID}, timeFact("largest", largest.Time.Value))
	}
}

// share fills in the share of the whole pause for each part.
func share(parts []Part, whole int64) {
	for i := range parts {
		if p := &parts[i]; p.Time.Known() && whole > 0 {
			of := p.Time.Value / float64(whole)
			p.Share = &of
		}
		share(parts[i].Parts, whole)
	}
}

// largest returns the largest part, in a background collection with the pause that it is in.
func (x *explainer) largest(parts []Part, of string) (most Part) {
	for _, p := range parts {
		if p.ID == gclog.PauseInitial.String() || p.ID == gclog.PauseFinal.String() {
			p = x.largest(p.Parts, " of the "+p.Name)
		}
		if p.Time.Known() && p.Time.Value > most.Time.Value {
			most = p
			most.Name += of
		}
	}
	return most
}

// nonsense is why a time reported by the runtime is not shown.
const nonsense = "the runtime reported a time longer than the one it is part of, as .NET 8 does for compaction in " +
	"gen1 and gen2"

// A division divides a time into parts.
type division struct {
	x     *explainer
	left  int64 // time that is in no part
	parts []Part
}

// add adds a known part. It cannot be longer than the time that is left.
func (v *division) add(id, name string, ns int64, parts ...Part) {
	if ns < 0 || ns > v.left {
		v.miss(id, name, nonsense)
		return
	}
	v.left -= ns
	v.parts = append(v.parts, Part{ID: id, Name: name, Time: nanoseconds(ns), Parts: parts})
}

// miss adds a part whose time is unknown.
func (v *division) miss(id, name, why string) {
	v.parts = append(v.parts, Part{ID: id, Name: name, Time: unknown(why)})
	v.x.lacks(timeOf(name), why)
}

// timeOf names the time of a part in a sentence.
func timeOf(name string) string {
	if strings.HasPrefix(name, "until ") {
		return "the time " + name
	}
	return "the time of " + name
}

// rest adds the remaining time as the last part.
func (v *division) rest(id, name string) []Part {
	if v.left > 0 {
		v.parts = append(v.parts, Part{ID: id, Name: name, Time: nanoseconds(v.left)})
		v.left = 0
	}
	return v.parts
}

const (
	suspendName = "until all threads were suspended"
	prepareName = "until the collection started"
	finishName  = "from its end until resuming began"
	resumeName  = "until all threads resumed"
	restName    = "unaccounted for"
	walkName    = "the walk of the heap, and what is unaccounted for"
)

// remainder returns the part that the remaining time of a pause is. The runtime does not report how
// long it walked the heap.
func (x *explainer) remainder() (id, name string) {
	if x.d.HeapDump {
		return "walk", walkName
	}
	return "untold", restName
}

// divide divides one of the pauses, by the time stamps of events and by the times that the runtime
// reports for its steps.
func (x *explainer) divide(i int) []Part {
	d, p := x.d, &x.d.Pauses[i]
	v := &division{x: x, left: p.Duration}
	end := p.Start + p.Duration
	shared := d.InsideBGCStart || d.Provisional // it did not suspend the threads itself
	switch {
	case !p.HasSuspend:
		v.miss("suspend", suspendName,
			x.whyUnknown("the end of the suspension phase was not recorded (GCSuspendEEEnd)"))
	case !shared:
		v.add("suspend", suspendName, p.Suspend)
	}
	begin := p.Start
	if p.Kind == gclog.PauseInitial && d.Suspended != 0 && d.Suspended < begin {
		begin = d.Suspended // the first part of the suspension belongs to a collection inside it
	}
	suspended := begin + min(p.Suspend, p.Duration)
	suspends := p.Kind != gclog.PauseFinal && !shared && p.HasSuspend && p.Suspend <= p.Duration
	if suspends && d.Flaws&gclog.FlawNoStart == 0 && d.Start >= suspended && d.Start-suspended <= v.left {
		if d.Start == suspended && d.FromLog {
			v.miss("prepare", prepareName, x.whyUnknown("")) // the log has one time stamp for both
		} else {
			v.add("prepare", prepareName, d.Start-suspended)
		}
	}
	resume, finish := int64(-1), int64(-1)
	if p.Resume > 0 && p.Resume <= v.left {
		resume = p.Resume
		v.left -= resume
	}
	ends := d.Kind != gclog.KindBackground && !d.InsideBGCStart && d.Known.Has(gclog.GroupEnd) && resume >= 0
	if ends && d.End >= suspended && d.End <= end-resume && end-resume-d.End <= v.left {
		finish = end - resume - d.End
		v.left -= finish
	}
	x.work(v, p)
	parts := v.rest(x.remainder())
	if finish >= 0 {
		parts = append(parts, Part{ID: "finish", Name: finishName, Time: nanoseconds(finish)})
	}
	if resume >= 0 {
		parts = append(parts, Part{ID: "resume", Name: resumeName, Time: nanoseconds(resume)})
	} else if !p.HasResume {
		parts = append(parts, Part{
			ID:   "resume",
			Name: resumeName,
			Time: unknown(x.whyUnknown("the start of resuming was not recorded (GCRestartEEBegin)")),
		})
		x.lacks(timeOf(resumeName), x.whyUnknown("the start of resuming was not recorded (GCRestartEEBegin)"))
	}
	return parts
}

// stepNames are the steps of a collection, by clr.Time; the steps of marking are parts of it.
var stepNames = [clr.Times]struct{ id, name string }{
	{"mark_sized_ref", "sized references"},
	{"mark_roots", "roots and reachable objects"},
	{"mark_short_weak", "short weak handles"},
	{"scan_finalization", "objects to be finalized"},
	{"mark_long_weak", "long weak handles"},
	{"plan", "plan"},
	{"sweep", "sweep"},
	{"compact", "compact"},
}

// stepName returns the name of a step: one number stands for two of them.
func stepName(d *gclog.GCDetails, i int) (id, name string) {
	if compacting, _ := d.Compacting(); compacting && i == clr.TimeRelocate {
		return "relocate", "relocate"
	}
	return stepNames[i].id, stepNames[i].name
}

// work adds the collector's work in a pause.
func (x *explainer) work(v *division, p *gclog.PausePart) {
	d := x.d
	if p.Kind == gclog.PauseInitial && d.Kind == gclog.KindBackground {
		x.initialMark(v)
		return
	}
	if p.Kind == gclog.PauseFinal && p != &d.Pauses[len(d.Pauses)-1] {
		return // what the runtime reports is about the last one
	}
	if d.TimingCount == 0 {
		x.markedUntil(v, p)
		return
	}
	x.mark(v)
	for i := clr.TimePlan; i < d.TimingCount; i++ {
		id, name := stepName(d, i)
		v.add(id, name, d.Timing[i])
	}
	if compacting, _ := d.Compacting(); compacting && d.TimingCount == clr.TimeCompact {
		v.miss("compact", "compact", x.whyUnknown(nonsense))
	}
}

// initialMark adds the known part of the start of a background collection.
func (x *explainer) initialMark(v *division) {
	from, to := x.d.Background.Phase[clr.BGCBegin], x.d.Background.Phase[clr.BGCInitialPauseEnd]
	if from == 0 || to < from {
		v.miss("initial_mark", "initial mark", x.noPhases())
		return
	}
	v.add("initial_mark", "initial mark", to-from)
}

// mark adds the steps of marking.
func (x *explainer) mark(v *division) {
	d := x.d
	within := &division{x: x, left: v.left}
	for i := range min(clr.TimePlan, d.TimingCount) {
		if i == clr.TimeMarkSizedRef && d.Timing[i] == 0 {
			continue // it never happens: a relic of ASP.NET's cache
		}
		id, name := stepName(d, i)
		within.add(id, name, d.Timing[i])
	}
	if within.left == v.left && slices.ContainsFunc(within.parts, func(p Part) bool { return !p.Time.Known() }) {
		v.miss("mark", "mark", nonsense)
		return
	}
	v.add("mark", "mark", v.left-within.left, within.parts...)
}

// markedUntil is for runtimes that do not report the times of the steps: the last mark event of a
// heap shows how long marking took.
func (x *explainer) markedUntil(v *division, p *gclog.PausePart) {
	d := x.d
	why := x.whyUnknown("old runtimes such as .NET Core 3.1 do not report how long the steps took")
	if !d.Known.Has(gclog.GroupGlobal) {
		why = x.unheard()
	}
	last := d.MarkedUntil()
	if last <= d.Start || p.Kind == gclog.PauseFinal || last > p.Start+p.Duration && !d.InsideBGCStart {
		v.miss("steps", "mark, plan, relocate, compact or sweep", why)
		return
	}
	v.add("mark", "mark", last-d.Start)
	v.miss("steps", "plan, relocate, compact or sweep", why)
}

// noPhases returns why the private provider's events of a background collection are missing.
func (x *explainer) noPhases() string {
	return x.whyUnknown("the private provider was not enabled (--level normal enables it), or the runtime has none")
}

// phases describes what a background collection did while the program ran.
func (x *explainer) phases() {
	b := x.d.Background
	if b == nil {
		return
	}
	span := func(id, name string, from, to int64) {
		part := Part{ID: id, Name: name, Time: nanoseconds(to - from)}
		if from == 0 || to < from {
			why := x.whyUnknown("its start or end was not recorded")
			part.Time = unknown(why)
			x.lacks(timeOf(name), why)
		}
		x.e.Phases = append(x.e.Phases, part)
	}
	span("concurrent_mark", "concurrent mark", b.MarkStart, b.MarkEnd)
	span("concurrent_sweep", "concurrent sweep", b.SweepStart, b.SweepEnd)
	x.foreground()
	x.revisits()
	x.waits()
}

// foreground reports the collections that ran meanwhile.
func (x *explainer) foreground() {
	d := x.d
	if x.c.Peers == nil || !d.Known.Has(gclog.GroupEnd) || d.Flaws&gclog.FlawNoStart != 0 {
		return
	}
	n, pause := x.c.Peers.foregrounds(d)
	if n == 0 {
		return
	}
	x.say(&x.e.Pause, "foreground",
		fmt.Sprintf("%s (gen0 or gen1) started while it ran and paused the program for %s in total.",
			plural(uint64(n), "foreground collection"), timeText(pause)), countFact("foreground", n),
		timeFact("foreground.pause", pause))
}

// revisits reports what the program modified while it was being marked.
func (x *explainer) revisits() {
	b := x.d.Background
	if b.Revisited == [2][2]gclog.Revisit{} && b.DrainedMarks == 0 && b.Overflowed == 0 {
		if b.Phase[clr.BGCBegin] == 0 {
			x.lacks("what was marked again, and allocations that waited", x.noPhases())
		}
		return
	}
	var parts []string
	var facts []Fact
	for paused, when := range []string{"while the program ran", "during its pauses"} {
		for large, what := range []string{"small", "large and pinned"} {
			r := b.Revisited[paused][large]
			if r == (gclog.Revisit{}) {
				continue
			}
			parts = append(parts, fmt.Sprintf("%s of %s objects with %s %s",
				plural(r.Pages, "page"), what, plural(r.References, "reference"), when))
			name := "dotnet.gc.background.revisited." + [...]string{"concurrent", "paused"}[paused] +
				[...]string{"_soh", "_loh"}[large]
			facts = append(facts, countFact(name+".pages", r.Pages), countFact(name+".references", r.References))
		}
	}
	var text []string
	if len(parts) > 0 {
		text = append(text, "Objects modified during marking were visited again: "+andList(parts)+".")
	}
	if b.DrainedMarks > 0 {
		text = append(text,
			plural(b.DrainedMarks, "object")+was(b.DrainedMarks)+" on the mark list when the program was suspended.")
		facts = append(facts, countFact("drained_marks", b.DrainedMarks))
	}
	if b.Overflowed > 0 {
		text = append(text,
			plural(b.Overflowed, "object")+was(b.Overflowed)+" scanned again because the mark stack overflowed.")
		facts = append(facts, countFact("dotnet.gc.background.mark_overflow_objects", b.Overflowed))
	}
	x.say(&x.e.Pause, "revisited", strings.Join(text, " "), facts...)
}

// waitTexts are what an allocation waited for.
var waitTexts = map[uint32]string{
	9:  "memory for a large object",
	10: "the sweep to pass the memory of a large object",
	11: "the end of the collection, because too many large objects were allocated meanwhile",
}

// waits reports the allocations that had to wait.
func (x *explainer) waits() {
	b := x.d.Background
	if b.WaitCount == 0 {
		return
	}
	var why, causes []string
	for _, w := range b.Waits {
		cause := fmt.Sprint(w.Reason)
		text := waitTexts[w.Reason]
		if text == "" {
			text = "reason " + cause
		}
		if !slices.Contains(causes, cause) {
			why, causes = append(why, text), append(causes, cause)
		}
	}
	text := plural(uint64(b.WaitCount), "allocation") + " of large objects waited for it"
	if len(why) > 0 {
		text += " (for " + andList(why) + ")"
	}
	facts := []Fact{countFact("dotnet.gc.background.alloc_waits.count", b.WaitCount)}
	if b.WaitTime > 0 {
		text += fmt.Sprintf(", %s in total, at most %s", timeText(b.WaitTime), timeText(b.WaitMax))
		facts = append(facts, timeFact("dotnet.gc.background.alloc_waits.total", b.WaitTime),
			timeFact("dotnet.gc.background.alloc_waits.max", b.WaitMax))
	}
	x.because(&x.e.Pause, "alloc-waits", text+".", causes, facts...)
}

// rootNames are the kinds of roots, by clr.MarkType. Only logs of older versions have what the runtime
// reports as mark stack overflow apart from dependent handles.
var rootNames = [clr.MarkTypes]string{
	"stacks", "finalizer queue", "handles", "older generations", "sized references", "dependent handles",
	"dependent handles", "newly finalizable objects", "work stolen from other heaps", "background GC roots",
}

// roots reports how long marking took from each kind of root.
func (x *explainer) roots() {
	d := x.d
	for t := range clr.MarkTypes {
		m := d.Mark(t)
		if !m.Known {
			continue
		}
		root := Root{
			Type: t, Name: rootNames[t], Longest: nanoseconds(m.Longest), Imbalance: unknown("there is only one heap"),
			Promoted: known(float64(m.Promoted)).in("bytes"),
		}
		if m.Unsized {
			root.Promoted = unknown(x.whyUnknown("")).in("bytes")
		}
		if m.HasHeap {
			root.Heap = &m.Heap
		}
		if m.Imbalance > 0 {
			root.Imbalance = known(m.Imbalance)
		} else if d.HeapCount() > 1 {
			root.Imbalance = unknown(x.whyUnknown("fewer than two heaps reported it"))
		}
		x.e.Roots = append(x.e.Roots, root)
	}
	if len(x.e.Roots) == 0 && d.Kind != gclog.KindBackground {
		x.lacks("the marking time of each kind of root", x.whyUnknown("no such event was recorded (GCMarkWithType)"))
	}
	x.balance()
}

// balance reports how unequally the heaps of server GC were filled. How unequal they were in
// marking is in the table of roots.
func (x *explainer) balance() {
	const even = 1.1 // times the mean
	text := "The server GC heaps were evenly filled: "
	var parts, causes []string
	var facts []Fact
	for _, of := range []struct {
		ratio      float64
		what, name string
		uneven     string
	}{
		{
			x.d.SurvivedImbalance(), "the heap with the most survivors had %s the mean", "survived",
			"The survivors were distributed unevenly over the server GC heaps: ",
		},
		{
			x.d.Gen0Imbalance(), "the fullest gen0 held %s the mean", "gen0",
			"The server GC heaps were unevenly filled: ",
		},
	} {
		if of.ratio > even {
			text = of.uneven
			causes = append(causes, of.name)
		}
		if of.ratio > 0 {
			parts = append(parts, fmt.Sprintf(of.what, timesText(of.ratio)))
			facts = append(facts, countFact("dotnet.gc.imbalance."+of.name, of.ratio))
		}
	}
	if len(parts) > 0 {
		slices.Reverse(parts)
		x.because(&x.e.Pause, "balance", text+andList(parts)+".", causes, facts...)
	}
}
