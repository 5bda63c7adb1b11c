package heap

import "github.com/gclog/gclog/parse/clr"

// A Root is what keeps an object alive from outside the heap (GCBulkRootEdge).
type Root struct {
	Object Object
	Kind   clr.RootKind
	Flags  RootFlags
	// ID is the MethodDesc of the method whose frame holds the object (0: unknown) for the stack, the
	// address of the handle for a handle, and 0 for the finalizer queue.
	ID uint64
}

// The kinds of roots that .NET has.
const (
	RootStack     = clr.RootKind(0)
	RootFinalizer = clr.RootKind(1) // the queue of objects that wait for their finalizer
	RootHandle    = clr.RootKind(2)
	RootOther     = clr.RootKind(3)
)

// RootFlags are the properties of a root.
type RootFlags uint32

// The flags of a root.
const (
	RootPinned     RootFlags = 1
	RootWeak       RootFlags = 2
	RootInterior   RootFlags = 4
	RootRefCounted RootFlags = 8 // a COM handle; with RootWeak: its count is zero
)

// Strong reports whether the root keeps its object alive.
func (r *Root) Strong() bool { return r.Flags&RootWeak == 0 }

// A Static is a static field that refers to an object (GCBulkRootStaticVar). The field's slot is in
// an array that a handle keeps alive: the Static only adds the name.
type Static struct {
	Slot   uint64 // address of the field
	Object Object
	Type   int    // index in Types of the type of the value, which is not the class that declares it
	Field  string // its name; "": unknown, as in NativeAOT programs
	// Declaring is the exact name of the class that declares it, set by Graph.Resolve; "": unknown.
	Declaring string
}

// name returns the name of the field with that of a class; only that of the class if the other is unknown.
func (s *Static) name(class string) string {
	if s.Field == "" {
		return class
	}
	return class + "." + s.Field
}

// A Dependent is an entry of a ConditionalWeakTable: Value is alive because Key is
// (GCBulkRootConditionalWeakTableElementEdge).
type Dependent struct{ Key, Value Object }

// addMethod adds the name of a method.
func (g *Graph) addMethod(id uint64, name string) {
	if g.Methods == nil {
		g.Methods = map[uint64]string{}
	}
	g.Methods[id] = name
}

// A Wrapper connects an object with COM, which only Windows has (GCBulkRCW, GCBulkRootCCW).
type Wrapper struct {
	Object Object
	// Callable: native code uses the object, through a COM callable wrapper. Otherwise the object is a
	// runtime callable wrapper, and keeps a COM object alive.
	Callable   bool
	References uint32
}
