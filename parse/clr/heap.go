package clr

// Generations are always in this order: gen0, gen1, gen2, large objects, pinned objects. The last
// exists since .NET 5.
const (
	Gen0 = iota
	Gen1
	Gen2
	LOH
	POH
	Generations // their number
)

// GCHeapStats describes the heap after a collection, summed over all heaps (R 4).
type GCHeapStats struct {
	Instance
	// Size is the size after the collection, including free space.
	Size [Generations]uint64
	// Promoted is valid up to the condemned generation. For the LOH only gen2 collections fill it
	// in; for the POH it is never filled in. In a background collection gen0 and gen1 have the
	// values of earlier collections.
	Promoted [Generations]uint64
	// FinalizationSize is the size of what was promoted because it was retained for finalization.
	// After a change of the heap count it can be garbage (0xBAADF00D...).
	FinalizationSize  uint64
	FinalizationCount uint64
	PinnedObjects     uint32
	SyncBlocks        uint32
	Handles           int32 // exact after gen2, else approximate: it can be negative
	Generations       int   // 4, or 5 with the pinned object heap (V2)
}

func (e *GCHeapStats) decode(p *payload, version int) {
	*e = GCHeapStats{Generations: POH}
	for g := Gen0; g <= LOH; g++ {
		e.Size[g], e.Promoted[g] = p.u64(), p.u64()
	}
	e.FinalizationSize, e.FinalizationCount = p.u64(), p.u64()
	e.PinnedObjects, e.SyncBlocks, e.Handles = p.u32(), p.u32(), int32(p.u32())
	e.Instance = p.optionalInstance()
	if has(version, 2) && p.rest() >= 16 {
		e.Size[POH], e.Promoted[POH] = p.u64(), p.u64()
		e.Generations = Generations
	}
}

// Indices of GCGlobalHeapHistory.Times: how long the parts of a collection took.
const (
	TimeMarkSizedRef = iota
	TimeMarkRoots
	TimeMarkShortWeak
	TimeScanFinalization
	TimeMarkLongWeak
	TimePlan    // this and the following: blocking collections only
	TimeSweep   // of a sweeping collection; else relocate
	TimeCompact // of a compacting collection; garbage in gen1 and gen2 of .NET 8
	Times       // their number

	TimeRelocate = TimeSweep // of a compacting collection
)

// GCGlobalHeapHistory contains what all heaps have in common in a collection (R 205).
type GCGlobalHeapHistory struct {
	Instance
	FinalYoungestDesired uint64 // gen0 budget per heap; 0 for background collections
	Heaps                int32
	CondemnedGeneration  uint32
	Gen0Reductions       uint32
	Reason               Reason
	Mechanisms           Mechanisms
	PauseMode            PauseMode            // V2
	MemoryLoad           uint32               // V2: percent; 0: not filled in
	CondemnedGenerations CondemnedGenerations // V3
	Condemned            Condemned            // V3
	Times                [Times]uint32        // V4: microseconds, by Time constant
	TimeCount            int                  // number of valid Times
	HasMemoryLoad        bool                 // V2 and up
	HasCondemned         bool                 // V3 and up
}

func (e *GCGlobalHeapHistory) decode(p *payload, version int) {
	*e = GCGlobalHeapHistory{
		FinalYoungestDesired: p.u64(), Heaps: int32(p.u32()), CondemnedGeneration: p.u32(),
		Gen0Reductions: p.u32(), Reason: Reason(p.u32()), Mechanisms: Mechanisms(p.u32()),
		Instance: p.optionalInstance(),
	}
	if !has(version, 2) || p.rest() < 8 {
		return
	}
	e.HasMemoryLoad = true
	e.PauseMode, e.MemoryLoad = PauseMode(p.u32()), p.u32()
	if !has(version, 3) || p.rest() < 8 {
		return
	}
	e.HasCondemned = true
	e.CondemnedGenerations, e.Condemned = CondemnedGenerations(p.u32()), Condemned(p.u32())
	if !has(version, 4) || p.rest() < 4 {
		return
	}
	n := p.u32()
	for i := uint32(0); i < n && p.rest() >= 4; i++ {
		if v := p.u32(); i < Times {
			e.Times[i] = v
			e.TimeCount = int(i) + 1
		}
	}
}

// A HeapGeneration is one generation of one heap in a collection. Which fields are valid depends on
// the condemned generation: docs/events.md.
type HeapGeneration struct {
	SizeBefore         uint64
	FreeListBefore     uint64
	FreeObjectsBefore  uint64
	SizeAfter          uint64
	FreeListAfter      uint64
	FreeObjectsAfter   uint64
	In                 uint64 // promoted from the generation below
	PinnedSurvivors    uint64
	NonPinnedSurvivors uint64
	Budget             uint64 // allocation budget until the next collection
}

// ObjectsBefore returns the size before the collection without free space. For an empty generation
// it can be a few bytes below 0: the runtime counts a free object in the generation in which it was
// created.
func (g *HeapGeneration) ObjectsBefore() int64 {
	return int64(g.SizeBefore) - int64(g.FreeListBefore) - int64(g.FreeObjectsBefore)
}

// Fragmentation returns the free space after the collection.
func (g *HeapGeneration) Fragmentation() uint64 { return g.FreeListAfter + g.FreeObjectsAfter }

