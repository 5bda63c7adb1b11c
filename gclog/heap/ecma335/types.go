package ecma335

import (
	"slices"
	"strings"
)

// A Type is the definition of a type.
type Type struct {
	Token     uint32 // 0x02000000 and its row
	Flags     uint32 // TypeAttributes
	Namespace string // "" for nested types
	Name      string // with the number of its own type parameters: Entry, Dictionary`2
}

const flagInterface = 0x20

const tokenTypeDef = tableTypeDef << 24

// maxNesting limits how deep classes are nested in each other.
const maxNesting = 64

// NumTypes returns the number of types that the assembly defines.
func (a *Assembly) NumTypes() int { return a.tables[tableTypeDef].rows }

// Type returns the definition with a token (0x02000001 and up).
func (a *Assembly) Type(token uint32) (Type, error) {
	t, err := a.load(tableTypeDef)
	if err != nil {
		return Type{}, err
	}
	row := int(token & 0xffffff)
	if token>>24 != tableTypeDef || row == 0 || row > t.rows {
		return Type{}, damage("it has no type 0x%x", token)
	}
	name, err := a.string(t.cell(row, 1))
	if err != nil {
		return Type{}, err
	}
	namespace, err := a.string(t.cell(row, 2))
	return Type{Token: token, Flags: t.cell(row, 0), Namespace: namespace, Name: name}, err
}

// Outer returns the token of the class that contains a type, 0 if it is none's.
func (a *Assembly) Outer(token uint32) (uint32, error) {
	if a.outer == nil {
		t, err := a.load(tableNestedClass)
		if err != nil {
			return 0, err
		}
		outer := make([]uint32, a.NumTypes()+1)
		for row := 1; row <= t.rows; row++ {
			nested, enclosing := t.reference(row, 0), t.reference(row, 1)
			if !a.exists(nested) || !a.exists(enclosing) {
				return 0, damage("row %d of NestedClass refers to no type", row)
			}
			outer[nested.row] = uint32(enclosing.row)
		}
		a.outer = outer
	}
	row := token & 0xffffff
	if token>>24 != tableTypeDef || int(row) >= len(a.outer) || a.outer[row] == 0 {
		return 0, nil
	}
	return tokenTypeDef | a.outer[row], nil
}

// Path returns a type preceded by the classes that contain it, the outermost first.
func (a *Assembly) Path(token uint32) ([]Type, error) {
	var path []Type
	for token != 0 {
		if len(path) == maxNesting {
			return nil, damage("more than %d nested types", maxNesting)
		}
		t, err := a.Type(token)
		if err != nil {
			return nil, err
		}
		path = append(path, t)
		if token, err = a.Outer(token); err != nil {
			return nil, err
		}
	}
	slices.Reverse(path)
	return path, nil
}

// FullName joins a Path as the runtime does: System.Collections.Generic.Dictionary`2+Entry.
func FullName(path []Type) string {
	var s strings.Builder
	for i, t := range path {
		switch {
		case i > 0:
			s.WriteByte('+')
		case t.Namespace != "":
			s.WriteString(t.Namespace + ".")
		}
		s.WriteString(t.Name)
	}
	return s.String()
}

// Base returns the full name of a type's base class, "" if it has none or is a generic instance. The
// token is 0 if another assembly defines it.
func (a *Assembly) Base(token uint32) (name string, base uint32, err error) {
	t, err := a.load(tableTypeDef)
	if err != nil || token>>24 != tableTypeDef || int(token&0xffffff) > t.rows || token&0xffffff == 0 {
		return "", 0, err
	}
	r := t.reference(int(token&0xffffff), 3)
	if name, err = a.typeName(r); r.table == tableTypeDef && err == nil && name != "" {
		base = tokenTypeDef | uint32(r.row)
	}
	return name, base, err
}

// typeName returns the full name of a type, "" for other things.
func (a *Assembly) typeName(r reference) (string, error) {
	if !a.exists(r) {
		return "", nil
	}
	switch r.table {
	case tableTypeDef:
		path, err := a.Path(tokenTypeDef | uint32(r.row))
		return FullName(path), err
	case tableTypeRef:
		return a.referredName(r)
	}
	return "", nil
}

// referredName returns the full name of a type in another assembly.
func (a *Assembly) referredName(r reference) (string, error) {
	t, err := a.load(tableTypeRef)
	if err != nil {
		return "", err
	}
	var path []Type
	for r.table == tableTypeRef && a.exists(r) {
		if len(path) == maxNesting {
			return "", damage("more than %d nested types", maxNesting)
		}
		name, err := a.string(t.cell(r.row, 1))
		if err != nil {
			return "", err
		}
		namespace, err := a.string(t.cell(r.row, 2))
		if err != nil {
			return "", err
		}
		path = append(path, Type{Name: name, Namespace: namespace})
		r = t.reference(r.row, 0)
	}
	slices.Reverse(path)
	return FullName(path), nil
}

// Generic reports whether a type has type parameters, its own or those of a class that contains it:
// compilers repeat them.
func (a *Assembly) Generic(token uint32) (bool, error) {
	if a.generic == nil {
		t, err := a.load(tableGenericParam)
		if err != nil {
			return false, err
		}
		generic := make([]bool, a.NumTypes()+1)
		for row := 1; row <= t.rows; row++ {
			if owner := t.reference(row, 2); owner.table == tableTypeDef && a.exists(owner) {
				generic[owner.row] = true
			}
		}
		a.generic = generic
	}
	row := int(token & 0xffffff)
	return token>>24 == tableTypeDef && row < len(a.generic) && a.generic[row], nil
}
