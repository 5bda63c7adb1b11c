package nativeaot

import (
	"regexp"
	"strconv"
	"strings"
)

// A Type is what a symbol says about a type.
type Type struct {
	// Exact is its name as ClrMD writes it: System.Collections.Generic.Dictionary<System.String,
	// Shop.Order>+Entry[]. In a symbol each character but letters and digits is an underscore, and an
	// underscore is itself: where that can be several things, Exact is one of them (docs/heap.md).
	Exact    string
	Element  uint8 // the CorElementType; 0 for an array
	Delegate bool
}

// The CorElementTypes that are no primitive types.
const (
	elementValue = 0x11
	elementClass = 0x12
)

// primitives are the types that have short names in symbols.
var primitives = map[string]struct {
	name    string
	element uint8
}{
	"Bool": {"System.Boolean", 0x02}, "Char": {"System.Char", 0x03}, "Int8": {"System.SByte", 0x04},
	"UInt8": {"System.Byte", 0x05}, "Int16": {"System.Int16", 0x06}, "UInt16": {"System.UInt16", 0x07},
	"Int32": {"System.Int32", 0x08}, "UInt32": {"System.UInt32", 0x09}, "Int64": {"System.Int64", 0x0a},
	"UInt64": {"System.UInt64", 0x0b}, "Single": {"System.Single", 0x0c}, "Double": {"System.Double", 0x0d},
	"String": {"System.String", 0x0e}, "IntPtr": {"System.IntPtr", 0x18}, "UIntPtr": {"System.UIntPtr", 0x19},
	"Object": {"System.Object", 0x1c}, "System___Canon": {"System.__Canon", elementClass},
	"Void": {"System.Void", 0x01},
}

// Type returns what the symbol of a type says, or false if it is not such a symbol.
func (s *Symbols) Type(symbol string) (Type, bool) {
	if !strings.HasPrefix(symbol, typeSymbol) {
		return Type{}, false
	}
	text, ok := typeText([]byte(symbol))
	if !ok {
		return Type{}, false
	}
	class, isValue := strings.CutPrefix(string(text), boxedType)
	exact, ok := s.Name(class)
	if !ok {
		return Type{}, false
	}
	t := Type{Exact: exact, Element: elementClass}
	definition, _, _ := strings.Cut(class, "<")
	known, primitive := primitives[class]
	switch {
	case primitive:
		t.Element = known.element
	case isArray(class):
		t.Element = 0
	case isValue:
		t.Element = elementValue
	default:
		t.Delegate = s.delegates[definition]
	}
	return t, true
}

// Name returns the exact name in a text, or false if it cannot be parsed.
func (s *Symbols) Name(text string) (string, bool) { return s.name(text, 0) }

// IsValue reports whether a text is that of a value type, and not a class.
func (s *Symbols) IsValue(text string) bool {
	definition, _, _ := strings.Cut(text, "<")
	return s.values[definition]
}

// Prefixes of the element type in the name of an array.
const (
	arrayOf  = "__Array<"
	matrixOf = "__MDArray<"
)

func isArray(text string) bool {
	return strings.HasPrefix(text, arrayOf) || strings.HasPrefix(text, matrixOf)
}

// maxDepth limits how deep generic arguments are nested.
const maxDepth = 100

func (s *Symbols) name(text string, depth int) (string, bool) {
	if depth > maxDepth || text == "" {
		return "", false
	}
	if p, ok := primitives[text]; ok {
		return p.name, true
	}
	definition, inner := text, ""
	if open := strings.IndexByte(text, '<'); open >= 0 {
		if text[len(text)-1] != '>' {
			return "", false
		}
		definition, inner = text[:open], text[open+1:len(text)-1]
	}
	if definition == "" {
		return "", false
	}
	switch {
	case strings.HasPrefix(text, arrayOf):
		element, ok := s.name(inner, depth+1)
		return element + "[]", ok
	case strings.HasPrefix(text, matrixOf):
		comma := strings.LastIndexByte(inner, ',')
		if comma < 0 {
			return "", false
		}
		const mostRanks = 32
		rank, err := strconv.Atoi(inner[comma+1:])
		element, ok := s.name(inner[:comma], depth+1)
		if err != nil || rank < 1 || rank > mostRanks || !ok {
			return "", false
		}
		if rank == 1 {
			return element + "[*]", true
		}
		return element + "[" + strings.Repeat(",", rank-1) + "]", true
	}
	if mark, ok := pointers[inner]; ok {
		element, ok := s.name(definition, depth+1)
		return element + mark, ok
	}
	// For a pointer to an instance of a generic type, the mark follows the arguments.
	for suffix, mark := range pointers {
		if rest, ok := strings.CutSuffix(text, "<"+suffix+">"); ok {
			element, ok := s.name(rest, depth+1)
			return element + mark, ok
		}
	}
	var arguments []string
	if inner != "" {
		for _, argument := range s.arguments(inner) {
			name, ok := s.name(argument, depth+1)
			if !ok {
				return "", false
			}
			arguments = append(arguments, name)
		}
	}
	return write(s.path(definition, len(arguments)), arguments), true
}

