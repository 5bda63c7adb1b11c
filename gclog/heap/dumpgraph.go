package heap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A nodeGraph is the graph in a file as it is written: its nodes are objects and roots, and it does
// not distinguish them but by their names.
type nodeGraph struct {
	types []nodeType
	total int64
	root  uint32
	count int
	wide  bool

	// By node:
	address []uint64

	// By record. The order of the records is that in which the nodes were described, which is that of
	// the walk; dotnet-gcdump numbers the nodes in another order.
	series []series
	typ    []uint32
	size   []uint32
	first  []uint32
	target []uint32 // nodes
}

// A series is a number of nodes whose records follow each other.
type series struct{ first, end uint32 }

// order calls f for the node of each record, until f returns false.
func (n *nodeGraph) order(f func(record int, node uint32) bool) {
	record := 0
	for _, s := range n.series {
		for node := s.first; node < s.end; node++ {
			if !f(record, node) {
				return
			}
			record++
		}
	}
}

// The least bytes that elements of the lists need.
const (
	minTypeLen = 4 + 4 + 4
	minNodeLen = 4 + 8 // its offset and its address
)

// Programs have some 100,000 types, and as many groups of roots at most.
const (
	maxDumpTypes = 1 << 22
	maxPseudos   = 1 << 21
)

// read reads a graph after the head of its object.
func (n *nodeGraph) read(r *dumpReader, c class) {
	n.total = r.i64()
	root := r.i32()
	r.part = "the list of types"
	count := r.count(minTypeLen)
	if count > maxDumpTypes {
		r.fail("%s has %d elements; up to %d are read", r.part, count, maxDumpTypes)
	}
	n.types = make([]nodeType, 0, r.room(count))
	for ; count > 0 && r.err == nil; count-- {
		n.types = append(n.types, nodeType{name: r.text(), size: r.i32(), module: r.text()})
		r.kept += keptOfType
	}
	r.part = "the list of nodes"
	count = r.count(minNodeLen)
	if r.err == nil && (root < 0 || int(root) >= count) {
		r.fail("the root is node %d of %d", root, count)
	}
	n.root, n.count = uint32(root), count
	switch {
	case r.counting:
		n.skip(r, c, count)
		return
	case r.census != nil:
		r.census.read(r, n, c, count)
		return
	}
	offsets := make([]uint32, 0, r.room(count))
	for len(offsets) < count && r.err == nil {
		offsets = append(offsets, r.u32())
		r.kept += keptOfNode
	}
	if r.err != nil {
		return
	}
	n.series = seriesOf(offsets)
	n.records(r, offsets)
	if c.minReader >= 1 {
		n.deferredTypes(r)
	}
	r.part = "the list of addresses"
	if count := r.count(8); count != len(offsets) && r.err == nil {
		r.fail("%s has %d elements, but there are %d nodes", r.part, count, len(offsets))
	}
	n.address = make([]uint64, 0, r.room(len(offsets)))
	for len(n.address) < len(offsets) && r.err == nil {
		n.address = append(n.address, r.u64())
	}
	n.end(r)
}

// end reads what follows the addresses.
func (n *nodeGraph) end(r *dumpReader) {
	n.wide = true
	if tag := r.u8(); tag == tagByte {
		n.wide = r.u8() != 0
		r.finish()
	} else {
		r.skipTagged(tag)
	}
}

// seriesOf returns the described nodes in the order of their records.
func seriesOf(offsets []uint32) (all []series) {
	for i := 0; i < len(offsets); {
		if offsets[i] == 0 { // not described
			i++
			continue
		}
		s := series{first: uint32(i)}
		for i++; i < len(offsets) && offsets[i] > offsets[i-1]; i++ {
		}
		s.end = uint32(i)
		all = append(all, s)
	}
	byOffset := func(a, b series) int { return cmp.Compare(offsets[a.first], offsets[b.first]) }
	slices.SortStableFunc(all, byOffset)
	for i := 1; i < len(all); i++ {
		if offsets[all[i].first] <= offsets[all[i-1].end-1] { // they mix
			return single(offsets)
		}
	}
	return all
}

func single(offsets []uint32) (all []series) {
	for i, offset := range offsets {
		if offset != 0 {
			all = append(all, series{uint32(i), uint32(i) + 1})
		}
	}
	slices.SortStableFunc(all, func(a, b series) int { return cmp.Compare(offsets[a.first], offsets[b.first]) })
	return all
}

