package nativeaot

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Symbols are what the symbols of a program say about its types. A text is the name of a type in a
// symbol.
type Symbols struct {
	// Types are the symbols of the types that were asked for, by their offsets in the module: _ZTV, the
	// length of the text, and the text.
	Types map[uint64]string
	// Layouts has the offsets of those of them that are no types of the program: the objects with the
	// static fields of a type are of such a one.
	Layouts map[uint64]bool
	// Statics are the texts of the types that have static fields with references, in the order in which
	// the runtime keeps the objects with these fields.
	Statics []string

	defined    map[string]bool // texts of types without generic arguments
	delegates  map[string]bool // names of delegates
	values     map[string]bool // names of value types
	assemblies map[string]bool // names, as they are in texts

	metadata map[string][]string // paths of classes by their texts; nil: several classes have this text
}

// Prefixes of symbols.
const (
	typeSymbol    = "_ZTV"
	boxedType     = "Boxed_"
	layoutSymbol  = "__GCStaticEEType_"
	staticsSymbol = "__GCSTATICS"
	otherStatics  = "__NONGCSTATICS"
	// preInitialized ends the symbol of the data for static fields whose values the compiler knows.
	preInitialized = "__PreInitData"
	// multicast is a method that the compiler generates for every delegate.
	multicast = "__InvokeMulticastThunk"
	// moduleType is the class for what belongs to no class, <Module>, of each assembly.
	moduleType = "__Module_"
)

// Symbols reads the symbols. Of the types that are at an offset for which wanted returns true it keeps
// the names. programs are the names that the program may have, which is that of its first assembly.
func (p *Program) Symbols(wanted func(offset uint64) bool, programs ...string) (*Symbols, error) {
	s := &Symbols{
		Types:      map[uint64]string{},
		Layouts:    map[uint64]bool{},
		defined:    map[string]bool{},
		delegates:  map[string]bool{},
		values:     map[string]bool{},
		assemblies: map[string]bool{},
	}
	type place struct {
		at   uint64
		text string
	}
	var statics []place
	kept := 0
	keep := func(name []byte) (string, error) {
		const entry = 64 // of a map
		if kept += len(name) + entry; kept > maxNames {
			return "", &TooLargeError{"list of names of types", uint64(kept), maxNames}
		}
		return string(name), nil
	}
	define := func(text []byte, set map[string]bool) error {
		if end := bytes.IndexByte(text, '<'); end >= 0 {
			text = text[:end]
		}
		if len(text) == 0 || set[string(text)] {
			return nil
		}
		name, err := keep(text)
		set[name] = true
		return err
	}
	err := p.each(func(offset uint64, name []byte) (err error) {
		switch {
		case bytes.HasPrefix(name, []byte(typeSymbol)):
			text, ok := typeText(name)
			if !ok {
				return nil
			}
			if wanted(offset) && (s.Types[offset] == "" || s.Types[offset] > string(name)) {
				if s.Types[offset], err = keep(name); err != nil {
					return err
				}
			}
			text, isValue := bytes.CutPrefix(text, []byte(boxedType))
			if bytes.HasPrefix(text, []byte("__Array<")) || bytes.HasPrefix(text, []byte("__MDArray<")) {
				return nil
			}
			if isValue {
				if err := define(text, s.values); err != nil {
					return err
				}
			}
			if assembly, ok := bytes.CutSuffix(text, []byte(moduleType)); ok {
				return define(assembly, s.assemblies)
			}
			return define(text, s.defined)
		case bytes.HasPrefix(name, []byte(layoutSymbol)):
			if wanted(offset) {
				s.Layouts[offset] = true
			}
		case bytes.HasPrefix(name, []byte(staticsSymbol)):
			text := name[len(staticsSymbol):]
			if bytes.HasSuffix(text, []byte(preInitialized)) {
				return nil
			}
			holder, err := keep(text)
			if err != nil {
				return err
			}
			statics = append(statics, place{offset, holder})
			return define(text, s.defined)
		case bytes.HasPrefix(name, []byte(otherStatics)):
			return define(bytes.TrimSuffix(name[len(otherStatics):], []byte(preInitialized)), s.defined)
		case name[0] != '_' && name[0] != '<':
			if bytes.HasSuffix(name, []byte(multicast)) {
				if err := define(name[:len(name)-len(multicast)], s.delegates); err != nil {
					return err
				}
			}
			if class, method, ok := bytes.Cut(name, []byte("__")); ok && isMethod(method) {
				return define(class, s.defined)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(statics, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	for _, x := range statics {
		s.Statics = append(s.Statics, x.text)
	}
	for _, name := range programs {
		s.assemblies[sanitized(name)] = true
	}
	// Other classes of an assembly may be in other namespaces. Those of .NET's are known by these.
	for text := range s.defined {
		if n := repeated(text); n > 0 && !library.MatchString(text) {
			s.assemblies[text[:n]] = true
		}
	}
	delete(s.assemblies, "")
	return s, nil
}

// Define says what the metadata of an assembly calls a class: the names of the classes that contain it, the
// outermost one first and with its namespace, and its own. So its text is no longer ambiguous. It reports
// whether the program has the class.
func (s *Symbols) Define(assembly string, path []string) bool {
	text := sanitized(assembly) + "_" + plain(strings.Join(path, "_"))
	if !s.defined[text] {
		return false
	}
	if s.metadata == nil {
		s.metadata = map[string][]string{}
	}
	if known, ok := s.metadata[text]; ok && !slices.Equal(known, path) {
		path = nil
	}
	s.metadata[text] = path
	return true
}

// isMethod reports whether a text that follows two underscores is that of a method. In other names the
// first two underscores are part of the class: System.__ComObject.
func isMethod(text []byte) bool {
	if bytes.HasPrefix(text, []byte("_ctor")) || bytes.HasPrefix(text, []byte("_cctor")) {
		return true
	}
	return len(text) > 0 && text[0] != '_' && !bytes.Contains(text, []byte("__"))
}

// typeText returns the text in the symbol of a type. Its length precedes it, and it may begin with a
// digit.
func typeText(symbol []byte) ([]byte, bool) {
	rest := symbol[len(typeSymbol):]
	const digits = 5
	for i := 1; i <= min(digits, len(rest)-1); i++ {
		if n, err := strconv.Atoi(string(rest[:i])); err == nil && n == len(rest)-i {
			return rest[i:], true
		}
	}
	return nil, false
}

// sanitized returns the name of an assembly as it is in texts.
func sanitized(assembly string) string {
	if rest, ok := strings.CutPrefix(assembly, "System.Private."); ok {
		assembly = "S.P." + rest
	}
	return plain(assembly)
}

// plain returns a name as it is in texts.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return c
		}
		return '_'
	}, name)
}
