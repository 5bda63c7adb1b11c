package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func fragmentationRules() []Rule {
	return []Rule{
		{
			Number: 12, ID: "loh-fragmentation", Title: "The large object heap is fragmented", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%", 30, "free space in the large object heap after a gen2 collection"},
				{"floor", "bytes", 50e6, "less free space is ignored"},
			},
			Sample:      "3 consecutive gen2 collections, or one caused by the fragmentation",
			Evidence:    "free space in the large object heap after three consecutive gen2 collections; condition LimitLOHFragmented",
			Explanation: "The large object heap is swept, not compacted, unless the program requests it or memory is low. Gaps that no new object fits into are memory that the process holds but cannot use. When the GC has committed nine tenths of a hard limit and the gaps are an eighth of it, it does a full blocking collection that compacts them; this alone is a finding.",
			Advice:      "Allocate large objects in few sizes and reuse them (ArrayPool<T>.Shared). To compact it once: GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce before a blocking gen2 collection. To let the GC do it when needed: System.GC.ConserveMemory (DOTNET_GCConserveMemory, .NET 6 and later), 1 to 9.",
			Basis:       BasisHeuristic, need: needGen2,
			judge: func(l limits) judge { return &lohFragmentation{over: l["over"], floor: uint64(l["floor"])} },
		},
		{
			Number: 13, ID: "gen2-fragmentation", Title: "Gen2 is fragmented when background collections start", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%", 70, "free space in gen2 when background collections start, over all of them"},
				{"floor", "bytes", 50e6, "a smaller gen2, on average, is ignored"},
			},
			Sample:      "3 background collections",
			Evidence:    "size and free space of gen2 before each background collection",
			Explanation: "Background collections do not compact: they create free space, which gen1 collections fill with survivors. By the time the next one starts, most of it should be used: up to 15 % left is good, 70 % or more is wasted memory.",
			Advice:      "Set System.GC.ConserveMemory (DOTNET_GCConserveMemory, .NET 6 and later) to (100 - the percentage that you accept) / 10: 8 for 20 %. The GC then compacts gen2 with a blocking collection when there is more free space than that. Also find out what changes so much in gen2: mid-life-crisis and memory-growth.",
			Basis:       BasisMicrosoft, need: needGen2,
			judge: func(l limits) judge { return &gen2Fragmentation{over: l["over"], floor: l["floor"]} },
		},
		{
			Number: 14, ID: "pinning", Title: "Pinned objects are in the way", Severity: Warning,
			Thresholds: []Threshold{
				{"objects", "", 1000, "pinned objects found by a collection, above which it counts as having many"},
				{"fragmentation", "%", 50, "free space in gen0 after a collection with pinned survivors, above which it is fragmented"},
				{"demotion", "%", 50, "size of gen0 after a collection with demotion, as a share of its budget, above which it is a burden"},
				{"of", "%", 20, "share of collections that show any of this, above which it is a finding"},
				{"floor", "bytes", 10e6, "a smaller gen0 after a collection counts neither as fragmented nor as a burden"},
			},
			Sample:      "20 collections; if there are fewer, the missing ones count as collections without pins",
			Evidence:    "pinned objects, free space and pinned survivors of gen0, demotion",
			Explanation: "A pinned object cannot be moved. The space around it remains in gen0 as a gap, or the object stays in a younger generation than it belongs to (demotion), so every collection has to process it again.",
			Advice:      "Pin only briefly (fixed), or pin old objects: a few large, long-lived buffers that are handed out in slices, ideally allocated with GC.AllocateArray(pinned: true). Look for GCHandleType.Pinned and for asynchronous socket and file operations that each use a new buffer; ArrayPool<T>.Shared reuses buffers. gclog attach --level full records each pinned object.",
			Basis:       BasisMicrosoft, need: needCollections,
			judge: func(l limits) judge {
				return &pinning{objects: l["objects"], fragmentation: l["fragmentation"], demotion: l["demotion"], of: l["of"], floor: l["floor"]}
			},
		},
	}
}

type lohFragmentation struct {
	over     float64
	floor    uint64
	reported uint64
	row      uint64 // consecutive gen2 collections that exceed both thresholds
	longest  uint64
	inARow   ranking // those of the current row
	worst    ranking
	percent  float64 // at the most free space in a row that is long enough
	ofHeap   float64 // the same, of the whole heap
	free     uint64
	limited  uint64 // collections caused by the holes near the limit
	before   uint64 // the most free space before them, 0 if unknown
	limits   ranking
}

// leastRow is how many gen2 collections in a row must show it.
const leastRow = 3

func (j *lohFragmentation) gc(x *judgedGC) {
	if x.conditions&clr.CondemnedLimitLOHFragmented != 0 {
		j.limited++
		if x.HasHistory {
			j.before = max(j.before, x.Generations[gclog.LOH].FreeBefore)
		}
		j.limits.add(x.GCDetails, float64(x.pause))
	}
	if !x.isGen2 || !x.fragmented() {
		return
	}
	j.reported++
	percent, known := x.FragmentationPercent(gclog.LOH)
	free := x.Generations[gclog.LOH].Fragmentation
	if !known || percent <= j.over || free <= j.floor {
		j.row, j.inARow = 0, ranking{}
		return
	}
	j.row++
	j.inARow.add(x.GCDetails, float64(free))
	if j.row < leastRow {
		return
	}
	if j.row >= j.longest {
		j.longest, j.worst = j.row, j.inARow
	}
	if free > j.free {
		j.free, j.percent = free, percent
		j.ofHeap = quotient(float64(free), x.after)
	}
}

