package formats

import (
	"math"
	"strconv"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// csvFormat writes one row per collection. The first 21 columns are those of Criteo's GcLog, for
// spreadsheets that use them; gclog's own follow. Unknown values are empty.
type csvFormat struct {
	clock *clock
	o     *Options
}

func newCSV(o *Options) formatter {
	return &csvFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o}
}

const csvHeader = "StartRelativeMSec,Number,Generation,Type,Reason,IsCompacting,SuspensionDurationInMilliSeconds," +
	"PauseDurationInMilliSeconds,FinalPauseDurationInMilliSeconds,Gen0Size,Gen1Size,Gen2Size,LOHSize," +
	"ObjGen0Before,ObjGen1Before,ObjGen2Before,ObjLOHBefore,ObjGen0After,ObjGen1After,ObjGen2After,ObjLOHAfter," +
	"ProcessID,StartTime,DurationInMilliSeconds,Kind,PauseStartRelativeMSec,POHSize,ObjPOHBefore,ObjPOHAfter," +
	"HeapBefore,HeapAfter,HeapPeak,Promoted,Fragmentation,CommittedBefore,CommittedAfter,Allocated,Gen0Budget," +
	"HeapCount,MemoryLoadPercent,PinnedObjects,Handles,FinalizationCount,Complete,LostEvents," +
	"Gen0Before,Gen1Before,Gen2Before,LOHBefore,POHBefore,FinalPauseStartRelativeMSec,Resident,CgroupMemory,CgroupLimit," +
	"FinalSuspensionDurationInMilliSeconds\n"

func (c *csvFormat) header(dst []byte, _ int64, _ int) []byte          { return append(dst, csvHeader...) }
func (c *csvFormat) next() (hold bool)                                 { return false }
func (c *csvFormat) start(dst []byte, _ *Start) []byte                 { return dst }
func (c *csvFormat) pause(dst []byte, _ *gclog.Pause) []byte           { return dst }
func (c *csvFormat) phase(dst []byte, _ *gclog.Phase) []byte           { return dst }
func (c *csvFormat) suspension(dst []byte, _ *gclog.Suspension) []byte { return dst }
func (c *csvFormat) gap(dst []byte, _ *gclog.Gap) []byte               { return dst }
func (c *csvFormat) stall(dst []byte, _ *gclog.Stall) []byte           { return dst }
func (c *csvFormat) summary(dst []byte, _ *Summary) []byte             { return dst }
func (c *csvFormat) end(dst []byte, _ *End) []byte                     { return dst }

// A row writes comma-separated fields.
type row struct {
	b     []byte
	comma bool
}

func (r *row) next() {
	if r.comma {
		r.b = append(r.b, ',')
	}
	r.comma = true
}

func (r *row) millis(ns int64, known bool) {
	if r.next(); known {
		r.b = appendMillis(r.b, ns)
	}
}

func (r *row) uint(v uint64, known bool) {
	if r.next(); known {
		r.b = strconv.AppendUint(r.b, v, 10)
	}
}

func (r *row) text(s string, known bool) {
	if r.next(); known {
		r.b = append(r.b, s...)
	}
}

func (r *row) bool(v, known bool) {
	s := "False"
	if v {
		s = "True"
	}
	r.text(s, known)
}

func (c *csvFormat) gc(dst []byte, d *gclog.GCDetails, _ uint64) []byte {
	r := row{b: dst}
	started := d.Flaws&gclog.FlawNoStart == 0
	paused := len(d.Pauses) > 0
	gens := d.Generations[:d.GenerationCount]
	r.millis(d.Start, started)
	r.uint(uint64(d.Number), d.HasNumber)
	r.uint(uint64(d.Generation), true)
	r.text(d.Type.String(), started)
	r.text(d.Reason.String(), d.HasReason)
	compacting, known := d.Compacting()
	r.bool(compacting, known)
	r.millis(d.Suspend(), paused && d.Suspend() >= 0)
	r.millis(d.Pause(), paused)
	r.millis(d.FinalPause(), paused && d.Kind == gclog.KindBackground)
	for g := clr.Gen0; g <= clr.LOH; g++ {
		r.uint(d.Generations[g].After, d.HasSizesAfter)
	}
	for g := clr.Gen0; g <= clr.LOH; g++ {
		r.uint(d.Generations[g].ObjectsBefore, d.HasObjects)
	}
	for g := clr.Gen0; g <= clr.LOH; g++ {
		r.uint(d.Generations[g].ObjectsAfter, d.HasObjects)
	}
	hasPOH := len(gens) > gclog.POH
	poh := &d.Generations[gclog.POH]
	r.uint(uint64(c.o.Process.ID), true)
	if r.next(); started {
		r.b = c.clock.appendClock(r.b, d.Start, 6)
		r.b = append(r.b, 'Z')
	}
	r.millis(d.Duration(), started && d.HasEnd)
	r.text(d.Kind.String(), true)
	r.millis(d.PauseStart(), paused)
	r.uint(poh.After, d.HasSizesAfter && hasPOH)
	r.uint(poh.ObjectsBefore, d.HasObjects && hasPOH)
	r.uint(poh.ObjectsAfter, d.HasObjects && hasPOH)
	r.uint(d.SizeBefore(), d.HasBefore)
	r.uint(d.SizeAfter(), d.HasSizesAfter)
	r.uint(d.Peak, d.Peak > 0)
	r.uint(d.PromotedBytes, d.HasPromoted)
	r.uint(d.Fragmentation(), d.HasFragmentation)
	r.uint(d.CommittedBefore, d.HasCommittedBefore)
	r.uint(d.CommittedAfter, d.HasCommittedAfter)
	r.uint(d.Allocated(), d.HasAllocated)
	r.uint(d.Generations[gclog.Gen0].Budget, d.Generations[gclog.Gen0].Budget > 0 && d.Kind != gclog.KindBackground)
	heaps := d.HeapCount()
	r.uint(uint64(heaps), heaps > 0)
	r.uint(uint64(d.Global.MemoryLoad), d.Global.MemoryLoad > 0)
	pinned, known := d.Pinned()
	r.uint(uint64(pinned), known)
	r.uint(uint64(max(0, d.Handles)), d.HasSizesAfter && d.Handles >= 0)
	r.uint(d.FinalizationCount, d.HasSizesAfter && d.FinalizationCount != math.MaxUint64)
	r.bool(d.Complete, true)
	r.uint(d.LostEvents, true)
	for g := range d.Generations {
		r.uint(d.Generations[g].Before, d.HasBefore && g < len(gens))
	}
	final, ok := d.FinalPauseStart()
	r.millis(final, ok)
	for _, n := range [...]uint64{d.Memory.Resident, d.Memory.Cgroup, d.Memory.CgroupLimit} {
		r.uint(n, n > 0)
	}
	suspend := d.FinalSuspend()
	r.millis(suspend, ok && suspend >= 0)
	return append(r.b, '\n')
}
