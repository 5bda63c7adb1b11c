package clr

// A BGCPhase is a point in the course of a background collection (P 11-19).
type BGCPhase uint8

// The points, in the order in which they are reached.
const (
	BGCBegin             BGCPhase = iota // 11
	BGCInitialPauseEnd                   // 12: end of the first non-concurrent part
	BGCConcurrentMarkEnd                 // 13
	BGCFinalPauseBegin                   // 14
	BGCFinalPauseEnd                     // 15
	BGCSweepBegin                        // 16: start of the second concurrent part
	BGCSweepEnd                          // 17
	BGCPlanEnd                           // 18, in old runtimes
	BGCOldSweepEnd                       // 19, in old runtimes
	BGCPhases                            // their number
)

// BGCPhaseEvent reports that a heap reached a point of a background collection. Server GC sends one
// for each heap.
type BGCPhaseEvent struct {
	Instance
	Phase BGCPhase
}

// BGC1stSweepEnd reports that the first sweep of a generation is done (P 26).
type BGC1stSweepEnd struct {
	Instance
	Generation uint32
}

func (e *BGC1stSweepEnd) decode(p *payload, _ int) {
	*e = BGC1stSweepEnd{Generation: p.u32(), Instance: p.instance()}
}

// BGCDrainMark counts the objects on the mark list (P 20).
type BGCDrainMark struct {
	Instance
	Objects uint64
}

func (e *BGCDrainMark) decode(p *payload, _ int) {
	*e = BGCDrainMark{Objects: p.u64(), Instance: p.instance()}
}

// BGCRevisit counts the memory that was written to during concurrent marking and had to be visited
// again (P 21). A heap's GC thread sends it after each generation, with running totals: each event
// includes the counts of those sent since the last event that is not Large.
type BGCRevisit struct {
	Instance
	Pages   uint64
	Objects uint64 // references that were followed
	Large   bool   // not gen2: large and pinned objects; with regions, in pauses also gen0 and gen1
}

func (e *BGCRevisit) decode(p *payload, _ int) {
	*e = BGCRevisit{Pages: p.u64(), Objects: p.u64(), Large: p.u32() != 0, Instance: p.instance()}
}

// BGCOverflow counts the objects of a generation that had to be scanned again because the mark
// stack overflowed (P 22). With regions it is sent in every background collection.
type BGCOverflow struct {
	Instance
	Min, Max, Objects uint64
	Large             bool
	Generation        uint32 // V1
}

func (e *BGCOverflow) decode(p *payload, version int) {
	*e = BGCOverflow{Min: p.u64(), Max: p.u64(), Objects: p.u64(), Large: p.u32() != 0, Instance: p.instance()}
	if has(version, 1) && p.rest() >= 4 {
		e.Generation = p.u32()
	}
}

// BGCAllocWait reports that a thread starts or stops waiting in an allocation for a background
// collection (P 23, 24).
type BGCAllocWait struct {
	Instance
	Reason uint32 // 9: waiting for a segment, 10: during the sweep, 11: over the limit
	End    bool
}

func (e *BGCAllocWait) decode(p *payload, _ int) {
	*e = BGCAllocWait{Reason: p.u32(), End: e.End, Instance: p.instance()}
}

// GCFullNotify announces a full collection to registered listeners (P 25).
type GCFullNotify struct {
	Instance
	Generation uint32
	Alloc      bool // caused by an allocation
}

func (e *GCFullNotify) decode(p *payload, _ int) {
	*e = GCFullNotify{Generation: p.u32(), Alloc: p.u32() != 0, Instance: p.optionalInstance()}
}

// PrvGCSettings is sent once, when the program starts (P 2).
type PrvGCSettings struct {
	Instance
	SegmentSize, LargeSegmentSize uint64
	Server                        bool
}

func (e *PrvGCSettings) decode(p *payload, _ int) {
	*e = PrvGCSettings{
		SegmentSize:      p.u64(),
		LargeSegmentSize: p.u64(),
		Server:           p.u32() != 0,
		Instance:         p.optionalInstance(),
	}
}
