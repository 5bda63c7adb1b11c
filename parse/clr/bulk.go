package clr

import "encoding/binary"

// Bulk events contain many values. Count is their number. At(i) decodes value i, which must be less
// than Count.

// A Type is a type of the program (GCBulkType).
type Type struct {
	ID            uint64
	Module        uint64
	NameID        uint32
	Flags         uint32 // 1 delegate, 2 finalizable, 4 RCW, 8 array, 0x10 module base; bits 8-13 array rank
	ElementType   uint8
	Name          UTF16
	NumParameters int
	parameters    []byte
}

// Parameter returns the id of type parameter i, which must be less than NumParameters.
func (t *Type) Parameter(i int) uint64 {
	p := payload{b: t.parameters[8*i:]}
	return p.u64()
}

// BulkType declares types (R 15). Its values differ in size, so Next reads them one after the
// other.
type BulkType struct {
	Instance
	Count int
	left  int
	p     payload
}

// Next decodes the next type into t. It returns false after the last one and if the payload is
// corrupt.
func (e *BulkType) Next(t *Type) bool {
	if e.left == 0 {
		return false
	}
	e.left--
	p := &e.p
	*t = Type{ID: p.u64(), Module: p.u64(), NameID: p.u32(), Flags: p.u32(), ElementType: p.u8(), Name: p.utf16z()}
	t.NumParameters, t.parameters = p.items(p.u32(), 8)
	return !p.bad
}

func (e *BulkType) decode(p *payload, _ int) {
	n := p.u32()
	e.ClrInstance = p.u16()
	const smallest = 8 + 8 + 4 + 4 + 1 + 2 + 4
	e.Count = int(min(int64(n), int64(p.rest()/smallest)))
	e.left = e.Count
	e.p = payload{b: p.take(p.rest()), ptr: p.ptr}
}

// A bulk is the common part of the events whose values all have the same size.
type bulk struct {
	Instance
	Index           uint32 // sequence number of the event in a heap dump
	Count           int
	indexed         bool // the payload contains Index
	pointers, bytes int  // the size of a value
	values          []byte
	ptr             int
}

func (e *bulk) size() int { return e.pointers*e.ptr + e.bytes }

func (e *bulk) at(i int) payload { return payload{b: e.values[i*e.size():], ptr: e.ptr} }

func (e *bulk) decode(p *payload, _ int) {
	e.ptr = p.ptr
	if e.indexed {
		e.Index = p.u32()
	}
	n := p.u32()
	e.ClrInstance = p.u16()
	e.Count, e.values = p.items(n, e.size())
}

// A RootEdge is a root of the heap graph.
type RootEdge struct {
	Node  uint64
	Kind  RootKind
	Flags uint32 // 1 pinning, 2 weak, 4 interior, 8 refcounted
	Root  uint64
}

// GCBulkRootEdge contains roots (R 16).
type GCBulkRootEdge struct{ bulk }

// At returns root i.
func (e *GCBulkRootEdge) At(i int) RootEdge {
	p := e.at(i)
	return RootEdge{Node: p.pointer(), Kind: RootKind(p.u8()), Flags: p.u32(), Root: p.pointer()}
}

// A ConditionalEdge is an entry of a ConditionalWeakTable.
type ConditionalEdge struct{ Key, Value, Root uint64 }

// GCBulkConditionalEdge contains such entries (R 17).
type GCBulkConditionalEdge struct{ bulk }

// At returns entry i.
func (e *GCBulkConditionalEdge) At(i int) ConditionalEdge {
	p := e.at(i)
	return ConditionalEdge{Key: p.pointer(), Value: p.pointer(), Root: p.pointer()}
}

// A Node is an object of the heap graph.
type Node struct{ Address, Size, TypeID, Edges uint64 }

// GCBulkNode contains objects (R 18). Their edges follow in the same order in GCBulkEdge events.
type GCBulkNode struct{ bulk }

// At returns object i.
func (e *GCBulkNode) At(i int) Node {
	if e.ptr == 8 { // there are millions of them
		b := e.values[32*i:][:32]
		return Node{
			Address: binary.LittleEndian.Uint64(b), Size: binary.LittleEndian.Uint64(b[8:]),
			TypeID: binary.LittleEndian.Uint64(b[16:]), Edges: binary.LittleEndian.Uint64(b[24:]),
		}
	}
	p := e.at(i)
	return Node{Address: p.pointer(), Size: p.u64(), TypeID: p.u64(), Edges: p.u64()}
}