// records reads the records of the nodes. They must not overlap: else a small file could describe a
// graph of any size.
func (n *nodeGraph) records(r *dumpReader, offsets []uint32) {
	r.part = "the list of records"
	length := int64(r.count(1))
	start := r.offset()
	capacity := 0
	for _, s := range n.series {
		capacity += int(s.end - s.first)
	}
	n.typ = make([]uint32, 0, capacity)
	n.size = make([]uint32, 0, capacity)
	n.first = make([]uint32, 0, capacity+1)
	var targets column[uint32]
	nodes := int64(len(offsets))
	n.order(func(record int, node uint32) bool {
		gap := start + int64(offsets[node]) - r.offset()
		if gap < 0 || int64(offsets[node]) >= length {
			r.fail("the record of node %d is at byte %d of %d of the list, within another one or outside",
				node, offsets[node], length)
		}
		r.skip(gap)
		typ, size, children := n.recordHead(r, node, start+length)
		if r.err != nil {
			return false
		}
		n.typ = append(n.typ, typ)
		n.size = append(n.size, size)
		n.first = append(n.first, uint32(targets.n))
		for ; children > 0; children-- {
			child := int64(node) + int64(r.cint())
			if (child < 0 || child >= nodes) && r.err == nil {
				r.fail("node %d refers to node %d of %d", node, child, nodes)
			}
			if r.err != nil {
				return false
			}
			targets.add(uint32(child))
			r.kept += keptOfReference
		}
		if r.offset() > start+length {
			r.fail("the record of node %d exceeds the list", node)
		}
		return r.err == nil
	})
	n.first = append(n.first, uint32(targets.n))
	n.target = targets.flat()
	r.skip(start + length - r.offset())
}

// recordHead reads a record up to its references.
func (n *nodeGraph) recordHead(r *dumpReader, node uint32, end int64) (typ, size uint32, children int64) {
	head := r.cint()
	if r.err == nil && (head < 0 || int(head>>1) >= len(n.types)) {
		r.fail("node %d has type %d of %d", node, head>>1, len(n.types))
	}
	if r.err != nil {
		return 0, 0, 0
	}
	bytes := n.types[head>>1].size
	if head&1 != 0 {
		bytes = r.cint()
	}
	if bytes < 0 { // it did not fit
		bytes = maxNodeSize
	}
	children = int64(r.cint())
	if rest := end - r.offset(); (children < 0 || children > rest) && r.err == nil {
		r.fail("node %d has %d references, but the list has %d more bytes", node, children, rest)
	}
	return uint32(head >> 1), uint32(bytes), children
}

// deferredTypes reads the types of a NativeAOT program, whose names are in the symbols of a module.
func (n *nodeGraph) deferredTypes(r *dumpReader) {
	r.part = "the list of types without names"
	r.i32() // index of the label in the table at the end
	count := r.count(4 + 1 + 4)
	for i := 0; i < count && r.err == nil; i++ {
		id := r.i32()
		module := r.module()
		suffix := r.text()
		if i < len(n.types) && n.types[i].name == "" {
			t := &n.types[i]
			t.name, t.module, t.token = fmt.Sprintf("Type(0x%x)", uint32(id))+suffix, module.name, uint32(id)
		}
	}
	r.finish()
}

// module reads a module, which is only described once.
func (r *dumpReader) module() nodeType {
	s := r.slot()
	if s.class.name == "" {
		return r.modules[s.label]
	}
	if !r.known(s.class, classModule) {
		return nodeType{}
	}
	m := nodeType{name: r.text()}
	r.skip(8 + 4 + 8) // where it was in memory, its size, when it was built
	r.text()          // its symbols, and how to find them
	r.skip(16 + 4)
	r.finish()
	r.modules[s.label] = m
	r.kept += keptOfEntry
	return m
}

// isPseudo reports whether a node is a root or a group of roots, not an object.
func (n *nodeGraph) isPseudo(node, typ uint32) bool {
	return n.address[node] == 0 && n.types[typ].mayBePseudo()
}

// mayBePseudo reports whether nodes of the type that have no address are no objects.
func (t *nodeType) mayBePseudo() bool {
	return strings.HasPrefix(t.name, "[") && strings.HasSuffix(t.name, "]")
}

// A pseudo is a pseudo node that was read.
type pseudo struct {
	name   string
	target []uint32 // nodes
}

