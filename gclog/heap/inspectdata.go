package heap

import (
	"fmt"
	"math"
	"strings"
)

// Detectors of data: strings, arrays and collections.

// lengths are the classes of lengths of strings, by their longest.
var lengths = []uint64{0, 15, 63, 255, 1023, 16383, math.MaxUint64}

// strings counts strings by length. What is in them, the events do not say.
func (x *inspector) strings() Detection {
	rows := make([]Detail, len(lengths))
	for o := range x.objects(x.isString) {
		i := 0
		for n := x.length(o); n > lengths[i]; {
			i++
		}
		if r := &rows[i]; r.Objects == 0 {
			*r = x.detail(x.g.Type(o))
			r.Name = lengthName(i)
		}
		rows[i].add(x.g.Space(o))
	}
	found := x.report(withObjects(rows), byBytes)
	return found.when(found.Total.Bytes >= x.least)
}

func lengthName(i int) string {
	switch i {
	case 0:
		return "empty"
	case len(lengths) - 1:
		return fmt.Sprintf("%d characters and more", lengths[i-1]+1)
	}
	return fmt.Sprintf("%d to %d characters", lengths[i-1]+1, lengths[i])
}

func withObjects(rows []Detail) (list []Detail) {
	for _, r := range rows {
		if r.Objects > 0 {
			list = append(list, r)
		}
	}
	return list
}

func (x *inspector) isString(t int) bool {
	return x.g.Types[t].Element == elementString || x.classes[t] == stringClass && !x.g.Types[t].isArray()
}

// length returns the number of characters in a string.
func (x *inspector) length(o Object) uint64 {
	head := uint64(22) // the word before it, its type, its length, and the zero at its end
	if x.g.PointerSize == 4 {
		head = 14
	}
	return (max(x.g.Size(o), head) - head) / 2
}

// largeObject is the size from which objects are large, unless a setting says otherwise.
const largeObject = 85_000

func (x *inspector) largeStrings() Detection {
	var rows []Detail
	for o := range x.objects(x.isString) {
		if x.g.Size(o) >= largeObject {
			r := x.ofObject(o)
			r.Slots = x.length(o)
			rows = append(rows, r)
		}
	}
	return x.report(rows, byBytes)
}

// sparseArrays finds arrays of references of which less than half are set. Other is the type of
// their owner: the object that alone keeps the array alive.
func (x *inspector) sparseArrays() Detection {
	return x.sparse(func(owner int) bool { return owner == NoType || !x.isCollection(owner) }, nil)
}

// overallocated does so for those of collections, which grow by doubling and do not shrink, and for
// dictionaries.
func (x *inspector) overallocated() Detection {
	found := x.sparse(func(owner int) bool { return owner != NoType && x.isCollection(owner) }, x.dictionaries())
	for i := range x.g.Types {
		if t := &x.g.Types[i]; t.Symbol != "" && x.isDictionary(i) && len(t.Parameters) == 0 {
			found.Missing = "the type parameters of dictionaries, which NativeAOT does not send"
		}
	}
	return found
}

// fewSlots is the length of arrays that are too short to report.
const fewSlots = 8

func (x *inspector) sparse(owned func(owner int) bool, more []Detail) Detection {
	groups := tally[[2]int]{}
	for o := range x.objects(x.holdsReferences) {
		slots, used := x.slots(o), uint64(len(x.g.References(o)))
		if slots < fewSlots || 2*used >= slots || x.tables[o] {
			continue
		}
		owner := NoType
		if above := x.d.Dominator(o); above != NoObject && !x.tables[above] {
			owner = x.g.Type(above)
		}
		if !owned(owner) {
			continue
		}
		r := groups.row([2]int{x.g.Type(o), owner}, func() Detail {
			r := x.detail(x.g.Type(o))
			r.Other = owner
			return r
		})
		r.add(x.g.Space(o))
		r.Slots += slots
		r.Used += used
		r.Waste += (slots - used) * uint64(x.g.PointerSize)
	}
	found := x.report(append(groups.rows, more...), byWaste)
	return found.when(found.Total.Waste >= x.least)
}

// holdsReferences reports whether objects of a type are arrays of references.
func (x *inspector) holdsReferences(t int) bool {
	of := &x.g.Types[t]
	return of.Element == elementVector && len(of.Kinds) == 1 && isReference(of.Kinds[0])
}

func isReference(kind uint8) bool {
	switch kind {
	case elementString, elementClass, elementArray, elementObject, elementVector:
		return true
	}
	return false
}

// isPrimitive reports whether values of a kind are numbers.
func isPrimitive(kind uint8) bool {
	const boolean, float64, intPtr, uintPtr = 0x02, 0x0d, 0x18, 0x19
	return kind >= boolean && kind <= float64 || kind == intPtr || kind == uintPtr
}

