package clr

// An Instance is the number of the runtime in its process. Every event contains it.
type Instance struct{ ClrInstance uint16 }

// InstanceID returns ClrInstance.
func (i *Instance) InstanceID() uint16 { return i.ClrInstance }

// decode is that of all events that contain nothing else.
func (i *Instance) decode(p *payload, _ int) { *i = p.optionalInstance() }

// GCStart is sent when a collection starts (R 1; V0 has only Count and Reason).
type GCStart struct {
	Instance
	Count          uint32 // the number of the collection
	Depth          uint32 // the condemned generation
	Reason         Reason
	Type           GCType
	ClientSequence uint64 // V2; on Unix always 0
	HasDepth       bool   // V1 and up: Depth and Type are valid
}

func (e *GCStart) decode(p *payload, version int) {
	*e = GCStart{Count: p.u32()}
	if !has(version, 1) || p.rest() < 14 {
		e.Reason = Reason(p.u32())
		return
	}
	e.HasDepth = true
	e.Depth, e.Reason, e.Type = p.u32(), Reason(p.u32()), GCType(p.u32())
	e.ClrInstance = p.u16()
	if has(version, 2) && p.rest() >= 8 {
		e.ClientSequence = p.u64()
	}
}

// GCEnd is sent when a collection ends (R 2).
type GCEnd struct {
	Instance
	Count uint32
	Depth uint32
}

func (e *GCEnd) decode(p *payload, version int) {
	*e = GCEnd{Count: p.u32()}
	if !has(version, 1) || p.rest() < 6 {
		e.Depth = uint32(p.u16())
		return
	}
	e.Depth = p.u32()
	e.ClrInstance = p.u16()
}

// GCSuspendEEBegin reports that a thread starts to suspend the managed threads (R 9).
type GCSuspendEEBegin struct {
	Instance
	Reason SuspendReason
	Count  uint32 // SuspendForGCPrep: number of the background collection; else unreliable, match by thread
}

func (e *GCSuspendEEBegin) decode(p *payload, version int) {
	*e = GCSuspendEEBegin{}
	if !has(version, 1) || p.rest() < 10 {
		e.Reason = SuspendReason(p.u16())
		return
	}
	e.Reason, e.Count = SuspendReason(p.u32()), p.u32()
	e.ClrInstance = p.u16()
}

// GCSuspendEEEnd reports that all managed threads are suspended (R 8).
type GCSuspendEEEnd struct{ Instance }

// GCRestartEEBegin reports that the managed threads are about to be resumed (R 7).
type GCRestartEEBegin struct{ Instance }

// GCRestartEEEnd reports that they have been resumed (R 3).
type GCRestartEEEnd struct{ Instance }

// GCCreateConcurrentThread reports that the background GC thread was created (R 11).
type GCCreateConcurrentThread struct{ Instance }

// GCTerminateConcurrentThread reports that the background GC thread ended (R 12).
type GCTerminateConcurrentThread struct{ Instance }

// GCFinalizersBegin reports that the finalizer thread starts to run finalizers (R 14).
type GCFinalizersBegin struct{ Instance }

// GCFinalizersEnd reports that the finalizer thread is done (R 13).
type GCFinalizersEnd struct {
	Instance
	Count uint32 // number of finalizers run
}

func (e *GCFinalizersEnd) decode(p *payload, _ int) {
	*e = GCFinalizersEnd{Count: p.u32(), Instance: p.optionalInstance()}
}

// GCTriggered reports that a collection was requested (R 35). Its thread is the one that requested
// it.
type GCTriggered struct {
	Instance
	Reason Reason
}

func (e *GCTriggered) decode(p *payload, _ int) {
	*e = GCTriggered{Reason: Reason(p.u32()), Instance: p.instance()}
}

// GCCreateSegment reports that memory was acquired for a heap (R 5).
type GCCreateSegment struct {
	Instance
	Address, Size uint64
	Type          SegmentType
}

