package heap

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// An Object is the index of an object in its Graph. The objects are in the order of the walk:
// generation by generation, by ascending address within each region.
type Object uint32

// NoObject is no object.
const NoObject = Object(math.MaxUint32)

// A Graph is a snapshot of a heap. It does not change after it was built, so several goroutines may
// use it.
type Graph struct {
	PointerSize int // 4 or 8 bytes
	Types       []Type
	Roots       []Root      // in the order of the stream, without duplicates; weak ones too
	Statics     []Static    // static fields that refer to an object
	Dependents  []Dependent // entries of ConditionalWeakTables, without those whose key or value is gone
	Wrappers    []Wrapper   // of COM, on Windows
	Walk        Walk
	Time        time.Time // when the collection ended; zero: unknown
	Process     Process
	Modules     Modules // by Type.Module
	// Methods are the names of the methods of stack roots, by Root.ID, if the session asked for them
	// with a rundown (MethodDCEndVerbose).
	Methods map[uint64]string

	address []uint64
	size    []uint32 // bytes; largeSize: see large
	typ     []uint32 // index into Types
	first   []uint32 // index of the first reference; one more entry than objects
	target  []Object // of the references
	large   map[Object]uint64
	ages    []Generation      // before the collection; nil: unknown
	regions []generationRange // after the collection, by address; nil: unknown
	index   addressIndex
}

// largeSize in Graph.size stands for a size that does not fit.
const largeSize = math.MaxUint32

// A Type is a type of the program, as the runtime names it (GCBulkType).
type Type struct {
	ID     uint64 // address of the MethodTable, or of the TypeDesc of an array in .NET Core 3.1
	Module uint64
	Token  uint32 // metadata token of its definition in the module
	Flags  uint32 // the flags of clr.Type
	// Element is the CorElementType: 0x11 value type, 0x12 class, 0x14 array, 0x1d vector.
	Element    uint8
	Parameters []uint64 // ids of the generic arguments, or of an array's element
	Kinds      []uint8  // CorElementTypes of Parameters, 0: unknown; nil: no Parameters, or all are unknown
	Name       string   // as in the stream: nested types lack the outer class; "": not in the stream
	Definition uint32   // Token, but for an array that of its elements, as far as it is known
	Exact      string   // the name as ClrMD writes it, set by Graph.Resolve
	Layout     uint64   // bytes of each object of a Continuation (runtime async), which share a name; else 0
	Symbol     string   // its symbol in a NativeAOT program, set by Graph.Resolve
	Events     []Event  // set by Graph.Resolve, without the events of base classes in other assemblies
}

// An Event is an event whose subscribers are in a field of the object, a delegate.
type Event struct {
	Name     string
	Delegate string // the class of the delegate, without generic arguments
}

// EventOf returns the name of the event for which an object of a type refers to another one, a
// delegate: "Changed", or "Changed or Closed" if it has several of that class. It is "" for other
// references.
func (g *Graph) EventOf(typ, referred int) string {
	events, to := g.Types[typ].Events, &g.Types[referred]
	if len(events) == 0 {
		return ""
	}
	class := to.class()
	var names []string
	for _, e := range events {
		if class != "" && isClass(class, e.Delegate) {
			names = append(names, e.Name)
		}
	}
	return strings.Join(names, " or ")
}

// String returns the name of the type, the exact one if it is known, and with it its Layout, if it has one.
func (t *Type) String() string {
	if t.Exact != "" {
		return t.Exact + t.layoutText()
	}
	switch {
	case t.isNative():
		return t.number()
	case t.Name == "":
		return fmt.Sprintf("unknown type 0x%x", t.ID)
	}
	return t.Name + t.layoutText()
}

// Defined reports whether the metadata of an assembly may have the definition of the type.
func (t *Type) Defined() bool { return t.Name != "" && t.Definition&0xffffff != 0 }

// Len returns the number of objects.
func (g *Graph) Len() int { return len(g.address) }

// Address returns the address of an object after the collection.
func (g *Graph) Address(o Object) uint64 { return g.address[o] }

// Size returns the size of an object in bytes as the runtime computes it: that of a string is 22
// bytes and two for each character. Space returns what it occupies.
func (g *Graph) Size(o Object) uint64 {
	if s := g.size[o]; s != largeSize {
		return uint64(s)
	}
	return g.large[o]
}

// Space returns the number of bytes that an object occupies: its size, rounded up to the pointer
// size.
func (g *Graph) Space(o Object) uint64 { return aligned(g.Size(o), g.PointerSize) }

// Type returns the index in Types of an object's type.
func (g *Graph) Type(o Object) int { return int(g.typ[o]) }

// References returns the objects that an object refers to, one for each field or array element that
// is not null. It belongs to the Graph.
func (g *Graph) References(o Object) []Object { return g.target[g.first[o]:g.first[o+1]] }

// NumReferences returns the number of all references.
func (g *Graph) NumReferences() int { return len(g.target) }

// At returns the object at an address, or false if there is none.
func (g *Graph) At(address uint64) (Object, bool) {
	o := g.index.find(g.address, address)
	return o, o != NoObject
}

// Nearest returns the object that contains an address, or else the nearest one, or false if there
// are no objects.
func (g *Graph) Nearest(address uint64) (Object, bool) {
	if o, ok := g.containing(address); ok {
		return o, true
	}
	before, after := g.index.before(g.address, address), g.index.after(g.address, address)
	switch {
	case before == NoObject:
		return after, after != NoObject
	case after == NoObject || address-g.end(before) < g.address[after]-address:
		return before, true
	}
	return after, true
}

// end returns the address after an object.
func (g *Graph) end(o Object) uint64 { return g.address[o] + g.Size(o) }

// containing returns the object that contains an address.
func (g *Graph) containing(address uint64) (Object, bool) {
	o := g.index.before(g.address, address)
	return o, o != NoObject && address-g.address[o] < g.Size(o)
}

// Unreachable counts the objects that no root keeps alive: frozen ones, as a rule.
func (g *Graph) Unreachable() (n Count) {
	reached := newSuccessors(g).reach(func(Object) bool { return false })
	for o := range Object(g.Len()) {
		n.add(g.Space(o))
	}
	return Count{n.Objects - reached.Objects, n.Bytes - reached.Bytes}
}

// Generation returns the generation in which an object was before the collection of the snapshot,
// or UnknownGeneration.
func (g *Graph) Generation(o Object) Generation {
	if g.ages == nil {
		return UnknownGeneration
	}
	return g.ages[o]
}

// UnknownTypes returns the number of types whose names are unknown.
func (g *Graph) UnknownTypes() (n int) {
	for i := range g.Types {
		if g.Types[i].Name == "" {
			n++
		}
	}
	return n
}