// ObjectsAfter returns the size after the collection without free space; see ObjectsBefore.
func (g *HeapGeneration) ObjectsAfter() int64 { return int64(g.SizeAfter) - int64(g.Fragmentation()) }

// Survivors returns the size of the objects that survived the collection.
func (g *HeapGeneration) Survivors() uint64 { return g.PinnedSurvivors + g.NonPinnedSurvivors }

// GCPerHeapHistory contains what one heap did in a collection (R 204).
type GCPerHeapHistory struct {
	Instance
	FreeListAllocated         uint64
	FreeListRejected          uint64
	EndOfSegmentAllocated     uint64
	CondemnedAllocated        uint64
	PinnedAllocated           uint64
	PinnedAllocatedAdvance    int64
	RunningFreeListEfficiency uint32 // percent
	CondemnedGenerations      CondemnedGenerations
	Condemned                 Condemned
	Compact                   HeapMechanism
	Expand                    HeapMechanism
	Heap                      uint32
	ExtraGen0Commit           uint64
	Generation                [Generations]HeapGeneration
	Generations               int // number of valid elements of Generation: 4, or 5 since .NET 5
}

func (e *GCPerHeapHistory) decode(p *payload, _ int) {
	*e = GCPerHeapHistory{}
	e.ClrInstance = p.u16()
	e.FreeListAllocated, e.FreeListRejected = p.pointer(), p.pointer()
	e.EndOfSegmentAllocated, e.CondemnedAllocated = p.pointer(), p.pointer()
	e.PinnedAllocated, e.PinnedAllocatedAdvance = p.pointer(), int64(p.pointer())
	e.RunningFreeListEfficiency = p.u32()
	e.CondemnedGenerations, e.Condemned = CondemnedGenerations(p.u32()), Condemned(p.u32())
	e.Compact, e.Expand = HeapMechanism(p.u32()), HeapMechanism(p.u32())
	e.Heap = p.u32()
	e.ExtraGen0Commit = p.pointer()
	n := p.u32()
	for i := uint32(0); i < n && i < Generations && p.rest() >= 10*p.ptr; i++ {
		g := &e.Generation[i]
		g.SizeBefore, g.FreeListBefore, g.FreeObjectsBefore = p.pointer(), p.pointer(), p.pointer()
		g.SizeAfter, g.FreeListAfter, g.FreeObjectsAfter = p.pointer(), p.pointer(), p.pointer()
		g.In, g.PinnedSurvivors, g.NonPinnedSurvivors, g.Budget = p.pointer(), p.pointer(), p.pointer(), p.pointer()
		e.Generations = int(i) + 1
	}
	if e.Generations == 0 {
		p.bad = true
	}
}

// A LOHCompact contains how one heap compacted its large objects.
type LOHCompact struct {
	PlanMicroseconds     uint32
	CompactMicroseconds  uint32
	RelocateMicroseconds uint32
	TotalRefs, ZeroRefs  uint64
}

// GCLOHCompact is a compaction of the large object heap (R 208).
type GCLOHCompact struct {
	Instance
	Count  int
	values []byte
	ptr    int
}

func (e *GCLOHCompact) size() int {
	if e.ptr == 4 {
		return 20
	}
	return 32
}

// At returns the value of heap i, which must be less than Count.
func (e *GCLOHCompact) At(i int) LOHCompact {
	p := payload{b: e.values[i*e.size():], ptr: e.ptr}
	v := LOHCompact{PlanMicroseconds: p.u32(), CompactMicroseconds: p.u32(), RelocateMicroseconds: p.u32()}
	if e.ptr == 8 {
		p.u32() // padding
	}
	v.TotalRefs, v.ZeroRefs = p.pointer(), p.pointer()
	return v
}

func (e *GCLOHCompact) decode(p *payload, _ int) {
	*e = GCLOHCompact{ptr: p.ptr, Instance: p.instance()}
	e.Count, e.values = p.items(uint32(p.u16()), e.size())
}

// A FitBucket counts free list items or plugs of about one size.
type FitBucket struct {
	Index uint16
	Count uint32
	Size  uint64 // total bytes
}

// GCFitBucketInfo reports how well free space and survivors fit each other in gen1 collections (R
// 209).
type GCFitBucketInfo struct {
	Instance
	Kind      uint16 // 0: largest free list items of gen2, 1: plugs of the condemned generation
	TotalSize uint64
	Count     int
	values    []byte
	ptr       int
}

func (e *GCFitBucketInfo) size() int { return 8 + e.ptr }

// At returns bucket i, which must be less than Count.
func (e *GCFitBucketInfo) At(i int) FitBucket {
	p := payload{b: e.values[i*e.size():], ptr: e.ptr}
	v := FitBucket{Index: uint16(p.u32())} // the other 16 bits may hold garbage
	v.Count, v.Size = p.u32(), p.pointer()
	return v
}

func (e *GCFitBucketInfo) decode(p *payload, _ int) {
	*e = GCFitBucketInfo{ptr: p.ptr, Instance: p.instance()}
	e.Kind, e.TotalSize = p.u16(), p.u64()
	e.Count, e.values = p.items(uint32(p.u16()), e.size())
}