// graph makes the Graph.
func (d *dumpFile) graph() (*Graph, error) {
	n := &d.nodes
	g := &Graph{PointerSize: d.pointerSize(), large: map[Object]uint64{}}
	object := slices.Repeat([]Object{NoObject}, len(n.address)) // by node
	pseudos := d.takeObjects(g, object)
	if len(pseudos) > maxPseudos {
		return nil, &FormatError{Offset: 0, Msg: fmt.Sprintf("the file has more than %d groups of roots", maxPseudos)}
	}
	for node, address := range n.address {
		if address != 0 && object[node] == NoObject {
			if _, ok := pseudos[uint32(node)]; !ok {
				d.info.Undefined++
			}
		}
	}
	n.address = nil
	g.index = newAddressIndex(g.address)
	g.target = make([]Object, len(n.target))
	for i, node := range n.target {
		g.target[i] = object[node]
		if g.target[i] == NoObject {
			g.Walk.Unresolved++
		}
	}
	n.target = nil
	if g.Walk.Unresolved > 0 {
		g.dropUnresolved()
	}
	g.Walk.Objects, g.Walk.References = uint64(g.Len()), uint64(len(g.target))

	if d.private != nil {
		if _, err := d.readPrivate(g, true); err != nil { // the counts follow from the objects
			return nil, err
		}
		g.setLayouts()
		return g, nil
	}
	used := make([]bool, len(n.types))
	for _, typ := range g.typ {
		used[typ] = true
	}
	index := d.types(g, used)
	for o, typ := range g.typ {
		g.typ[o] = index[typ]
	}
	d.roots(g, pseudos, object)
	canonicalize(g.Types)
	g.Walk.Rootless = g.Len() > 0 && len(g.Roots)+len(g.Statics) == 0
	if d.regions != nil {
		sortRanges(d.regions)
		g.regions = d.regions
		g.ages = (&layout{ranges: g.regions}).ages(g.address)
	}
	d.cutGraph(g)
	return g, nil
}

func (d *dumpFile) pointerSize() int {
	if d.wide {
		return 8
	}
	return 4
}

// takeObjects moves what is known of the objects into the Graph, and returns the pseudo nodes. The
// Graph's types are still those of the file, and the references are still nodes, of nodeGraph.
func (d *dumpFile) takeObjects(g *Graph, object []Object) map[uint32]pseudo {
	n := &d.nodes
	pseudos := map[uint32]pseudo{}
	g.address = make([]uint64, 0, len(n.typ))
	objects, targets := 0, uint32(0)
	n.order(func(record int, node uint32) bool {
		typ, list := n.typ[record], n.target[n.first[record]:n.first[record+1]]
		switch {
		case typ == 0 && n.types[0].name == undefined:
		case n.isPseudo(node, typ):
			pseudos[node] = pseudo{n.types[typ].name, slices.Clone(list)}
			return len(pseudos) <= maxPseudos
		default:
			object[node] = Object(objects)
			n.typ[objects], n.size[objects] = typ, n.size[record]
			n.first[objects] = targets
			copy(n.target[targets:], list)
			g.address = append(g.address, n.address[node])
			objects++
			targets += uint32(len(list))
		}
		return true
	})
	if len(n.first) > 0 {
		n.first[objects] = targets
	}
	g.typ, g.size, g.first = n.typ[:objects], n.size[:objects], n.first[:objects+1]
	n.target = n.target[:targets]
	return pseudos
}

// exactTypes numbers the types of a file that gclog wrote as the Graph does, and finds their modules. They
// are the first ones after that of the undefined node.
func (d *dumpFile) exactTypes(g *Graph) error {
	n := &d.nodes
	for i, typ := range g.typ {
		if typ == 0 || int(typ) > len(g.Types) {
			return &FormatError{
				Offset: d.privateOff,
				Msg: fmt.Sprintf("an object has type %d, but gclog's own part of the file has %d types",
					typ, len(g.Types)),
			}
		}
		g.typ[i] = typ - 1
	}
	for i := range g.Types {
		t, file := &g.Types[i], &n.types[i+1]
		if file.module != "" && file.module != moduleName(t.Module, nil) {
			d.addModule(t.Module, file.module)
		}
	}
	d.multipliers(g, func(i int) int { return i + 1 })
	return nil
}

func (d *dumpFile) addModule(id uint64, path string) {
	if d.info.Modules == nil {
		d.info.Modules = Modules{}
	}
	d.info.Modules[id] = path
}

// multipliers finds those of the types in a sample; file returns the index of a type in the file.
func (d *dumpFile) multipliers(g *Graph, file func(int) int) {
	if len(d.sampled) == 0 {
		return
	}
	d.info.Multipliers = slices.Repeat([]float32{1}, len(g.Types))
	for i := range g.Types {
		if at := file(i); at < len(d.sampled) {
			d.info.Multipliers[i] = d.sampled[at]
		}
	}
}

