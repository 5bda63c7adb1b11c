package analysis

import (
	"fmt"
	"math/bits"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func fragmentationRules() []Rule {
	return []Rule{
		{
			Number: 12, ID: "loh-fragmentation", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%", Default: 30},
				{Name: "floor", Unit: "bytes", Default: 50e6},
			},
			Basis: BasisHeuristic, need: needGen2,
			judge: func(l limits) judge { return &lohFragmentation{over: l["over"], floor: uint64(l["floor"])} },
		},
		{
			Number: 13, ID: "gen2-fragmentation", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%", Default: 70},
				{Name: "floor", Unit: "bytes", Default: 50e6},
			},
			Basis: BasisMicrosoft, need: needGen2,
			judge: func(l limits) judge { return &gen2Fragmentation{over: l["over"], floor: l["floor"]} },
		},
		{
			Number: 14, ID: "pinning", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "objects", Default: 1000},
				{Name: "fragmentation", Unit: "%", Default: 50},
				{Name: "demotion", Unit: "%", Default: 50},
				{Name: "of", Unit: "%", Default: 20},
				{Name: "floor", Unit: "bytes", Default: 10e6},
			},
			Basis: BasisMicrosoft, need: needCollections,
			judge: func(l limits) judge {
				return &pinning{
					objects:       l["objects"],
					fragmentation: l["fragmentation"],
					demotion:      l["demotion"],
					of:            l["of"],
					floor:         l["floor"],
				}
			},
		},
	}
}

type lohFragmentation struct {
	over     float64
	floor    uint64
	reported uint64
	row      uint64  // consecutive gen2 collections that exceed both thresholds
	inARow   ranking // the collections of the current row
	longest  uint64  // the longest row that is long enough
	worst    ranking // its collections
	mostRow  holes   // from the last necessary collection of such a row on
	recent   uint8   // the latest three gen2 collections, a bit each: whether they exceed both thresholds
	some     ranking // collections that exceed them and that were not the only one of the latest three
	mostSome holes   // after those
	first    uint64  // size after the first gen2 collection with large objects, and after the latest
	latest   uint64
	grown    holes  // after the latest, if the heap has grown in spite of them
	limited  uint64 // collections caused by the holes near the limit
	before   uint64 // the most free space before them, 0 if unknown
	limits   ranking
}

// holes is the free space of the large object heap after a collection.
type holes struct {
	free    uint64
	percent float64 // of the large object heap
	ofHeap  float64 // of the whole heap, 0 to 1
}

func (h *holes) most(x *judgedGC, percent float64) {
	if free := x.Generations[gclog.LOH].Fragmentation; free > h.free {
		*h = holes{free, percent, quotient(float64(free), x.after)}
	}
}

// leastRow is how many gen2 collections in a row must show it, or all but one of the latest. Before that,
// it is enough that the large object heap has doubled although so much of it is free.
const (
	leastRow    = 3
	grownHoles  = 10   // percent
	grownFree   = 25e6 // bytes
	grownLOH    = 0.5  // of the heap
	grownFactor = 2
)

func (j *lohFragmentation) gc(x *judgedGC) {
	if x.conditions&clr.CondemnedLimitLOHFragmented != 0 {
		j.limited++
		if x.Known.Has(gclog.GroupHistory) {
			j.before = max(j.before, x.Generations[gclog.LOH].FreeBefore)
		}
		j.limits.add(x.GCDetails, float64(x.pause))
	}
	if !x.isGen2 || !x.fragmented() {
		return
	}
	j.reported++
	percent, known := x.FragmentationPercent(gclog.LOH)
	loh := &x.Generations[gclog.LOH]
	free := float64(loh.Fragmentation)
	if j.first == 0 {
		j.first = loh.After
	}
	j.latest, j.grown = loh.After, holes{}
	large := free >= grownFree && float64(loh.After) >= grownLOH*x.after
	if j.reported >= leastRow && percent >= grownHoles && large && loh.After >= grownFactor*j.first {
		j.grown.most(x, percent)
	}
	j.recent = j.recent << 1 & 7
	if !known || percent <= j.over || loh.Fragmentation <= j.floor {
		j.row, j.inARow = 0, ranking{}
		return
	}
	j.recent |= 1
	j.row++
	j.inARow.add(x.GCDetails, free)
	if j.row >= leastRow {
		j.mostRow.most(x, percent)
		if j.row >= j.longest {
			j.longest, j.worst = j.row, j.inARow
		}
	}
	if j.reported >= leastRow && bits.OnesCount8(j.recent) >= leastRow-1 {
		j.mostSome.most(x, percent)
		j.some.add(x.GCDetails, free)
	}
}