// pointers are what follows the text of a type in those of pointers and references to it.
var pointers = map[string]string{"Pointer": "*", "ByRef": "&"}

// arguments splits a list of generic arguments. Two underscores between two of them also occur within
// names: they only separate where another type may begin.
func (s *Symbols) arguments(list string) (all []string) {
	from, open := 0, 0
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '<':
			open++
		case list[i] == '>':
			open--
		case open > 0:
		case list[i] == ',':
			all = append(all, list[from:i])
			from = i + 1
		case i > from && strings.HasPrefix(list[i:], "__") && s.begins(list[i+2:]):
			all = append(all, list[from:i])
			from = i + 2
			i++
		}
	}
	return append(all, list[from:])
}

// begins reports whether a text begins with the text of a type.
func (s *Symbols) begins(text string) bool {
	if isArray(text) {
		return true
	}
	end := strings.IndexAny(text, "<>,")
	if end < 0 {
		end = len(text)
	}
	word := text[:end]
	for {
		if _, ok := primitives[word]; ok || s.defined[word] {
			return true
		}
		i := strings.LastIndex(word, "__") // before the next argument
		if i < 0 {
			break
		}
		word = word[:i]
	}
	return s.assembly(text[:end]) > 0
}

// maxAssembly is the length of the longest name of an assembly that is recognized.
const maxAssembly = 200

// assembly returns the length of the name of an assembly that precedes a class in a text, or 0. The name
// is one that the symbols contain, begins as those of .NET, or is repeated as the namespace.
func (s *Symbols) assembly(text string) int {
	n := repeated(text)
	for i := n + 1; i < min(len(text)-1, maxAssembly); i++ {
		if text[i] == '_' && s.assemblies[text[:i]] {
			n = i
		}
	}
	if n == 0 && library.MatchString(text) {
		if at := libraryClass.FindStringIndex(text[1:]); at != nil {
			return at[0] + 1
		}
		if rest, ok := strings.CutPrefix(text, "S_P_"); ok {
			if i := strings.IndexByte(rest, '_'); i > 0 {
				return len("S_P_") + i
			}
		}
	}
	return n
}

// repeated returns the length of the beginning of a text that follows once more, or 0: the namespace is
// called as the assembly.
func repeated(text string) (n int) {
	for i := 1; i < min(len(text)/2, maxAssembly); i++ {
		if text[i] != '_' {
			continue
		}
		if rest, ok := strings.CutPrefix(text[i+1:], text[:i]); ok && strings.HasPrefix(rest, "_") {
			n = i
		}
	}
	return n
}

var (
	// library matches the texts of .NET's own classes.
	library = regexp.MustCompile(`^(S_P|System|Microsoft|WindowsBase|Windows)_`)
	// libraryClass matches what their classes and namespaces begin with.
	libraryClass = regexp.MustCompile(`_(System|Microsoft|Internal|Interop|Windows|MS|FxResources)(_|$)`)
)

// path returns the names of the classes in the text of a type without its generic arguments, the outer
// ones first; the first one has the namespace. Names of generic types have the number of their type
// parameters, Dictionary`2, as far as it is known which types these belong to.
func (s *Symbols) path(definition string, arguments int) []string {
	if path := s.metadata[definition]; path != nil {
		return path
	}
	from := s.assembly(definition)
	if from == 0 {
		from = strings.IndexByte(definition, '_') // most names of assemblies are one word
	}
	if from = max(from, -1) + 1; from == len(definition) {
		from = 0
	}
	var path []string
	for i := from; i < len(definition); i++ {
		if definition[i] != '_' || i == from || !s.nests(definition, from, i, len(path), arguments) {
			continue
		}
		name, used := segment(definition[from:i], len(path) == 0, arguments)
		path, arguments, from = append(path, name), arguments-used, i+1
	}
	name, _ := segment(definition[from:], len(path) == 0, arguments)
	return append(path, name)
}