// types makes the list of the types that objects have. It returns the index in g.Types of each type
// in the file.
func (d *dumpFile) types(g *Graph, used []bool) (index []uint32) {
	n := &d.nodes
	index = make([]uint32, len(n.types))
	var from []int                 // by index in g.Types
	base := map[[2]string]uint32{} // of the types whose names may have suffixes, by name and module
	modules := map[string]uint64{}
	for pass := range 2 { // first those without suffixes
		for i := range n.types {
			file := &n.types[i]
			name, cut := cutSizeSuffix(file.name)
			if !used[i] || cut != (pass == 1) {
				continue
			}
			key := [2]string{name, file.module}
			if at, ok := base[key]; ok && cut {
				index[i] = at
				continue
			}
			t := Type{Name: name, Token: file.token, Module: d.moduleID(modules, file.module)}
			if id, ok := scanHex(name, unknownFormat); ok {
				t.ID, t.Name = id, ""
			}
			index[i] = uint32(len(g.Types))
			base[key] = index[i]
			g.Types = append(g.Types, t)
			from = append(from, i)
		}
	}
	d.multipliers(g, func(i int) int { return from[i] })
	return index
}

// moduleID returns the id of a module: the one in its name if it has no path, else a new one.
func (d *dumpFile) moduleID(known map[string]uint64, path string) uint64 {
	if path == "" {
		return 0
	}
	if id, ok := scanHex(path, moduleFormat); ok {
		return id
	}
	id, ok := known[path]
	if !ok {
		id = uint64(len(known) + 1)
		known[path] = id
		d.addModule(id, path)
	}
	return id
}

// scanHex finds a number in a name that was made with a format.
func scanHex(name, format string) (v uint64, ok bool) {
	_, err := fmt.Sscanf(name, format, &v)
	return v, err == nil && strings.EqualFold(fmt.Sprintf(format, v), name)
}

// cutSizeSuffix removes what dotnet-gcdump appends to the types of objects of more than 1000 bytes.
func cutSizeSuffix(name string) (string, bool) {
	const suffix = " (Bytes > "
	if i := strings.LastIndex(name, suffix); i > 0 && strings.HasSuffix(name, ")") {
		return name[:i], true
	}
	return name, false
}

// roots makes the roots of the pseudo nodes. Each object below one is a root of the innermost
// category that it is in.
func (d *dumpFile) roots(g *Graph, pseudos map[uint32]pseudo, object []Object) {
	type step struct {
		node     uint32
		category rootCategory
	}
	todo := []step{{d.nodes.root, rootCategory{kind: RootOther}}}
	seen := map[uint32]bool{}
	known := map[Root]bool{}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p, ok := pseudos[s.node]
		if !ok || seen[s.node] {
			continue
		}
		seen[s.node] = true
		i := slices.IndexFunc(rootCategories, func(c rootCategory) bool { return c.name == p.name })
		if i >= 0 {
			s.category = rootCategories[i]
		}
		for _, node := range p.target {
			if o := object[node]; o == NoObject {
				continue
			} else if field, ok := staticField(p.name, g.Types[g.typ[o]].Name); ok {
				g.Statics = append(g.Statics, Static{Object: o, Type: int(g.typ[o]), Field: field})
			} else if r := (Root{Object: o, Kind: s.category.kind, Flags: s.category.flags}); !known[r] {
				known[r] = true
				g.Roots = append(g.Roots, r)
			}
		}
		for _, node := range slices.Backward(p.target) {
			if object[node] == NoObject {
				todo = append(todo, step{node, s.category})
			}
		}
	}
	if o := object[d.nodes.root]; o != NoObject {
		g.Roots = append(g.Roots, Root{Object: o, Kind: RootOther})
	}
}

// staticField returns the field in the name of a pseudo node: what follows the type of the value,
// which dotnet-gcdump writes, or else the name with the class that declares it.
func staticField(pseudo, typ string) (string, bool) {
	name, ok := strings.CutPrefix(pseudo, staticPrefix)
	if !ok {
		name, ok = strings.CutPrefix(pseudo, threadPrefix)
	}
	if !ok {
		return "", false
	}
	name = strings.TrimSuffix(name, "]")
	if field, ok := strings.CutPrefix(name, typ+"."); ok {
		return field, true
	}
	return name, true
}
