package heap

import (
	"cmp"
	"slices"
)

// Detectors of how the heap is laid out.

// pinned counts the objects that handles or the stack pin, by type and by what pins them: Name. Objects
// in the pinned object heap, and arrays of static fields, are not counted.
func (x *inspector) pinned() Detection {
	type key struct {
		typ    int
		holder string
	}
	type pin struct {
		object Object
		holder string
	}
	groups, seen := tally[key]{}, map[pin]bool{}
	for i := range x.g.Roots {
		r := &x.g.Roots[i]
		p := pin{r.Object, Holder{Root: r}.String()}
		if !r.pins() || x.tables[r.Object] || seen[p] {
			continue
		}
		seen[p] = true
		k := key{x.g.Type(r.Object), p.holder}
		row := groups.row(k, func() Detail {
			d := x.detail(k.typ)
			d.Name = p.holder
			return d
		})
		row.add(x.g.Space(r.Object))
		row.Retained += x.d.Retained(r.Object)
	}
	found := x.report(groups.rows, byObjects)
	return found.when(found.Total.Objects >= manyPinned || found.Total.Bytes >= x.least)
}

// pins reports whether the root keeps its object from being moved.
func (r *Root) pins() bool { return r.Strong() && r.Flags&RootPinned != 0 }

// fragmentation lists the regions, or segments, that are mostly empty: Bytes is how much of a region is
// in use, Waste how much of that is free, and Pinned counts the objects in them that
// cannot be moved. Other is the type of most of those. Total counts all regions.
func (x *inspector) fragmentation() Detection {
	if len(x.g.regions) == 0 {
		return Detection{Missing: "the ranges of the generations"}
	}
	rows := make([]Detail, len(x.g.regions))
	for i, r := range x.g.regions {
		rows[i] = x.detail(NoType)
		rows[i].Name, rows[i].Start = r.generation.String(), r.start
	}
	live := make([]uint64, len(rows))
	for o, at := range x.g.address {
		if i := x.region(at); i >= 0 {
			rows[i].Objects++
			live[i] += x.g.Space(Object(o))
		}
	}
	types, seen := make([]mode[int], len(rows)), newBits(x.g.Len())
	for i := range x.g.Roots {
		r := &x.g.Roots[i]
		at := x.region(x.g.Address(r.Object))
		if !r.pins() || at < 0 || seen.has(r.Object) {
			continue
		}
		seen.set(r.Object)
		rows[at].Pinned++
		if types[at] == nil {
			types[at] = mode[int]{}
		}
		types[at][x.g.Type(r.Object)]++
	}
	const page = 4096
	var empty []Detail
	for i, r := range x.g.regions {
		rows[i].Bytes = r.end - r.start
		rows[i].Waste = rows[i].Bytes - min(rows[i].Bytes, live[i])
		rows[i].Other = mostOf(types[i])
		if 2*rows[i].Waste > rows[i].Bytes && rows[i].Bytes >= page {
			empty = append(empty, rows[i])
		}
	}
	all, found := x.report(rows, byWaste), x.report(empty, byWaste)
	found.Total = all.Total
	return found.when(found.Total.Waste >= x.least)
}

// region returns the index of the region that contains an address, or -1.
func (x *inspector) region(at uint64) int {
	i, _ := slices.BinarySearchFunc(x.g.regions, at,
		func(r generationRange, at uint64) int { return upTo(r.start, at) })
	if i == 0 || at >= x.g.regions[i-1].end {
		return -1
	}
	return i - 1
}

// largeObjects lists the objects of the large object heap. Without the ranges of the generations,
// they are those that are large enough for it: then Name is "by size".
func (x *inspector) largeObjects() Detection {
	var rows []Detail
	for o := range x.d.All {
		name := ""
		if len(x.g.regions) > 0 {
			if i := x.region(x.g.Address(o)); i < 0 || x.g.regions[i].generation != LOH {
				continue
			}
		} else if x.g.Size(o) < largeObject {
			continue
		} else {
			name = "by size"
		}
		r := x.ofObject(o)
		r.Name = name
		rows = append(rows, r)
	}
	found := x.report(rows, byBytes)
	return found.when(found.Total.Bytes >= x.least)
}

// boxed counts values that are objects of their own, except for those in static fields, which the
// runtime keeps so.
func (x *inspector) boxed() Detection {
	of := newBits(x.g.Len())
	for _, v := range x.g.Statics {
		of.set(v.Object)
	}
	groups := tally[int]{}
	for o := range x.objects(func(t int) bool {
		return x.g.Types[t].Element == elementValue || isPrimitive(x.g.Types[t].Element)
	}) {
		if t := x.g.Type(o); !of.has(o) {
			r := groups.row(t, func() Detail { return x.detail(t) })
			r.add(x.g.Space(o))
			r.Retained += x.d.Retained(o)
		}
	}
	found := x.report(groups.rows, byBytes)
	return found.when(found.Total.Objects >= manyObjects || found.Total.Bytes >= x.least)
}