// nests reports whether a class ends before an underscore, and one that is nested in it follows.
func (s *Symbols) nests(definition string, from, at, depth, arguments int) bool {
	rest := definition[at+1:]
	if rest == "" {
		return false
	}
	class := definition[from:at]
	if strings.HasSuffix(class, "_") && !strings.HasSuffix(class, "__") { // the first one belongs to what follows
		return false
	}
	if strings.HasPrefix(class, "_") && strings.HasPrefix(rest, "_") &&
		!(lambdas.MatchString(class) && stateMachine.MatchString(rest)) {
		return false // <>c__DisplayClass0_0
	}
	if digit(rest[0]) {
		return false
	}
	// Interop is a class of .NET's, of no namespace.
	interop := strings.HasPrefix(definition[from:], "Interop_") ||
		depth > 0 && strings.Contains(definition, "_Interop_")
	if interop || s.defined[definition[:at]] {
		return true
	}
	if _, parameters := arity(class, arguments); parameters > 0 {
		return true
	}
	return closure.MatchString(rest) || stateMachine.MatchString(rest)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// Names of classes that the compiler generates, as they follow an underscore in symbols.
var (
	// closure matches the classes of lambdas: <>c, <>c__DisplayClass0_0, <>O.
	closure = regexp.MustCompile(`^__(c|O)(_|$)`)
	// lambdas matches those that may have methods with a state machine.
	lambdas = regexp.MustCompile(`^__c(__DisplayClass\d+_\d+)?(_\d+)?$`)
	// stateMachine matches the classes of asynchronous methods and iterators: <Load>d__5.
	stateMachine = regexp.MustCompile(`^_(.+)_d(__\d+)?(_\d+)?$`)
	topLevel     = regexp.MustCompile(`^__(.+)___d(__\d+)?$`)                 // <<Main>$>d__0
	localMachine = regexp.MustCompile(`^__(.+)_g__(.+)_(\d+_\d+)_d(__\d+)?$`) // <<Load>g__Local|3_0>d
	lambda       = regexp.MustCompile(`^__(.+)_(b__\d+(?:_\d+)*)_d(__\d+)?$`) // <<Load>b__3_0>d
	details      = regexp.MustCompile(`^_(\w+)_$`)                            // <PrivateImplementationDetails>
	display      = regexp.MustCompile(`DisplayClass\d+$`)
)

// segment returns the name of a class, and how many type parameters it has. An outermost one has a
// namespace.
func segment(text string, outermost bool, arguments int) (name string, parameters int) {
	text, parameters = arity(text, arguments)
	switch name = compilerName(text); {
	case name != text:
	case outermost:
		name = dotted(text)
	}
	if parameters > 0 {
		name += "`" + strconv.Itoa(parameters)
	}
	return name, parameters
}

// arity splits the number of type parameters from a name, if there are so many arguments.
func arity(text string, arguments int) (name string, parameters int) {
	i := strings.LastIndexByte(text, '_')
	if i <= 0 || i == len(text)-1 || text[i-1] == '_' || text[i+1] == '0' || display.MatchString(text[:i]) {
		return text, 0
	}
	n, err := strconv.Atoi(text[i+1:])
	if err != nil || n < 1 || n > arguments {
		return text, 0
	}
	return text[:i], n
}

// compilerName returns the name of what the compiler made; others remain.
func compilerName(text string) string {
	replace := func(x *regexp.Regexp, with string) bool {
		if !x.MatchString(text) {
			return false
		}
		text = x.ReplaceAllString(text, with)
		return true
	}
	switch {
	case !strings.HasPrefix(text, "_"):
	case replace(topLevel, "<<$1>$$>d$2"):
	case replace(localMachine, "<<$1>g__$2|$3>d$4"):
	case replace(lambda, "<<$1>$2>d$3"):
	case strings.HasPrefix(text, "__"):
		text = "<>" + text[2:]
	case replace(stateMachine, "<$1>d$2$3"):
	case replace(details, "<$1>"):
	}
	return text
}

// dotted returns the name of a class with its namespace. An underscore is a dot where an identifier
// ends, and another one begins; two of them are taken for a part of one.
func dotted(text string) string {
	b := []byte(text)
	for i := 1; i < len(b)-1; i++ {
		if b[i] != '_' || b[i-1] == '_' || b[i-1] == '.' {
			continue
		}
		if rest := text[i+1:]; rest[0] != '_' && !digit(rest[0]) || strings.HasPrefix(rest, "__") {
			b[i] = '.'
		}
	}
	return string(b)
}

// write writes an exact name: each class of the path is followed by its own arguments.
func write(path, arguments []string) string {
	sum := 0
	for _, name := range path {
		_, n := cutArity(name)
		sum += n
	}
	var s strings.Builder
	for i, name := range path {
		if i > 0 {
			s.WriteByte('+')
		}
		name, n := cutArity(name)
		s.WriteString(name)
		if sum != len(arguments) { // it is unknown whose they are
			n = 0
			if i == len(path)-1 {
				n = len(arguments)
			}
		}
		if n > 0 {
			s.WriteByte('<')
			s.WriteString(strings.Join(arguments[:n], ", "))
			s.WriteByte('>')
			arguments = arguments[n:]
		}
	}
	return s.String()
}

func cutArity(name string) (string, int) {
	name, number, _ := strings.Cut(name, "`")
	n, _ := strconv.Atoi(number)
	return name, n
}
