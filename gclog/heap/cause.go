package heap

import (
	"slices"
	"strings"
)

// A Cause is the kind of code that makes memory accumulate, as far as the types show it.
type Cause string

// The causes.
const (
	CauseFinalizers    Cause = "finalizer-queue" // objects wait for their finalizers
	CauseReplaced      Cause = "replaced-table"  // of them: what a ConditionalWeakTable has replaced by a larger one
	CauseAsync         Cause = "pending-async"   // async methods that have not ended
	CauseHandlers      Cause = "event-handlers"  // delegates of an event or a callback
	CauseTimers        Cause = "timers"
	CauseRegistrations Cause = "cancellation" // callbacks registered with a CancellationToken
	CauseScope         Cause = "service-scope"
	CauseCache         Cause = "memory-cache"
	CauseWeakTable     Cause = "weak-table" // a ConditionalWeakTable
	CauseQueue         Cause = "queue"
	CauseCollection    Cause = "collection" // of System.Collections
	CauseStructure     Cause = "structure"  // objects that refer to others of their type, such as a list
	CauseLarge         Cause = "large-object"
	CauseArray         Cause = "array"
	CauseHandles       Cause = "handles" // many objects, each held by a handle
	CauseShared        Cause = "shared"  // many objects, each held in several ways
	CauseObject        Cause = "object"  // none of the above
)

// causesByClass are the causes of which a class near the end of a path is evidence: among the last
// steps. What is specific comes first. A prefix ends with a dot.
var causesByClass = []struct {
	class string
	steps int
	cause Cause
}{
	{queuedTimer, 2, CauseTimers},
	{timerClass, 3, CauseTimers},
	{cancellationSource, 4, CauseRegistrations},
	{memoryCache, 6, CauseCache},
	{runtimeCache, 6, CauseCache},
	{weakTable, 3, CauseWeakTable},
	{workQueue, 4, CauseQueue},
	{channels, 5, CauseQueue},
	{blockingCollection, 4, CauseQueue},
	{concurrentQueue, 3, CauseQueue},
	{queueClass, 2, CauseQueue},
	{oldQueue, 2, CauseQueue},
	{collections, 3, CauseCollection},
}

// cause returns the cause of a suspect.
func (g *Graph) cause(x *Suspect) Cause {
	t := &g.Types[x.Type]
	if x.Holder.Root != nil && x.Holder.Root.Kind == RootFinalizer {
		if len(x.Path) > 0 && isClass(g.Types[x.Path[0].Type].class(), weakTable) {
			return CauseReplaced
		}
		return CauseFinalizers
	}
	main := t // what accumulates mainly
	if x.Object != NoObject && len(x.Below) > 0 {
		main = &g.Types[x.Below[0].Type]
	}
	if t.isPending() || main.isPending() {
		return CauseAsync
	}
	if t.isDelegate() || main.isDelegate() {
		return CauseHandlers
	}
	// near reports whether a class is among the last steps of the path.
	near := func(steps int, class string) bool {
		return slices.ContainsFunc(x.Path[max(0, len(x.Path)-steps):],
			func(s Step) bool { return isClass(g.Types[s.Type].class(), class) })
	}
	// An array of a table is as large as the table, whatever it is used for.
	ofTable := t.isArray() && (near(2, collections) || near(2, weakTable))
	single := x.Object != NoObject && x.Objects == 1
	if single && float64(g.Space(x.Object)) >= commonShare*float64(x.Own) && !ofTable {
		return CauseLarge
	}
	if t.isArray() && near(3, serviceScope) { // its list of what to dispose
		return CauseScope
	}
	for _, known := range causesByClass {
		if near(known.steps, known.class) {
			return known.cause
		}
	}
	switch {
	case x.Object == NoObject && len(x.Path) <= 1 && x.Holder.Root != nil && x.Holder.Root.Kind == RootHandle &&
		!x.Holder.Table:
		return CauseHandles
	case x.Object == NoObject:
		return CauseShared
	case x.Objects > 1:
		return CauseStructure
	case t.isArray():
		return CauseArray
	}
	return CauseObject
}

// The bits of Type.Flags.
const (
	typeDelegate = 1
	typeArray    = 8
)

func (t *Type) isDelegate() bool { return t.Flags&typeDelegate != 0 }

// isArray reports whether the objects of the type are arrays. Files of other tools have only the
// name.
func (t *Type) isArray() bool {
	if t.Element != 0 {
		return t.Flags&typeArray != 0
	}
	x, ok := t.exact()
	return ok && strings.HasSuffix(x.suffix, "]")
}

// exact parses the name of the type.
func (t *Type) exact() (exactType, bool) {
	p := exactParser{rest: t.exactly()}
	x := p.typ()
	return x, !p.bad && p.rest == ""
}

// class returns the name of the type, or of the elements of an array, without generic arguments:
// System.Collections.Generic.Dictionary+Entry, or only Entry if its outer class is unknown.
func (t *Type) class() string {
	x, ok := t.exact()
	if !ok {
		return ""
	}
	var names []string
	for _, s := range x.path {
		names = append(names, s.name)
	}
	return strings.Join(names, "+")
}

// isClass reports whether a class is a known one, or below a namespace, which ends with a dot. Of a
// nested class the outer one may be unknown.
func isClass(class, known string) bool {
	if strings.HasSuffix(known, ".") {
		return strings.HasPrefix(class, known)
	}
	return class == known || strings.HasSuffix(known, "+"+class)
}

// async returns the async method whose state is in objects of the type: Shop.Cart.Load(). It is ""
// for other types.
func (t *Type) async() string {
	x, ok := t.exact()
	if !ok || x.suffix != "" {
		return ""
	}
	method, _ := x.path[len(x.path)-1].boxed()
	return method
}
