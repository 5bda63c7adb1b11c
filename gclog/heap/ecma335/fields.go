package ecma335

import (
	"iter"
	"sort"
)

// A Field is a field of a type: a static one, or that of an event.
type Field struct {
	Row   int    // in the table of fields: those of a type follow each other
	Owner uint32 // token of the type that declares it
	Name  string
	// Kind is the element type of the field's type: 0x0e string, 0x11 value type, 0x12 class or
	// interface, 0x14 array, 0x1c object, 0x1d vector.
	Kind byte
	// Type is the full name of the class or value type, without generic arguments; "" for others.
	Type string
	// Class reports whether the type is known to be no interface.
	Class bool
}

const (
	fieldStatic  = 0x10
	fieldLiteral = 0x40
	fieldRVA     = 0x100
)

// Statics returns the static fields that can refer to an object, in the order of their types,
// without those of generic types and those of threads. The sequence ends at the first error.
func (a *Assembly) Statics() iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		for row := 1; row <= a.NumTypes(); row++ {
			if ok, err := a.staticsOf(tokenTypeDef|uint32(row), yield); err != nil {
				yield(Field{}, err)
				return
			} else if !ok {
				return
			}
		}
	}
}

// staticsOf passes on the fields of one type.
func (a *Assembly) staticsOf(owner uint32, yield func(Field, error) bool) (bool, error) {
	generic, err := a.Generic(owner)
	if err != nil || generic {
		return true, err
	}
	fields, err := a.load(tableField)
	if err != nil {
		return true, err
	}
	from, to, err := a.fieldsOf(int(owner & 0xffffff))
	if err != nil {
		return true, err
	}
	for i := from; i < to; i++ {
		row, err := a.fieldAt(i)
		if err != nil {
			return true, err
		}
		if flags := fields.cell(row, 0); flags&fieldStatic == 0 || flags&(fieldLiteral|fieldRVA) != 0 {
			continue
		}
		f, err := a.field(fields, row)
		if err != nil {
			return true, err
		}
		if !f.refers() {
			continue
		}
		if thread, err := a.threadStatic(row); err != nil {
			return true, err
		} else if thread {
			continue
		}
		f.Owner = owner
		if !yield(f, nil) {
			return false, nil
		}
	}
	return true, nil
}

// fieldsOf returns the range of a type's fields.
func (a *Assembly) fieldsOf(row int) (from, to int, err error) {
	types, err := a.load(tableTypeDef)
	if err != nil {
		return 0, 0, err
	}
	last := max(a.tables[tableField].rows, a.tables[tableFieldPtr].rows) + 1
	from, to = int(types.cell(row, 4)), last
	if row < types.rows {
		to = int(types.cell(row+1, 4))
	}
	if from == 0 || from > to || to > last {
		return 0, 0, damage("the fields of type %d are %d to %d of %d", row, from, to-1, last-1)
	}
	return from, to, nil
}

// fieldAt returns the row of a field in a list of fields. Metadata that was edited has a table in
// between.
func (a *Assembly) fieldAt(i int) (int, error) {
	t, err := a.load(tableFieldPtr)
	if err != nil {
		return 0, err
	}
	if t.rows > 0 {
		if i > t.rows {
			return 0, damage("it has no field %d", i)
		}
		i = int(t.cell(i, 0))
	}
	if !a.exists(reference{tableField, i}) {
		return 0, damage("it has no field %d", i)
	}
	return i, nil
}

func (a *Assembly) field(fields *table, row int) (f Field, err error) {
	f = Field{Row: row}
	if f.Name, err = a.string(fields.cell(row, 1)); err != nil {
		return f, err
	}
	return f, a.fieldType(&f, fields.cell(row, 2))
}

// refers reports whether the field can refer to an object: numbers and pointers are stored
// elsewhere.
func (f *Field) refers() bool {
	switch f.Kind {
	case 0x0e, 0x11, 0x12, 0x14, 0x1c, 0x1d:
		return true
	}
	return false
}

// fieldType reads the signature of a field: its beginning is enough.
func (a *Assembly) fieldType(f *Field, index uint32) error {
	heap := a.heaps['b']
	b, err := heap.bytes(int64(index), min(64, max(heap.size-int64(index), 1)))
	if err != nil {
		return err
	}
	s := signature{b: b}
	length := int(s.number())
	s.b = s.b[:min(length, len(s.b))] // what is needed of it is at the beginning
	if s.byte() != 0x06 {
		return damage("the signature at %d is not a field's", index)
	}
	f.Kind = s.byte()
	for f.Kind == 0x1f || f.Kind == 0x20 { // modifiers, as that of volatile fields
		s.number()
		f.Kind = s.byte()
	}
	if f.Kind == 0x15 { // generic instance
		f.Kind = s.byte()
	}
	if f.Kind == 0x11 || f.Kind == 0x12 {
		r := decodeReference(s.number(), rowIndexes['T'])
		if f.Type, err = a.typeName(r); err != nil {
			return err
		}
		if r.table == tableTypeDef && a.exists(r) {
			f.Class = a.tables[tableTypeDef].cell(r.row, 0)&flagInterface == 0
		}
	}
	if s.bad {
		return damage("the signature at %d ends early", index)
	}
	return nil
}

// A signature is a blob that is being read.
type signature struct {
	b   []byte
	bad bool
}

func (s *signature) byte() byte {
	if len(s.b) == 0 {
		s.bad = true
		return 0
	}
	v := s.b[0]
	s.b = s.b[1:]
	return v
}

// number reads a compressed integer.
func (s *signature) number() uint32 {
	v := uint32(s.byte())
	more := 0
	switch {
	case v&0x80 == 0:
	case v&0x40 == 0:
		v, more = v&0x3f, 1
	default:
		v, more = v&0x1f, 3
	}
	for range more {
		v = v<<8 | uint32(s.byte())
	}
	return v
}

// maxConstructors is how many constructors of attributes are remembered.
const maxConstructors = 1 << 16

// threadStatic reports whether a field has the attribute ThreadStatic.
func (a *Assembly) threadStatic(row int) (bool, error) {
	if a.threads == nil {
		t, err := a.load(tableAttribute)
		if err != nil {
			return false, err
		}
		threads := make([]bool, a.tables[tableField].rows+1)
		is := map[reference]bool{} // constructors
		for i := 1; i <= t.rows; i++ {
			parent, constructor := t.reference(i, 0), t.reference(i, 1)
			if parent.table != tableField || !a.exists(parent) {
				continue
			}
			thread, known := is[constructor]
			if !known {
				name, err := a.declaringType(constructor)
				if err != nil {
					return false, err
				}
				thread = name == "System.ThreadStaticAttribute"
				if len(is) < maxConstructors {
					is[constructor] = thread
				}
			}
			threads[parent.row] = threads[parent.row] || thread
		}
		a.threads = threads
	}
	return a.threads[row], nil
}

// declaringType returns the full name of the type that declares a method.
func (a *Assembly) declaringType(method reference) (string, error) {
	if !a.exists(method) {
		return "", nil
	}
	if method.table == tableMemberRef {
		t, err := a.load(tableMemberRef)
		if err != nil {
			return "", err
		}
		return a.typeName(t.reference(method.row, 0))
	}
	types, err := a.load(tableTypeDef)
	if err != nil {
		return "", err
	}
	// The methods of a type follow those of the type before it.
	row := sort.Search(types.rows, func(i int) bool { return int(types.cell(i+1, 5)) > method.row })
	return a.typeName(reference{tableTypeDef, row})
}