// An Edge is a reference in the heap graph.
type Edge struct {
	Target uint64
	Field  uint32 // 0 on Core
}

// GCBulkEdge contains references (R 19).
type GCBulkEdge struct{ bulk }

// At returns reference i.
func (e *GCBulkEdge) At(i int) Edge {
	p := e.at(i)
	return Edge{Target: p.pointer(), Field: p.u32()}
}

// Targets decodes the targets of len(to) references, from reference i on.
func (e *GCBulkEdge) Targets(to []uint64, i int) {
	if e.ptr == 8 {
		b := e.values[12*i:]
		for k := range to {
			to[k] = binary.LittleEndian.Uint64(b[12*k:])
		}
		return
	}
	for k := range to {
		to[k] = e.At(i + k).Target
	}
}

// A Range is a range of memory.
type Range struct{ Start, Length uint64 }

// GCBulkSurvivingRanges reports which objects survived (R 21).
type GCBulkSurvivingRanges struct{ bulk }

// At returns range i.
func (e *GCBulkSurvivingRanges) At(i int) Range {
	p := e.at(i)
	return Range{Start: p.pointer(), Length: p.u64()}
}

// A MovedRange is a range of objects that a compaction moved.
type MovedRange struct{ Old, New, Length uint64 }

// GCBulkMovedRanges reports where objects were moved to (R 22).
type GCBulkMovedRanges struct{ bulk }

// At returns range i.
func (e *GCBulkMovedRanges) At(i int) MovedRange {
	p := e.at(i)
	return MovedRange{Old: p.pointer(), New: p.pointer(), Length: p.u64()}
}

// A RootCCW is a COM callable wrapper (Windows).
type RootCCW struct {
	Root, Object, TypeID, Unknown uint64
	Refs, PeggedRefs, Flags       uint32
}

// GCBulkRootCCW contains COM callable wrappers (R 36).
type GCBulkRootCCW struct{ bulk }

// At returns wrapper i.
func (e *GCBulkRootCCW) At(i int) RootCCW {
	p := e.at(i)
	return RootCCW{p.u64(), p.u64(), p.u64(), p.u64(), p.u32(), p.u32(), p.u32()}
}

// An RCW is a runtime callable wrapper (Windows).
type RCW struct {
	Object, TypeID, Unknown, VTable uint64
	Refs, Flags                     uint32
}

// GCBulkRCW contains runtime callable wrappers (R 37).
type GCBulkRCW struct{ bulk }

// At returns wrapper i.
func (e *GCBulkRCW) At(i int) RCW {
	p := e.at(i)
	return RCW{p.u64(), p.u64(), p.u64(), p.u64(), p.u32(), p.u32()}
}

// A StaticVar is a static field that is a root.
type StaticVar struct {
	Root, Object, TypeID uint64
	Flags                uint32 // 1: thread-local
	Field                UTF16
}

// GCBulkRootStaticVar contains static fields (R 38). Its values differ in size, so Next reads them
// one after the other.
type GCBulkRootStaticVar struct {
	Instance
	AppDomain uint64
	Count     int
	left      int
	p         payload
}

// Next decodes the next static field into v. It returns false after the last one and if the payload
// is corrupt.
func (e *GCBulkRootStaticVar) Next(v *StaticVar) bool {
	if e.left == 0 {
		return false
	}
	e.left--
	p := &e.p
	*v = StaticVar{Root: p.u64(), Object: p.u64(), TypeID: p.u64(), Flags: p.u32(), Field: p.utf16z()}
	return !p.bad
}

func (e *GCBulkRootStaticVar) decode(p *payload, _ int) {
	n := p.u32()
	e.AppDomain = p.u64()
	e.ClrInstance = p.u16()
	const smallest = 3*8 + 4 + 2
	e.Count = int(min(int64(n), int64(p.rest()/smallest)))
	e.left = e.Count
	e.p = payload{b: p.take(p.rest()), ptr: p.ptr}
}
