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

// A DynamicFunc decodes the data of a GCDynamicEvent. If it returns nil, the event is delivered as
// a *GCDynamicEvent.
type DynamicFunc func(e *GCDynamicEvent) Event

// Dynamic registers decode for the dynamic events called name. It replaces any decoder registered
// before, including those of this package.
func (d *Decoder) Dynamic(name string, decode DynamicFunc) {
	d.dynamic[name] = decode
}

const maxDynamicName = 256 // bytes of UTF-16; longer names are not looked up

func (d *Decoder) dynamicEvent(p *payload, _ int) Event {
	e := &d.events.dynamic
	*e = GCDynamicEvent{Name: p.utf16z()}
	e.Data = p.take(int(p.u32()))
	if p.bad {
		return e
	}
	e.ClrInstance = p.optional16()
	if len(e.Name) > maxDynamicName {
		return e
	}
	d.name = e.Name.Append(d.name[:0])
	if decode := d.dynamic[string(d.name)]; decode != nil {
		if typed := decode(e); typed != nil {
			return typed
		}
	}
	return e
}

func (d *Decoder) registerKnown() {
	known := func(name string, size int, decode func(p *payload, i Instance) Event) {
		d.dynamic[name] = func(e *GCDynamicEvent) Event {
			if len(e.Data) < size {
				return nil
			}
			d.data = payload{b: e.Data, ptr: d.pointerSize}
			d.data.u16() // version
			return decode(&d.data, e.Instance)
		}
	}
	known("CommittedUsage", 42, d.committedUsage)
	known("SizeAdaptationSample", 38, d.sizeAdaptationSample)
	known("SizeAdaptationTuning", 56, d.sizeAdaptationTuning)
	known("SizeAdaptationFullGCTuning", 44, d.sizeAdaptationFullGCTuning)
	known("HeapCountTuning", 36, d.heapCountTuning)
	known("HeapCountSample", 34, d.heapCountSample)
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

func (d *Decoder) committedUsage(p *payload, i Instance) Event {
	e := &d.events.committedUsage
	*e = CommittedUsage{i, p.u64(), p.u64(), p.u64(), p.u64(), p.u64()}
	return e
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

func (d *Decoder) sizeAdaptationSample(p *payload, i Instance) Event {
	e := &d.events.sizeSample
	*e = SizeAdaptationSample{i, p.u64(), p.u32(), p.u32(), p.u32(), p.u32(), p.u64(), p.u32()}
	return e
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

func (d *Decoder) sizeAdaptationTuning(p *payload, i Instance) Event {
	e := &d.events.sizeTuning
	*e = SizeAdaptationTuning{
		i, p.u16(), p.u16(), p.u16(), p.u64(), p.u64(), p.f32(), p.f32(), p.f32(), p.u16(), p.f32(), p.u32(),
		p.u8(), p.u16(), p.u16(), p.u16(), p.u16(), p.u8(),
	}
	return e
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

func (d *Decoder) sizeAdaptationFullGCTuning(p *payload, i Instance) Event {
	e := &d.events.fullGCTuning
	*e = SizeAdaptationFullGCTuning{Instance: i, NewHeaps: p.u16(), GCIndex: p.u64(), MedianGen2Cost: p.f32(), Gen2sSince: p.u32()}
	for k := range e.Samples {
		e.Samples[k].GCIndexDistance, e.Samples[k].Percent = p.u32(), p.f32()
	}
	return e
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

func (d *Decoder) heapCountTuning(p *payload, i Instance) Event {
	e := &d.events.heapCountTuning
	*e = HeapCountTuning{i, p.u16(), p.u64(), p.f32(), p.f32(), p.f32(), p.f32(), p.f32(), p.f32()}
	return e
}

// HeapCountSample contains what DATAS measured for one collection in .NET 8.
type HeapCountSample struct {
	Instance
	GCIndex             uint64
	ElapsedMicroseconds uint64 // since the previous collection
	PauseMicroseconds   uint64
	LockMicroseconds    uint64 // waiting for the allocation lock
}

func (d *Decoder) heapCountSample(p *payload, i Instance) Event {
	e := &d.events.heapCountSample
	*e = HeapCountSample{i, p.u64(), p.u64(), p.u64(), p.u64()}
	return e
}

func (p *payload) f32() float32 { return math.Float32frombits(p.u32()) }