// slots returns the number of elements of an array of references.
func (x *inspector) slots(o Object) uint64 { return x.elements(o, uint64(x.g.PointerSize)) }

// elements returns the number of elements of an array by their size.
func (x *inspector) elements(o Object, size uint64) uint64 {
	head := uint64(3 * x.g.PointerSize) // the word before it, its type, its length
	return (max(x.g.Size(o), head) - head) / size
}

// isCollection reports whether objects of a type are collections of .NET, not their arrays or nodes.
func (x *inspector) isCollection(t int) bool {
	class := x.classes[t]
	return isClass(class, collections) && !x.g.Types[t].isArray() && !isInternal(class)
}

// isInternal reports whether a class is part of a collection.
func isInternal(class string) bool {
	name := class[strings.LastIndexAny(class, ".+")+1:]
	return strings.Contains(class, "+") || strings.HasSuffix(name, nodeEnd) || strings.HasSuffix(name, segmentEnd) ||
		strings.HasSuffix(name, comparerEnd)
}

// dictionaries finds dictionaries and hash sets of which less than half of the capacity is used. The
// capacity is the length of the array of buckets. How many entries are used follows from their
// references, if keys and values are references or numbers; values that are null are not seen.
func (x *inspector) dictionaries() []Detail {
	groups := tally[int]{}
	for o := range x.objects(x.isDictionary) {
		perEntry, ok := referencesOf(x.g.Types[x.g.Type(o)].Kinds)
		buckets, entries := NoObject, NoObject
		for _, part := range x.g.References(o) {
			switch t := &x.g.Types[x.g.Type(part)]; {
			case t.Element != elementVector:
			case x.classes[x.g.Type(part)] == int32Class:
				buckets = part
			case x.parts[x.g.Type(part)]:
				entries = part
			}
		}
		if !ok || buckets == NoObject || entries == NoObject {
			continue
		}
		const bucket = 4
		capacity, references := x.elements(buckets, bucket), uint64(len(x.g.References(entries)))
		used := (references + perEntry - 1) / perEntry
		if capacity < fewSlots || 2*used >= capacity {
			continue
		}
		r := groups.row(x.g.Type(o), func() Detail { return x.detail(x.g.Type(o)) })
		r.add(x.g.Space(o) + x.g.Space(buckets) + x.g.Space(entries))
		r.Slots += capacity
		r.Used += used
		r.Waste += (capacity - used) * ((x.g.Space(buckets) + x.g.Space(entries)) / capacity)
	}
	return groups.rows
}

func (x *inspector) isDictionary(t int) bool {
	return (x.classes[t] == dictionaryClass || x.classes[t] == hashSetClass) && !x.g.Types[t].isArray()
}

// referencesOf returns the number of references in an entry with fields of some kinds, or false if
// that is unknown or 0.
func referencesOf(kinds []uint8) (n uint64, ok bool) {
	for _, kind := range kinds {
		switch {
		case isReference(kind):
			n++
		case !isPrimitive(kind):
			return 0, false
		}
	}
	return n, n > 0
}

// collections lists collections that retain much. Other is the type of most of what is in them, and
// Objects is how many of these there are.
func (x *inspector) collections() Detection {
	var rows []Detail
	for o := range x.objects(x.isCollection) {
		if x.d.Retained(o) < x.least {
			continue
		}
		r := x.ofObject(o)
		r.Other, r.Objects = x.contents(o)
		rows = append(rows, r)
	}
	return x.report(rows, byRetained)
}

// contents returns the type of the objects that have most of what is in a collection, and their
// number: what is below its arrays and nodes.
func (x *inspector) contents(o Object) (typ int, objects uint64) {
	const deepest = 6
	groups := tally[int]{}
	level := []uint32{x.d.number[o]}
	for range deepest {
		var parts []uint32
		for _, number := range level {
			for _, b := range x.below(number) {
				of := x.d.vertex[b-1]
				t := x.g.Type(of)
				switch {
				case x.isPart(t):
					parts = append(parts, b)
					continue
				case x.g.Types[t].Element == elementObject: // locks
					continue
				}
				r := groups.row(t, func() Detail { return x.detail(t) })
				r.add(x.g.Space(of))
				r.Retained += x.d.Retained(of)
			}
		}
		level = parts
	}
	if found := x.report(groups.rows, byRetained); len(found.Rows) > 0 {
		return found.Rows[0].Type, found.Rows[0].Objects
	}
	return NoType, 0
}

// isPart reports whether objects of a type are arrays or nodes of a collection. Without assemblies
// nested classes have no namespace.
func (x *inspector) isPart(t int) bool {
	class := x.classes[t]
	if isClass(class, collections) {
		return x.g.Types[t].isArray() || isInternal(class)
	}
	return x.parts[t] || x.g.Types[t].isArray()
}