func (j *lohFragmentation) verdict(*stretch) (f Finding, why string) {
	switch {
	case j.longest > 0:
		f.Text = fmt.Sprintf("After %d consecutive gen2 collections the large object heap was fragmented, with up to %s of free space (%s of it).",
			j.longest, sizeText(float64(j.free)), valueText(j.percent, "%"))
		f.GCs = j.worst.numbers()
		f.Evidence = []Fact{countFact("gen2.in-a-row", j.longest), bytesFact("loh.free.max", j.free), percentFact("loh.fragmentation", j.percent)}
	case j.limited > 0:
		f.Text = fmt.Sprintf("%s caused by fragmentation of the large object heap near the hard limit", were(j.limited, "collection"))
		if j.before > 0 {
			f.Text += fmt.Sprintf(", with up to %s of free space before it", sizeText(float64(j.before)))
		}
		f.Text += "."
		f.GCs = j.limits.numbers()
	case j.reported == 0:
		return f, "no gen2 collection reports the free space of the large object heap"
	default:
		return f, ""
	}
	f.explains = j.ofHeap
	if j.limited > 0 {
		f.Evidence = append(f.Evidence, countFact("condition.LimitLOHFragmented", j.limited))
	}
	if j.before > 0 {
		f.Evidence = append(f.Evidence, bytesFact("loh.free-before.max", j.before))
	}
	return f, ""
}

type gen2Fragmentation struct {
	over, floor float64
	reported    uint64
	size, free  float64
	worst       ranking
}

func (j *gen2Fragmentation) gc(x *judgedGC) {
	g := &x.Generations[gclog.Gen2]
	if !x.background || !x.HasHistory || !x.HasBefore || x.BeforeEstimated || g.Before == 0 {
		return
	}
	j.reported++
	j.size += float64(g.Before)
	j.free += float64(g.FreeBefore)
	j.worst.add(x.GCDetails, float64(g.FreeBefore)/float64(g.Before))
}

func (j *gen2Fragmentation) verdict(s *stretch) (f Finding, why string) {
	if j.reported < leastGen2 {
		return f, needs(leastGen2, "background collection", j.reported) + " that report the free space in gen2 before them"
	}
	percent := 100 * j.free / j.size
	size := j.size / float64(j.reported)
	if percent < j.over || size < j.floor {
		return f, ""
	}
	f.Text = fmt.Sprintf("When %s started, %s of gen2 was free space: %s of %s on average.",
		plural(j.reported, "background collection"), valueText(percent, "%"), sizeText(j.free/float64(j.reported)), sizeText(size))
	f.explains = percent / 100
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{countFact("background", j.reported), percentFact("gen2.fragmentation.before", percent), bytesFact("gen2.free-before.mean", j.free/float64(j.reported)), bytesFact("gen2.before.mean", size)}
	return f, ""
}

type pinning struct {
	objects, fragmentation, demotion, of, floor float64

	reported              uint64
	shown                 uint64 // collections with any of the three
	many, holes, burdened uint64
	most                  uint32
	free                  uint64
	worst                 ranking
}

func (j *pinning) gc(x *judgedGC) {
	objects, known := x.Pinned()
	if !known {
		return
	}
	j.reported++
	j.most = max(j.most, objects)
	g := &x.Generations[gclog.Gen0]
	many := float64(objects) > j.objects
	large := x.HasSizesAfter && float64(g.After) >= j.floor
	holes := large && x.HasHistory && x.fragmented() && g.SurvivedPins > 0 &&
		100*float64(g.Fragmentation) > j.fragmentation*float64(g.After)
	burdened := large && x.HasGlobal && x.Global.Mechanisms&clr.MechanismDemotion != 0 && g.Budget > 0 &&
		100*float64(g.After) > j.demotion*float64(g.Budget)
	if !many && !holes && !burdened {
		return
	}
	j.shown++
	if many {
		j.many++
	}
	if holes {
		j.holes++
		j.free = max(j.free, g.Fragmentation)
	}
	if burdened {
		j.burdened++
	}
	j.worst.add(x.GCDetails, float64(objects))
}

func (j *pinning) verdict(*stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no collection reports how many pinned objects it found"
	}
	if sureShare(j.shown, j.reported, leastCollections) <= j.of {
		return f, ""
	}
	share := percent(j.shown, j.reported)
	f.Text = fmt.Sprintf("Pinned objects hindered %d of %s (%s), with up to %d in one collection: %d had many, %d left gen0 fragmented, %d left it large by demotion.",
		j.shown, plural(j.reported, "collection"), valueText(share, "%"), j.most, j.many, j.holes, j.burdened)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("collections", j.reported), countFact("collections.pinned", j.shown),
		percentFact("collections.pinned.share", share), countFact("collections.many-pins", j.many),
		countFact("collections.holes", j.holes), countFact("collections.demotion", j.burdened),
		countFact("pinned.max", j.most),
	}
	if j.holes > 0 {
		f.Evidence = append(f.Evidence, bytesFact("gen0.free.max", j.free))
	}
	return f, ""
}

// were formats a number of things with the passive verb.
func were(n uint64, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return plural(n, what) + " were"
}
