package gclog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestAllocated compares the allocations in the records with the events and with the runtime's own
// accounting, in all recordings.
func TestAllocated(t *testing.T) {
	var seen allocatedSeen
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		events := readEvents(t, stream)
		for _, o := range reduce(t, stream).recorders {
			if events[o.process.ID] == nil {
				continue
			}
			r := newEvidence(tr.Name, o, events[o.process.ID], false)
			for i := range o.gcs {
				if problem := r.allocated(i, &seen); problem != "" {
					t.Errorf("#%d %s: %s", o.gcs[i].Number, o.gcs[i].AppendName(nil), problem)
				}
			}
		}
	})
	t.Logf("%+v", seen)
	if seen.grown == 0 || seen.within == 0 || seen.usedUp == 0 {
		t.Error("nothing was compared")
	}
}

// allocatedSeen counts what was compared.
type allocatedSeen struct {
	grown  int // generations that no background collection touched in between
	within int // gen0 since its last collection, against the budgets of all heaps
	usedUp int // of those in within, collections triggered by small objects
}

// allocatedRight judges the defects of TraceEvent.
func allocatedRight(r *evidence, p *pair) string {
	return r.allocated(slices.Index(r.o.gcs, p.d), &allocatedSeen{})
}

// allocated judges what a record says was allocated.
func (r *evidence) allocated(i int, seen *allocatedSeen) string {
	d := r.o.gcs[i]
	if i == 0 || !r.o.gcs[i-1].Known.Has(gclog.GroupHistory) || !d.Known.Has(gclog.GroupHistory) {
		return expect("what was allocated is known", d.Known.Has(gclog.GroupAllocated), false)
	}
	if !d.Known.Has(gclog.GroupAllocated) {
		if d.Known.Has(gclog.GroupSinceLast) {
			return "it is not known what was allocated"
		}
		return ""
	}
	return all(r.grew(d, seen), r.withinBudget(i, seen))
}

// grew checks Allocated if no background collection frees anything in between: it is the growth,
// according to the events, since the end of the previous collection.
func (r *evidence) grew(d *gclog.GCDetails, seen *allocatedSeen) (problem string) {
	now := r.historiesOf(d)
	n := slices.IndexFunc(r.events.histories, func(h heapHistories) bool { return h.at == now.at })
	if n <= 0 || r.besideBackground(r.events.histories[n-1].at, d.End) {
		return ""
	}
	last := &r.events.histories[n-1]
	for _, g := range []int{gclog.Gen0, gclog.LOH, gclog.POH} {
		before, left := int64(0), int64(0) // the runtime's sums for an empty generation can be slightly below 0
		for i := range now.heaps {
			before += now.heaps[i].Generation[g].ObjectsBefore()
		}
		for i := range last.heaps {
			x := &last.heaps[i].Generation[g]
			if left += x.ObjectsAfter(); x.SizeAfter == 0 && g > gclog.Gen0 && last.global.CondemnedGeneration < gclog.Gen2 {
				left += x.ObjectsBefore() // .NET Core 3.1 leaves out what it did not collect
			}
		}
		grown := max(0, before) - max(0, left)
		seen.grown++
		problem = all(problem, expect("allocated in "+gclog.GenerationName(g), d.Generations[g].Allocated, uint64(max(0, grown))))
	}
	return problem
}

// besideBackground reports whether a background collection was running between two times.
func (r *evidence) besideBackground(from, to int64) bool {
	return slices.ContainsFunc(r.o.gcs, func(b *gclog.GCDetails) bool {
		return b.Kind == gclog.KindBackground && b.Start <= to && (b.End >= from || r.historiesOf(b).at >= from)
	})
}

