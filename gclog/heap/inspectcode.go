package heap

import "strings"

// Detectors of what code keeps alive: callbacks, timers, finalizers.

// handlers lists events with many subscribers: a delegate that has a list of delegates. Other is the
// type of most of the subscribers, or NoType if most of the methods are static.
func (x *inspector) handlers() Detection {
	var rows []Detail
	for o := range x.objects(func(t int) bool { return x.g.Types[t].isDelegate() }) {
		for _, list := range x.g.References(o) {
			if !x.isInvocationList(x.g.Type(list)) {
				continue
			}
			targets, n := mode[int]{}, uint64(0)
			for _, h := range x.g.References(list) {
				if x.g.Types[x.g.Type(h)].isDelegate() {
					targets[x.target(h)]++
					n++
				}
			}
			if n >= manyHandlers {
				r := x.ofObject(o)
				r.Objects, r.Other = n, mostOf(targets)
				rows = append(rows, r)
			}
		}
	}
	return x.report(rows, byRetained)
}

// isInvocationList reports whether a type is that of the list of a delegate with several targets: an
// Object[], and from .NET 11 on an array of a nested class of Delegate.
func (x *inspector) isInvocationList(t int) bool {
	class := x.classes[t]
	return x.g.Types[t].isArray() && (class == objectClass || isClass(class, delegateList))
}

// target returns the type of the object that a delegate calls, or NoType for a static method. The
// delegate of a static method refers to itself.
func (x *inspector) target(delegate Object) int {
	for _, to := range x.g.References(delegate) {
		if to == delegate {
			break
		}
		if class := x.classes[x.g.Type(to)]; class != loaderAllocator {
			return x.g.Type(to)
		}
	}
	return NoType
}

// closures counts the objects of classes that the compiler made for lambdas that use variables, and
// for iterators.
func (x *inspector) closures() Detection {
	rows := x.ofTypes(func(t int) bool {
		_, made := compilerName(x.classes[t][strings.LastIndexByte(x.classes[t], '+')+1:])
		closure := strings.HasPrefix(made, "c__DisplayClass")
		iterator := strings.HasPrefix(made, "d__")
		return (closure || iterator) && !x.g.Types[t].isArray()
	})
	found := x.report(rows, byRetained)
	return found.when(found.Total.Objects >= manyObjects || found.Total.Retained >= x.least)
}

// timers counts timers by Other, the type of what they call: the object of their callback, or its
// argument if that is what the compiler made for lambdas.
func (x *inspector) timers() Detection {
	groups := tally[int]{}
	for o := range x.objects(func(t int) bool { return x.classes[t] == queuedTimer }) {
		called, argument := NoType, NoType
		for _, to := range x.g.References(o) {
			switch t := x.g.Type(to); {
			case x.g.Types[t].isDelegate():
				called = x.target(to)
			case !isClass(x.classes[t], threading) || x.classes[t] == timerClass:
				argument = t
			case isClass(x.classes[t], tasks):
				argument = t
			}
		}
		if called == NoType || strings.Contains(x.classes[called], "<>c") && argument != NoType {
			called = argument
		}
		r := groups.row(called, func() Detail {
			r := x.detail(x.g.Type(o))
			r.Other = called
			return r
		})
		r.add(x.g.Space(o))
	}
	found := x.report(groups.rows, byObjects)
	return found.when(found.Total.Objects >= manyTimers)
}

// weakTables counts the entries of ConditionalWeakTables by the types of their keys, and of their
// values: Other.
func (x *inspector) weakTables() Detection {
	groups := tally[[2]int]{}
	for _, e := range x.g.Dependents {
		if !x.d.Reachable(e.Key) {
			continue
		}
		key := [2]int{x.g.Type(e.Key), x.g.Type(e.Value)}
		r := groups.row(key, func() Detail {
			r := x.detail(key[0])
			r.Other = key[1]
			return r
		})
		r.add(x.g.Space(e.Value))
		r.Retained += x.d.Retained(e.Value)
	}
	found := x.report(groups.rows, byRetained)
	return found.when(found.Total.Objects >= manyObjects || found.Total.Retained >= x.least)
}

// finalizers counts the objects that wait for their finalizers.
func (x *inspector) finalizers() Detection {
	waiting := newBits(x.g.Len())
	groups := tally[int]{}
	for _, r := range x.g.Roots {
		if r.Kind == RootFinalizer && !waiting.has(r.Object) {
			waiting.set(r.Object)
			t := x.g.Type(r.Object)
			groups.row(t, func() Detail { return x.detail(t) }).add(x.g.Space(r.Object))
		}
	}
	if len(groups.rows) == 0 {
		return Detection{}
	}
	for i, retained := range x.d.retainedBy(len(groups.rows), func(o Object) int {
		if waiting.has(o) {
			return groups.index[x.g.Type(o)]
		}
		return NoType
	}) {
		groups.rows[i].Retained = retained
	}
	return x.report(groups.rows, byObjects)
}

// finalizable counts the objects of types with a finalizer. Whether it was suppressed, the events do
// not say.
func (x *inspector) finalizable() Detection {
	const typeFinalizable = 2
	found := x.report(x.ofTypes(func(t int) bool { return x.g.Types[t].Flags&typeFinalizable != 0 }), byRetained)
	return found.when(found.Total.Objects >= manyObjects || found.Total.Retained >= x.least)
}
