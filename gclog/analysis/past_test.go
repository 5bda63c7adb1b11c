package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
)

const megabyte = 1_000_000

// A past is a handmade history: consecutive collections of a healthy program, apart from the given
// changes.
type past struct {
	process gclog.Process
	calls   []func(listener)
	shift   []func(by int64) // for each of calls that can be repeated later
	now     time.Duration
	number  uint32
}

// A listener observes a past.
type listener interface {
	Observe(gclog.Record)
	Event(gclog.Stamp, clr.Event, *gclog.GCDetails)
	Damaged(why string)
	Ended(analysis.Ending)
}

// A change makes a collection differ from that of a healthy program.
type change func(*gclog.GCDetails)

func newPast() *past {
	h := &past{}
	h.process = gclog.Process{
		RuntimeVersion: "10.0.1", Server: gclog.No, Concurrent: gclog.Yes, Processors: 2, HeapCount: 1,
		HasLimits: true, Sync: time.Date(2026, 1, 31, 14, 3, 0, 0, time.UTC),
	}
	return h
}

// run lets the program run.
func (h *past) run(d time.Duration) *past { h.now += d; return h }

// gc adds a blocking collection; the program is paused all the time.
func (h *past) gc(gen int, pause time.Duration, changes ...change) *past {
	d := h.record(gen, gclog.KindBlocking)
	d.Pauses = []gclog.PausePart{h.pause(d, gclog.PauseBlocking, pause)}
	return h.add(d, changes)
}

// background adds a background collection that lasts for a time between its pauses.
func (h *past) background(initial, lasts, final time.Duration, changes ...change) *past {
	d := h.record(gclog.Gen2, gclog.KindBackground)
	d.Background = &gclog.BackgroundDetails{}
	first := h.pause(d, gclog.PauseInitial, initial)
	h.now += lasts
	d.Pauses = []gclog.PausePart{first, h.pause(d, gclog.PauseFinal, final)}
	return h.add(d, changes)
}

func (h *past) record(gen int, kind gclog.Kind) *gclog.GCDetails {
	h.number++
	d := &gclog.GCDetails{}
	d.Reset()
	d.Number, d.Generation, d.Kind = h.number, gen, kind
	d.Known |= gclog.GroupNumber
	d.Complete, d.GenerationCount = true, gclog.Generations
	d.Known |= gclog.GroupReason
	d.Start, d.Suspended = int64(h.now), int64(h.now)
	d.Known |= gclog.GroupAfter | gclog.GroupHistory | gclog.GroupObjects | gclog.GroupFragmentation
	d.Known |= gclog.GroupBefore | gclog.GroupPromoted | gclog.GroupAllocated | gclog.GroupGenerationAllocated
	g := &d.Generations
	g[0] = gclog.GenerationDetails{Before: 20 * megabyte, ObjectsBefore: 20 * megabyte, Survived: 2 * megabyte, Budget: 40 * megabyte, Allocated: 20 * megabyte}
	g[1] = gclog.GenerationDetails{Before: 4 * megabyte, ObjectsBefore: 4 * megabyte, After: 4 * megabyte, Survived: megabyte}
	g[2] = gclog.GenerationDetails{
		Before: 200 * megabyte, ObjectsBefore: 180 * megabyte, After: 200 * megabyte, ObjectsAfter: 180 * megabyte,
		Survived: 160 * megabyte, FreeBefore: 20 * megabyte, Fragmentation: 20 * megabyte, In: megabyte,
	}
	g[3] = gclog.GenerationDetails{Before: 60 * megabyte, ObjectsBefore: 60 * megabyte, After: 60 * megabyte, ObjectsAfter: 55 * megabyte, Fragmentation: 5 * megabyte}
	g[4] = gclog.GenerationDetails{Before: megabyte, After: megabyte}
	d.PromotedBytes = 2 * megabyte
	d.Peak = 300 * megabyte
	d.Handles, d.PinnedObjects, d.FinalizationCount, d.FinalizationSize = 2000, 10, 100, 10000
	d.Known |= gclog.GroupHandles | gclog.GroupPinned | gclog.GroupFinalizationCount | gclog.GroupFinalizationSize
	d.Known |= gclog.GroupGlobal
	d.Global = clr.GCGlobalHeapHistory{Heaps: 1, CondemnedGeneration: uint32(gen), MemoryLoad: 40, HasMemoryLoad: true, HasCondemned: true}
	return d
}

func (h *past) pause(d *gclog.GCDetails, kind gclog.PauseKind, length time.Duration) gclog.PausePart {
	p := gclog.PausePart{Kind: kind, Start: int64(h.now), Duration: int64(length), Suspend: min(50_000, int64(length)/4), HasSuspend: true, Resume: 1000, HasResume: true}
	h.now += length
	d.End = int64(h.now)
	d.Known |= gclog.GroupEnd
	return p
}