// withinBudget checks that since the last gen0 collection the program has allocated no more in each
// heap than the gen0 budget that collection set; and, if small objects triggered a collection, no
// less in one of the heaps, except for what each thread has not filled yet.
func (r *evidence) withinBudget(i int, seen *allocatedSeen) string {
	d := r.o.gcs[i]
	if d.Kind == gclog.KindBackground {
		return ""
	}
	young, n := int64(d.Generations[gclog.Gen0].Allocated), i-1
	late := int64(0) // reported by background collections, possibly from before that
	for ; n >= 0 && r.o.gcs[n].Kind == gclog.KindBackground; n-- {
		late = int64(r.o.gcs[n].Generations[gclog.Gen0].Allocated)
		young += late
	}
	if n >= 0 && (n == i-1 || r.o.gcs[n+1].Start > r.o.gcs[n].Start) {
		late = 0
	}
	if n < 0 || !r.o.gcs[n].Known.Has(gclog.GroupGlobal) || r.o.gcs[n].HeapCount() != d.HeapCount() || r.noGCRegion(r.o.gcs[n].Start, d.Start) {
		return ""
	}
	perHeap, heaps := int64(r.historiesOf(r.o.gcs[n]).global.FinalYoungestDesired), int64(d.HeapCount())
	seen.within++
	if most := heaps * max(perHeap+smallObject, perHeap*103/100); young-late > most {
		return fmt.Sprintf("%d were allocated in gen0, and its budget is %d in each of %d heaps", young, perHeap, heaps)
	}
	if d.Reason == clr.ReasonAllocSmall && !d.InsideBGCStart {
		seen.usedUp++
		if least := min(perHeap-smallObject, perHeap*97/100); young < least {
			return fmt.Sprintf("%d were allocated in gen0, and its budget of %d is used up in one of %d heaps", young, perHeap, heaps)
		}
	}
	return ""
}

// noGCRegion reports whether a no-GC region started between two times: it sets its own budgets.
func (r *evidence) noGCRegion(from, to int64) bool {
	return slices.ContainsFunc(r.o.pauses, func(p gclog.Pause) bool { return p.Kind == gclog.PauseNoGCRegion && p.Start > from && p.Start < to })
}

// TestLargeAllocated compares what the records say was allocated of large and pinned objects with
// the allocation ticks, at each blocking collection: background collections report what was
// allocated while they ran in several ways, of which each byte must count once. The runtime reports
// a tick per heap and kind after 100 KB.
func TestLargeAllocated(t *testing.T) {
	compared, background := 0, 0
	all := recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		ticks := map[int64][]largeTick{}
		decodeAll(t, stream, func(m *parse.Metadata) bool {
			return m.Provider == clr.RuntimeProvider && m.EventID == clr.IDGCAllocationTick
		}, func(e *parse.Event, typed clr.Event) {
			tick := typed.(*clr.GCAllocationTick)
			ticks[e.Process] = append(ticks[e.Process], largeTick{e.Time, tick.Kind, tick.Amount})
		})
		for _, o := range reduce(t, stream).recorders {
			for g, kind := range map[int]clr.AllocationKind{gclog.LOH: clr.AllocationLarge, gclog.POH: clr.AllocationPinned} {
				var from int64 // start of the first collection, before which nothing is known
				var sum uint64
				behind := 0
				for _, d := range o.gcs {
					if !d.Known.Has(gclog.GroupAllocated) {
						from, sum = d.Start, 0
						continue
					}
					sum += d.Generations[g].Allocated
					if d.Kind == gclog.KindBackground {
						behind++
					}
					if d.Kind != gclog.KindBlocking || d.InsideBGCStart {
						continue
					}
					ticked, largest := uint64(0), uint64(0)
					for _, x := range ticks[o.process.ID] {
						if x.kind == kind && x.at > from && x.at < d.Start {
							ticked, largest = ticked+x.amount, max(largest, x.amount)
						}
					}
					if ticked == 0 {
						continue
					}
					compared++
					background += behind
					if apart := int64(sum) - int64(ticked); max(apart, -apart) > int64(largest)*int64(d.HeapCount()) {
						t.Errorf("#%d: %s allocated %d until then, the ticks say %d, largest %d", d.Number, gclog.GenerationName(g), sum, ticked, largest)
					}
				}
			}
		}
	})
	t.Logf("%d collections, after %d background ones", compared, background)
	if compared == 0 || all && background == 0 {
		t.Error("nothing was compared")
	}
}

type largeTick struct {
	at     int64
	kind   clr.AllocationKind
	amount uint64
}
