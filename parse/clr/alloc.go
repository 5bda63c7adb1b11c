package clr

import (
	"encoding/binary"

	"github.com/gclog/gclog/parse"
)

// GCAllocationTick is sent about once per 100 KB allocated on a heap (R 10).
type GCAllocationTick struct {
	Instance
	Amount     uint64 // bytes since the last tick of this heap and kind
	Kind       AllocationKind
	TypeID     uint64 // V2: of the object that exceeded the threshold
	TypeName   UTF16  // V2
	Heap       uint32 // V2
	Address    uint64 // V3
	ObjectSize uint64 // V4
}

// Limits of the amount if it overflowed, as it does in old runtimes.
const (
	tickSmallest = 90_000
	tickLargest  = 110_000
	tickLargeLOH = 2_000_000
)

func (e *GCAllocationTick) decode(p *payload, version int) {
	*e = GCAllocationTick{}
	amount := int64(int32(p.u32()))
	e.Kind = AllocationKind(p.u32())
	e.Instance = p.optionalInstance()
	if has(version, 2) && p.rest() >= 8+p.ptr {
		amount = int64(p.u64())
		e.TypeID = p.pointer()
		e.TypeName = p.utf16z()
		e.Heap = p.u32()
		if has(version, 3) && p.rest() >= p.ptr {
			e.Address = p.pointer()
		}
		if has(version, 4) && p.rest() >= 8 {
			e.ObjectSize = p.u64()
		}
	}
	e.Amount = uint64(amount)
	if amount < 0 {
		e.Amount = uint64(min(max(-amount, tickSmallest), tickLimit(e.Kind)))
	}
}

func tickLimit(k AllocationKind) int64 {
	if k == AllocationSmall {
		return tickLargest
	}
	return tickLargeLOH
}

// AllocationSampled is an allocation sampled at random, on average one per 102 400 bytes (R 303,
// .NET 10).
type AllocationSampled struct {
	Instance
	Kind       AllocationKind
	TypeID     uint64
	TypeName   UTF16
	Address    uint64
	ObjectSize uint64
	ByteOffset uint64 // of the sample within the object
}

func (e *AllocationSampled) decode(p *payload, _ int) {
	*e = AllocationSampled{Kind: AllocationKind(p.u32()), Instance: p.instance()}
	e.TypeID, e.TypeName = p.pointer(), p.utf16z()
	e.Address, e.ObjectSize, e.ByteOffset = p.pointer(), p.u64(), p.u64()
}

// SampledObjectAllocation counts allocations of a type (R 20, 32). Only programs that were started
// with its keyword send it.
type SampledObjectAllocation struct {
	Instance
	Address, TypeID uint64
	Count           uint32
	Size            uint64 // total bytes
}

func (e *SampledObjectAllocation) decode(p *payload, _ int) {
	*e = SampledObjectAllocation{
		Address:  p.pointer(),
		TypeID:   p.pointer(),
		Count:    p.u32(),
		Size:     p.u64(),
		Instance: p.instance(),
	}
}

// FinalizeObject reports that the finalizer of an object is run (R 29 without the name of the type,
// P 192 with it).
type FinalizeObject struct {
	Instance
	TypeID, ObjectID uint64
	TypeName         UTF16 // P 192
	named            bool  // the payload contains TypeName
}

func (e *FinalizeObject) decode(p *payload, _ int) {
	*e = FinalizeObject{TypeID: p.pointer(), ObjectID: p.pointer(), Instance: p.instance(), named: e.named}
	if e.named {
		e.TypeName = p.utf16z()
	}
}

// PinObjectAtGCTime reports an object that was pinned during a collection (R 33).
type PinObjectAtGCTime struct {
	Instance
	Handle, Object uint64
	Size           uint64
	// More is the number of further pinned objects that were folded into this event, TotalSize the
	// size of all of them together: see parse.Want.
	More      uint32
	TotalSize uint64
	rest      []byte
}

// PinnedSize returns the size of the object from the payload of a PinObjectAtGCTime. As
// parse.Want.Sum it lets the Reader add the sizes up.
func PinnedSize(t *parse.Trace, b []byte) uint64 {
	if off := 2 * t.PointerSize; len(b) >= off+8 {
		return binary.LittleEndian.Uint64(b[off:])
	}
	return 0
}

// TypeName returns the type of the object. It is decoded only on demand: a program may pin tens of
// thousands of objects, and few callers need their types.
func (e *PinObjectAtGCTime) TypeName() UTF16 {
	p := payload{b: e.rest}
	return p.utf16z()
}

func (e *PinObjectAtGCTime) decode(p *payload, version int) {
	e.Handle, e.Object, e.Size = p.pointer(), p.pointer(), p.u64()
	e.More, e.TotalSize = 0, e.Size
	if p.event.More > 0 {
		e.More, e.TotalSize = p.event.More, p.event.Sum
	}
	e.rest = p.take(p.rest())
	n := len(e.rest) // the minimum payload has an empty name and the instance
	e.ClrInstance = binary.LittleEndian.Uint16(e.rest[n-2:])
	if version > 0 {
		q := payload{b: e.rest} // a newer runtime may have appended fields
		q.utf16z()
		e.ClrInstance = q.u16()
	}
}

// PinPlugAtGCTime is a range of objects that could not be moved (P 199; R 34 in old runtimes).
type PinPlugAtGCTime struct {
	Instance
	Start, End, GapBefore uint64
}

func (e *PinPlugAtGCTime) decode(p *payload, _ int) {
	*e = PinPlugAtGCTime{Start: p.pointer(), End: p.pointer(), GapBefore: p.pointer(), Instance: p.instance()}
}