func (h *past) add(d *gclog.GCDetails, changes []change) *past {
	for _, c := range changes {
		c(d)
	}
	for _, g := range d.Generations {
		d.Allocated, d.Fragmentation = d.Allocated+g.Allocated, d.Fragmentation+g.Fragmentation
	}
	var pauses []gclog.Pause
	for _, p := range d.Pauses {
		pauses = append(pauses, gclog.Pause{PausePart: p, GC: d})
	}
	h.shift = append(h.shift, func(by int64) {
		d.Start, d.End = d.Start+by, d.End+by
		for i := range pauses {
			pauses[i].Start += by
		}
		for i := range d.Heaps {
			d.Heaps[i].MarkedUntil += by
		}
	})
	h.calls = append(h.calls, func(to listener) {
		for i := range pauses {
			to.Observe(&pauses[i])
		}
		to.Observe(d)
	})
	return h
}

// stop adds a pause without a collection.
func (h *past) stop(kind gclog.PauseKind, length, suspend time.Duration) *past {
	p := gclog.Pause{PausePart: gclog.PausePart{Kind: kind, Start: int64(h.now), Duration: int64(length), Suspend: int64(suspend), HasSuspend: true}}
	h.now += length
	h.calls = append(h.calls, func(to listener) { to.Observe(&p) })
	return h
}

func (h *past) gap(g gclog.Gap) *past {
	g.Time = int64(h.now)
	h.calls = append(h.calls, func(to listener) { to.Observe(&g) })
	return h
}

// counted adds n intervals of 10 s with counters: the queue of the thread pool gets longer by more work items
// in each, and threads wait for locks so often, half a second each.
func (h *past) counted(n int, more float64, waits uint64) *past {
	for i := range n {
		h.run(10 * time.Second)
		c := &gclog.Counters{At: int64(h.now), Interval: 10e9, Locks: gclog.LockWaits{Count: waits, Total: int64(waits) * 5e8, Max: 5e8}}
		c.Add(&gclog.Counter{Meter: "System.Runtime", Name: gclog.InstrumentQueue, Value: more * float64(i+1), Delta: more})
		h.calls = append(h.calls, func(to listener) { to.Observe(c) })
	}
	return h
}

// tick adds an allocation tick for an object of a type.
func (h *past) tick(id uint64, name string, bytes uint64) *past {
	at := gclog.Stamp{Time: int64(h.now)}
	text := nettracetest.UTF16(name)
	e := &clr.GCAllocationTick{TypeID: id, TypeName: text[:len(text)-2], Amount: bytes} // without the terminating zero
	h.calls = append(h.calls, func(to listener) { to.Event(at, e, nil) })
	return h
}

// start adds a start of the session, which says what its log lacks.
func (h *past) start(s gclog.Start) *past {
	s.At = int64(h.now)
	h.calls = append(h.calls, func(to listener) { to.Observe(&s) })
	return h
}

// end reports how the process ended.
func (h *past) end(way analysis.Way, text string) *past {
	e := analysis.Ending{Way: way, At: int64(h.now), Text: text}
	h.shift = append(h.shift, func(by int64) { e.At += by })
	h.calls = append(h.calls, func(to listener) { to.Ended(e) })
	return h
}

// of adds so many blocking collections.
func (h *past) of(n, gen int, pause time.Duration, changes ...change) *past {
	for range n {
		h.run(500*time.Millisecond).gc(gen, pause, changes...)
	}
	return h
}

// healthy adds normal collections: one in ten is a gen1.
func (h *past) healthy(n int, changes ...change) *past {
	for i := range n {
		h.run(500*time.Millisecond).gc(i%10/9, time.Millisecond, changes...)
	}
	return h
}

// findings evaluates the rules.
func (h *past) findings(t testing.TB, thresholds ...string) *analysis.Findings {
	t.Helper()
	f := analysis.NewFindings(&h.process, moved(t, thresholds...), analysis.Always())
	h.replay(f)
	return f
}

func (h *past) replay(to listener) {
	to.Observe(&gclog.Start{At: -int64(time.Minute)})
	for _, call := range h.calls {
		call(to)
	}
	to.Observe(&gclog.End{At: int64(h.now)})
}

// moved returns thresholds set from name=value.
func moved(t testing.TB, settings ...string) (thresholds analysis.Thresholds) {
	t.Helper()
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := thresholds.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return thresholds
}

// of returns the finding of a rule, nil if there is none, and why the rule was not evaluated.
func of(f *analysis.Findings, id string) (*analysis.Finding, string) {
	list := f.List()
	if i := slices.IndexFunc(list, func(x analysis.Finding) bool { return x.Rule.ID == id }); i >= 0 {
		return &list[i], ""
	}
	for _, u := range f.NotEvaluated() {
		if u.Rule.ID == id {
			return nil, u.Why
		}
	}
	return nil, ""
}

// marked sets how long a heap took to mark from a kind of root.
func marked(h *gclog.HeapDetails, t clr.MarkType, took int64) {
	h.MarkTimes[t] = took
	h.Marked |= 1 << t
}

// factText formats the value of a Fact.
func factText(f *analysis.Fact) string { return analysis.Number{Value: f.Value, Unit: f.Unit}.Text() }