// statics counts what the arrays of static fields hold without a name, by type: the values of static
// fields of generic types, and objects of the runtime such as assemblies.
func (x *inspector) statics() Detection {
	groups := tally[int]{}
	for table := range x.tables {
		number := x.d.number[table]
		if number == 0 {
			continue
		}
		for _, b := range x.below(number) {
			o := x.d.vertex[b-1]
			t := x.g.Type(o)
			r := groups.row(t, func() Detail { return x.detail(t) })
			r.add(x.g.Space(o))
			r.Retained += x.d.Retained(o)
		}
	}
	slices.SortFunc(groups.rows, func(a, b Detail) int { return cmp.Compare(a.Type, b.Type) })
	found := x.report(groups.rows, byRetained)
	return found.when(found.Total.Retained >= x.least)
}

// duplicates finds types that several modules define with the same name and the same place in their
// metadata: copies of an assembly, loaded into several load contexts. Copies says how many. If the
// paths of the modules are unknown, two types of both modules must agree, and names that compilers
// make do not count.
func (x *inspector) duplicates() Detection {
	type definition struct {
		name, path string
		token      uint32
	}
	const rowsOfToken = 0xffffff
	modules := map[definition][]uint64{}
	types := map[definition][]int{}
	for t := range x.g.Types {
		of := &x.g.Types[t]
		if x.counts[t].Objects == 0 || of.Definition&rowsOfToken == 0 || of.isArray() || len(of.Parameters) > 0 {
			continue
		}
		d := definition{of.String(), x.g.Modules[of.Module], of.Definition}
		types[d] = append(types[d], t)
		if !slices.Contains(modules[d], of.Module) {
			modules[d] = append(modules[d], of.Module)
		}
	}
	agree := map[[2]uint64]int{} // definitions of two modules
	for _, list := range modules {
		for i, a := range list {
			for _, b := range list[i+1:] {
				agree[[2]uint64{min(a, b), max(a, b)}]++
			}
		}
	}
	certain := func(d definition) bool {
		if d.path != "" {
			return true
		}
		if name, _ := compilerName(d.name); name != "" || d.name[0] == '<' {
			return false
		}
		for i, a := range modules[d] {
			for _, b := range modules[d][i+1:] {
				if agree[[2]uint64{min(a, b), max(a, b)}] > 1 {
					return true
				}
			}
		}
		return false
	}
	var rows []Detail
	for d, list := range types {
		if len(modules[d]) < 2 || !certain(d) {
			continue
		}
		r := x.detail(list[0])
		r.Copies = uint64(len(modules[d]))
		for _, t := range list {
			r.Objects += x.counts[t].Objects
			r.Bytes += x.counts[t].Bytes
			r.Retained += x.retained[t]
		}
		rows = append(rows, r)
	}
	return x.report(rows, func(r *Detail) uint64 { return r.Copies })
}

// collectible lists the assemblies that can be unloaded, and have not been: their LoaderAllocators.
// Objects is the number of objects of their types, each of which keeps them loaded, and Other is the
// type of most of these.
func (x *inspector) collectible() Detection {
	groups, types := tally[Object]{}, map[Object]mode[int]{}
	for o := range x.objects(func(t int) bool { return x.classes[t] == loaderAllocator }) {
		groups.row(o, func() Detail {
			r := x.ofObject(o)
			r.Count = Count{}
			return r
		})
		types[o] = mode[int]{}
	}
	if len(groups.rows) == 0 {
		return Detection{}
	}
	for o := range x.d.All {
		t := x.g.Type(o)
		switch class := x.classes[t]; {
		case isClass(class, reflection), isClass(class, runtimeNamespace), isClass(class, collections),
			class == runtimeType, class == objectClass:
			continue // the runtime's own
		}
		for _, to := range x.g.References(o) {
			if x.classes[x.g.Type(to)] == loaderAllocator {
				groups.rows[groups.index[to]].add(x.g.Space(o))
				types[to][t]++
				break
			}
		}
	}
	for i := range groups.rows {
		groups.rows[i].Other = mostOf(types[groups.rows[i].Object])
	}
	return x.report(groups.rows, byObjects)
}

// com counts the wrappers of COM by type and kind: Name.
func (x *inspector) com() Detection {
	type key struct {
		typ      int
		callable bool
	}
	groups := tally[key]{}
	for _, w := range x.g.Wrappers {
		k := key{x.g.Type(w.Object), w.Callable}
		r := groups.row(k, func() Detail {
			d := x.detail(k.typ)
			if d.Name = "runtime callable wrapper"; k.callable {
				d.Name = "COM callable wrapper"
			}
			return d
		})
		r.add(x.g.Space(w.Object))
		r.Retained += x.d.Retained(w.Object)
	}
	return x.report(groups.rows, byObjects)
}