func (e *GCCreateSegment) decode(p *payload, _ int) {
	*e = GCCreateSegment{Address: p.u64(), Size: p.u64(), Type: SegmentType(p.u32()), Instance: p.optionalInstance()}
}

// GCFreeSegment reports that memory was released (R 6).
type GCFreeSegment struct {
	Instance
	Address uint64
}

func (e *GCFreeSegment) decode(p *payload, _ int) {
	*e = GCFreeSegment{Address: p.u64(), Instance: p.optionalInstance()}
}

// GCGenerationRange is a segment or region of a generation at the start or end of a collection (R
// 23).
type GCGenerationRange struct {
	Instance
	Generation     uint8
	Start          uint64
	Used, Reserved uint64
}

func (e *GCGenerationRange) decode(p *payload, _ int) {
	*e = GCGenerationRange{
		Generation: p.u8(),
		Start:      p.pointer(),
		Used:       p.u64(),
		Reserved:   p.u64(),
		Instance:   p.instance(),
	}
}

// GCMarkRoots is one of the mark events that runtimes before .NET Core sent (R 25-28).
type GCMarkRoots struct {
	Instance
	Heap uint32
	Type MarkType
}

func (e *GCMarkRoots) decode(p *payload, _ int) {
	*e = GCMarkRoots{Heap: p.u32(), Type: e.Type, Instance: p.instance()}
}

// GCMarkWithType reports that a heap has marked everything reachable from one kind of root (R 202).
type GCMarkWithType struct {
	Instance
	Heap     uint32
	Type     MarkType
	Promoted uint64 // bytes
}

func (e *GCMarkWithType) decode(p *payload, _ int) {
	*e = GCMarkWithType{Heap: p.u32(), Instance: p.instance()}
	e.Type, e.Promoted = MarkType(p.u32()), p.u64()
}

// GCJoin is a synchronization point of the server GC threads (R 203).
type GCJoin struct {
	Instance
	Heap uint32
	Time uint32 // 0 start, 1 end
	Type uint32 // 0 last join, 1 join, 2 restart, 3 first
	ID   uint32
}

func (e *GCJoin) decode(p *payload, _ int) {
	*e = GCJoin{Heap: p.u32(), Time: p.u32(), Type: p.u32(), Instance: p.instance()}
	if p.rest() >= 4 {
		e.ID = p.u32()
	}
}

// GenAware is R 206 (start) or R 207 (end).
type GenAware struct {
	Instance
	Count uint32
	End   bool
}

func (e *GenAware) decode(p *payload, _ int) {
	*e = GenAware{Count: p.u32(), End: e.End, Instance: p.instance()}
}

// MemoryPressure is a call of GC.AddMemoryPressure or RemoveMemoryPressure (R 200, 201).
type MemoryPressure struct {
	Instance
	Bytes   uint64
	Removed bool
}

func (e *MemoryPressure) decode(p *payload, _ int) {
	*e = MemoryPressure{Bytes: p.u64(), Removed: e.Removed, Instance: p.instance()}
}

// SetGCHandle reports that a handle was created (R 30, P 194).
type SetGCHandle struct {
	Instance
	Handle, Object uint64
	Kind           HandleKind
	Generation     uint32
	AppDomain      uint64
}

func (e *SetGCHandle) decode(p *payload, _ int) {
	*e = SetGCHandle{
		Handle: p.pointer(), Object: p.pointer(), Kind: HandleKind(p.u32()), Generation: p.u32(), AppDomain: p.u64(),
		Instance: p.instance(),
	}
}

// DestroyGCHandle reports that a handle was freed (R 31, P 195).
type DestroyGCHandle struct {
	Instance
	Handle uint64
}

func (e *DestroyGCHandle) decode(p *payload, _ int) {
	*e = DestroyGCHandle{Handle: p.pointer(), Instance: p.instance()}
}
