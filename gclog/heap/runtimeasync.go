package heap

import "fmt"

// Runtime async, of .NET 11: the runtime itself suspends a method, and keeps the state in an object
// of class Continuation. A type of this name is a layout (a size, and where references are), which
// methods share; the method is behind a pointer that is not in the events.
// docs/heap.md ("Calls without a name") has what is known of these objects.

// A suspension is the part that objects of a type have in calls of runtime async.
type suspension uint8

const (
	noSuspension    suspension = iota
	suspendedCall              // a Continuation
	suspendedWait              // waits in front of the innermost call
	suspendedTask              // of the outermost call
	suspendedThread            // has a Continuation that is no call
)

// suspension returns the part of the objects of a type, given its class.
func (t *Type) suspension(class string) suspension {
	if t.isArray() {
		return noSuspension
	}
	switch {
	case class == continuation:
		return suspendedCall
	case class == taskContinuation, class != "" && isClass(class, sourceContinuation):
		return suspendedWait
	case isClass(class, runtimeAsyncTask):
		return suspendedTask
	case isClass(class, runtimeAsyncState):
		return suspendedThread
	}
	return noSuspension
}

// isPending reports whether objects of the type are, or belong to, calls of async methods that have
// not ended.
func (t *Type) isPending() bool {
	if t.async() != "" {
		return true
	}
	switch t.suspension(t.class()) {
	case suspendedCall, suspendedWait, suspendedTask:
		return true
	}
	return false
}

// isLayout reports whether the type is a layout, which shares the name of a Continuation with others. In
// a file of another tool one type may stand for all layouts.
func (t *Type) isLayout() bool { return t.Name == continuation && t.ID != 0 }

// layoutText tells apart the types that share the name of a Continuation.
func (t *Type) layoutText() string {
	if t.Layout == 0 {
		return ""
	}
	return fmt.Sprintf(", %d bytes", t.Layout)
}

// setLayouts fills in Type.Layout.
func (g *Graph) setLayouts() {
	var layouts []bool
	for i := range g.Types {
		if g.Types[i].isLayout() {
			if layouts == nil {
				layouts = make([]bool, len(g.Types))
			}
			layouts[i] = true
		}
	}
	for o := 0; o < g.Len() && layouts != nil; o++ {
		if t := g.typ[o]; layouts[t] {
			g.Types[t].Layout = g.Size(Object(o))
			layouts[t] = false
		}
	}
}

// setLayouts does the same: all objects of a layout have the same size.
func (h *Histogram) setLayouts() {
	for i := range h.Types {
		if c := &h.Counts[i]; c.Objects > 0 && h.Types[i].isLayout() {
			h.Types[i].Layout = c.RawBytes / c.Objects
		}
	}
}

// knowsLayouts reports whether all Continuations have one.
func (h *Histogram) knowsLayouts() bool {
	for i := range h.Types {
		if t := &h.Types[i]; t.Name == continuation && t.Layout == 0 && h.Counts[i].Objects > 0 {
			return false
		}
	}
	return true
}