func (j *lohFragmentation) verdict(*stretch) (f Finding, why string) {
	var shown holes
	fragmented := func(after string) string {
		return fmt.Sprintf("After %s gen2 collections the large object heap was fragmented, with up to %s of free "+
			"space (%s of it).", after, sizeText(float64(shown.free)), valueText(shown.percent, "%"))
	}
	switch {
	case j.longest > 0:
		shown, f.GCs = j.mostRow, j.worst.numbers()
		f.Text = fragmented(fmt.Sprintf("%d consecutive", j.longest))
		f.Evidence = []Fact{countFact("gen2.in-a-row", j.longest), bytesFact("loh.free.max", shown.free)}
	case j.mostSome.free > 0:
		shown, f.GCs = j.mostSome, j.some.numbers()
		f.Text = fragmented(fmt.Sprintf("%d of %d", leastRow-1, leastRow))
		f.Evidence = []Fact{
			countFact("gen2.fragmented", leastRow-1), countFact("gen2.latest", leastRow),
			bytesFact("loh.free.max", shown.free),
		}
	case j.grown.free > 0:
		shown = j.grown
		f.Text = fmt.Sprintf("The large object heap grew from %s to %s, although %s of it (%s) were free after the "+
			"latest gen2 collection.",
			sizeText(float64(j.first)), sizeText(float64(j.latest)), sizeText(float64(shown.free)),
			valueText(shown.percent, "%"))
		f.Evidence = []Fact{
			bytesFact("loh.after.first", j.first), bytesFact("loh.after.last", j.latest),
			bytesFact("loh.free", shown.free),
		}
	case j.limited > 0:
		f.says = were(j.limited, "collection") + " caused by that near the hard limit"
		f.Text = fmt.Sprintf("%s caused by fragmentation of the large object heap near the hard limit",
			were(j.limited, "collection"))
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
	if shown.free > 0 {
		f.says = fmt.Sprintf("up to %s (%s of it) are free after gen2 collections",
			sizeText(float64(shown.free)), valueText(shown.percent, "%"))
		f.Evidence = append(f.Evidence, percentFact("loh.fragmentation", shown.percent))
	}
	f.Explains.Bytes, f.Explains.memory = max(shown.free, j.before), shown.ofHeap
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
	known := x.Known.Has(gclog.GroupHistory|gclog.GroupBefore) && !x.BeforeEstimated
	if !x.background || !known || g.Before == 0 {
		return
	}
	j.reported++
	j.size += float64(g.Before)
	j.free += float64(g.FreeBefore)
	j.worst.add(x.GCDetails, float64(g.FreeBefore)/float64(g.Before))
}

func (j *gen2Fragmentation) verdict(s *stretch) (f Finding, why string) {
	if j.reported < leastGen2 {
		return f, needs(leastGen2, "background collection", j.reported) +
			" that report the free space in gen2 before them"
	}
	percent := 100 * j.free / j.size
	size := j.size / float64(j.reported)
	if percent < j.over || size < j.floor {
		return f, ""
	}
	f.Text = fmt.Sprintf("When %s started, %s of gen2 was free space: %s of %s on average.",
		plural(j.reported, "background collection"), valueText(percent, "%"), sizeText(j.free/float64(j.reported)),
		sizeText(size))
	f.Explains.Bytes, f.Explains.memory = uint64(j.free/float64(j.reported)), percent/100
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("background", j.reported), percentFact("gen2.fragmentation.before", percent),
		bytesFact("gen2.free-before.mean", j.free/float64(j.reported)), bytesFact("gen2.before.mean", size),
	}
	return f, ""
}

type pinning struct {
	objects, fragmentation, demotion, of, floor float64

	reported              uint64
	shown                 uint64 // collections with any of the three
	many, holes, burdened uint64
	most                  uint32
	free                  uint64
	paused                int64 // by those with any of the three
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
	large := x.Known.Has(gclog.GroupAfter) && float64(g.After) >= j.floor
	holes := large && x.Known.Has(gclog.GroupHistory) && x.fragmented() && g.SurvivedPins > 0 &&
		100*float64(g.Fragmentation) > j.fragmentation*float64(g.After)
	burdened := large && x.Known.Has(gclog.GroupGlobal) && x.Global.Mechanisms&clr.MechanismDemotion != 0 &&
		g.Budget > 0 &&
		100*float64(g.After) > j.demotion*float64(g.Budget)
	if !many && !holes && !burdened {
		return
	}
	j.shown++
	j.paused += x.pause
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

func (j *pinning) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no collection reports how many pinned objects it found"
	}
	if sureShare(j.shown, j.reported, leastCollections) <= j.of {
		return f, ""
	}
	share := percent(j.shown, j.reported)
	f.Text = fmt.Sprintf("Pinned objects hindered %d of %s (%s), with up to %d in one collection: %d had many, %d "+
		"left gen0 fragmented, %d left it large by demotion.",
		j.shown, plural(j.reported, "collection"), valueText(share, "%"), j.most, j.many, j.holes, j.burdened)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("collections", j.reported), countFact("collections.pinned", j.shown),
		percentFact("collections.pinned.share", share), countFact("collections.many-pins", j.many),
		countFact("collections.holes", j.holes), countFact("collections.demotion", j.burdened),
		countFact("pinned.max", j.most),
	}
	f.Explains = Explained{Paused: s.ofPauses(j.paused), Bytes: j.free}
	f.says = fmt.Sprintf("%s of that are %s hindered by up to %d pinned objects",
		f.Explains.share(), plural(j.shown, "collection"), j.most)
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
