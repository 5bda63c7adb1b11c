package clr

import "math"

// GCDynamicEvent is an event that a GC names itself (R 39): that is how a standalone GC sends
// events unknown to the runtime around it. Decode returns a GCDynamicEvent if no decoder knows the
// event's name.
type GCDynamicEvent struct {
	Instance
	Name UTF16
	Data []byte // starts with a u16 version in all events known so far
}

func (e *GCDynamicEvent) decode(p *payload, _ int) {
	*e = GCDynamicEvent{Name: p.utf16z()}
	e.Data = p.take(int(p.u32()))
	if !p.bad {
		e.Instance = p.optionalInstance()
	}
}

// A dynamicSpec describes a dynamic event.
type dynamicSpec struct {
	name  string
	bytes int // minimum length of its data
	event event
}

var dynamicSpecs = [...]dynamicSpec{
	{"CommittedUsage", 42, &CommittedUsage{}},
	{"SizeAdaptationSample", 38, &SizeAdaptationSample{}},
	{"SizeAdaptationTuning", 56, &SizeAdaptationTuning{}},
	{"SizeAdaptationFullGCTuning", 44, &SizeAdaptationFullGCTuning{}},
	{"HeapCountTuning", 36, &HeapCountTuning{}},
	{"HeapCountSample", 34, &HeapCountSample{}},
}

// dynamic returns the typed form of a dynamic event, or the event itself if its name or its data is
// unknown.
func (d *Decoder) dynamic(e *GCDynamicEvent) Event {
	for i := range dynamicSpecs {
		s := &dynamicSpecs[i]
		if !e.Name.Is(s.name) {
			continue
		}
		if len(e.Data) < s.bytes {
			break
		}
		if d.named[i] == nil {
			d.named[i] = clone(s.event)
		}
		d.p.outer = e.Instance
		d.p.begin(e.Data)
		d.named[i].decode(&d.p, int(d.p.u16()))
		return d.named[i]
	}
	return e
}

// CommittedUsage is the committed memory right after the start of a collection, and again before
// the end of a blocking one (.NET 8).
type CommittedUsage struct {
	Instance
	InUse          uint64
	GlobalDecommit uint64 // waiting to be decommitted
	Free           uint64 // in the free lists of the heaps
	GlobalFree     uint64 // in the free lists shared by all heaps
	Bookkeeping    uint64
}

// Total returns all the memory that the GC has committed.
func (e *CommittedUsage) Total() uint64 {
	return e.InUse + e.GlobalDecommit + e.Free + e.GlobalFree + e.Bookkeeping
}

func (e *CommittedUsage) decode(p *payload, _ int) {
	*e = CommittedUsage{p.outer, p.u64(), p.u64(), p.u64(), p.u64(), p.u64()}
}

// SizeAdaptationSample contains what DATAS measured for one collection (.NET 9).
type SizeAdaptationSample struct {
	Instance
	GCIndex             uint64
	ElapsedMicroseconds uint32 // since the previous collection
	PauseMicroseconds   uint32
	SOHLockMicroseconds uint32 // waiting for the lock of small object allocation
	UOHLockMicroseconds uint32
	StableSize          uint64 // bytes of long-lived small objects
	Gen0BudgetPerHeap   uint32
}

func (e *SizeAdaptationSample) decode(p *payload, _ int) {
	*e = SizeAdaptationSample{p.outer, p.u64(), p.u32(), p.u32(), p.u32(), p.u32(), p.u64(), p.u32()}
}

// SizeAdaptationTuning is a decision of DATAS about the number of heaps (.NET 9).
type SizeAdaptationTuning struct {
	Instance
	NewHeaps, MaxHeaps, MinHeaps uint16
	GCIndex                      uint64
	StableSize                   uint64
	MedianThroughputCost         float32 // percent
	ConsideredThroughputCost     float32 // percent
	AroundTarget                 float32
	RecordedCosts                uint16
	RecordedSlope                float32
	GCsSinceChange               uint32
	AggressiveFactor             uint8
	ChangeDecision               uint16
	AdjustReason                 uint16
	ChangeFrequencyFactor        uint16
	FrequencyReason              uint16
	AdjustMetric                 uint8
}

func (e *SizeAdaptationTuning) decode(p *payload, _ int) {
	*e = SizeAdaptationTuning{
		p.outer, p.u16(), p.u16(), p.u16(), p.u64(), p.u64(), p.f32(), p.f32(), p.f32(), p.u16(), p.f32(), p.u32(),
		p.u8(), p.u16(), p.u16(), p.u16(), p.u16(), p.u8(),
	}
}

// SizeAdaptationFullGCTuning is a decision of DATAS after full collections (.NET 9).
type SizeAdaptationFullGCTuning struct {
	Instance
	NewHeaps       uint16
	GCIndex        uint64
	MedianGen2Cost float32 // percent
	Gen2sSince     uint32
	Samples        [3]struct {
		GCIndexDistance uint32
		Percent         float32
	}
}

func (e *SizeAdaptationFullGCTuning) decode(p *payload, _ int) {
	*e = SizeAdaptationFullGCTuning{
		Instance:       p.outer,
		NewHeaps:       p.u16(),
		GCIndex:        p.u64(),
		MedianGen2Cost: p.f32(),
		Gen2sSince:     p.u32(),
	}
	for k := range e.Samples {
		e.Samples[k].GCIndexDistance, e.Samples[k].Percent = p.u32(), p.f32()
	}
}

// HeapCountTuning is a decision of DATAS in .NET 8.
type HeapCountTuning struct {
	Instance
	NewHeaps               uint16
	GCIndex                uint64
	MedianThroughputCost   float32 // percent
	SmoothedThroughputCost float32
	ThroughputReductionUp  float32 // per step up
	ThroughputIncreaseDown float32 // per step down
	SpaceCostIncreaseUp    float32
	SpaceCostDecreaseDown  float32
}

func (e *HeapCountTuning) decode(p *payload, _ int) {
	*e = HeapCountTuning{p.outer, p.u16(), p.u64(), p.f32(), p.f32(), p.f32(), p.f32(), p.f32(), p.f32()}
}

// HeapCountSample contains what DATAS measured for one collection in .NET 8.
type HeapCountSample struct {
	Instance
	GCIndex             uint64
	ElapsedMicroseconds uint64 // since the previous collection
	PauseMicroseconds   uint64
	LockMicroseconds    uint64 // waiting for the allocation lock
}

func (e *HeapCountSample) decode(p *payload, _ int) {
	*e = HeapCountSample{p.outer, p.u64(), p.u64(), p.u64(), p.u64()}
}

func (p *payload) f32() float32 { return math.Float32frombits(p.u32()) }
