package heap

// typeNumbers are the types of the objects of a walk, in the order of their first use.
type typeNumbers struct {
	ids    []uint64
	byID   map[uint64]uint32
	recent *[256]recentType
}

// A recentType is an entry of a cache.
type recentType struct {
	id     uint64
	number uint32 // plus 1; 0: none
}

// of returns the number of a type.
func (t *typeNumbers) of(id uint64) uint32 {
	if t.recent == nil {
		t.byID, t.recent = map[uint64]uint32{}, new([256]recentType)
	}
	r := &t.recent[id*0x9e3779b97f4a7c15>>56] // spreads the ids, which are addresses
	if r.id != id || r.number == 0 {
		i, ok := t.byID[id]
		if !ok {
			i = uint32(len(t.ids))
			t.ids = append(t.ids, id)
			t.byID[id] = i
		}
		*r = recentType{id, i + 1}
	}
	return r.number - 1
}

// A typeTable is the list of the types that are used.
type typeTable struct {
	declared map[uint64]*Type
	types    []Type
	byID     map[uint64]int
}

// newTypeTable returns a table of the types of a walk, by their numbers.
func (b *Builder) newTypeTable(w *walk) *typeTable {
	t := &typeTable{declared: b.types, byID: map[uint64]int{}}
	for _, id := range w.types.ids {
		t.index(id)
	}
	return t
}

// index returns the index in types of a type.
func (t *typeTable) index(id uint64) int {
	i, ok := t.byID[id]
	if !ok {
		known := t.declared[id]
		if known == nil {
			known = &Type{ID: id}
		}
		i = len(t.types)
		t.byID[id] = i
		t.types = append(t.types, *known)
		t.types[i].Definition, t.types[i].Kinds = t.definition(known), t.kinds(known)
	}
	return i
}

// definition returns the token of a type, and for arrays that of their elements: arrays of arrays
// too. The elements need not have objects.
func (t *typeTable) definition(of *Type) uint32 {
	const rows, depth = 0xffffff, 32
	for range depth {
		if of == nil || of.Token&rows != 0 || len(of.Parameters) != 1 {
			break
		}
		if element := t.declared[of.Parameters[0]]; element == nil || element.Module != of.Module {
			return of.Token
		} else {
			of = element
		}
	}
	return of.Token
}

// kinds returns the CorElementTypes of a type's parameters. These need not have objects either.
func (t *typeTable) kinds(of *Type) []uint8 {
	var kinds []uint8
	for i, id := range of.Parameters {
		if known := t.declared[id]; known != nil {
			if kinds == nil {
				kinds = make([]uint8, len(of.Parameters))
			}
			kinds[i] = known.Element
		}
	}
	return kinds
}
