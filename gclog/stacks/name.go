package stacks

import (
	"strings"

	"github.com/gclog/gclog/parse/clr"
)

// Names that are not those of methods.
const (
	Native    = "[native]"       // code that is not managed, whose names are unknown
	NoStack   = "[no stack]"     // the event has no stack: a native thread, or the runtime itself
	Other     = "[other stacks]" // stacks for which there was no room
	Truncated = "[truncated]"    // the outer frames are missing
)

const dynamicClass = "dynamicClass" // what the runtime calls the class of dynamic methods

// Raw returns the name of a frame as the tools of .NET write it, with its signature: "?" for native code.
func (f *Frame) Raw() string {
	if f.Name == "" && f.Namespace == "" {
		return "?"
	}
	name := f.Name
	if f.Namespace != "" {
		name = f.Namespace + "." + f.Name
	}
	if i := strings.IndexByte(f.Signature, '('); i >= 0 {
		return name + f.Signature[i:]
	}
	return name
}

// String returns the name of a frame as a C# programmer would write it, without its signature: the
// method that a lambda or the code after an await is written in, a dot before nested classes, generic
// arguments in angle brackets. What cannot be taken apart is as it is in Raw.
func (f *Frame) String() string {
	if f.Name == "" && f.Namespace == "" {
		return Native
	}
	return Readable(f.Namespace, f.Name)
}

// Readable returns the readable name of a method: see Frame.String. Namespace is the class that declares it, with
// its namespace.
func Readable(namespace, name string) string {
	if namespace == dynamicClass {
		return "[dynamic] " + name
	}
	member, ok := readableMember(name, 0)
	if !ok {
		member = name
	}
	if namespace == "" {
		return member
	}
	p := typeParser{rest: namespace}
	parts, _ := p.path()
	if p.bad || p.rest != "" {
		return namespace + "." + member
	}
	last := &parts[len(parts)-1]
	generated := member != name && strings.HasPrefix(name, "<")
	if machine, ok := last.stateMachine(); ok && name == "MoveNext" && len(parts) > 1 {
		member, parts = machine, parts[:len(parts)-1]
	} else if last.closure() && !generated {
		member = "<closure>." + member
	}
	var list []string
	for i := range parts {
		if !parts[i].closure() {
			list = append(list, parts[i].String())
		}
	}
	return strings.Join(append(list, member), ".")
}

// ReadableType returns the name of a type in an allocation event in the same way.
func ReadableType(name string) string {
	p := typeParser{rest: name}
	s := p.argument()
	if p.bad || p.rest != "" {
		return name
	}
	return s
}

const maxDepth = 16 // of names in names

// readableMember returns the readable name of a method, without its class.
func readableMember(name string, depth int) (string, bool) {
	switch name {
	case ".ctor", ".cctor":
		if depth == 0 {
			return name[1:], true
		}
		return name, true
	}
	inner, rest, ok := angled(name)
	if !ok {
		return name, !strings.HasPrefix(name, "<")
	}
	if depth >= maxDepth || inner == "" {
		return name, false
	}
	owner, ok := readableMember(inner, depth+1)
	switch {
	case !ok:
		return name, false
	case rest == "" || rest == "$": // of top-level statements
		return owner, true
	case strings.HasPrefix(rest, "b__"):
		number, _, _ := strings.Cut(rest[strings.LastIndexByte(rest, '_')+1:], "`")
		if number == "" || strings.Trim(number, "0123456789") != "" {
			return name, false
		}
		if strings.Trim(number, "0") == "" {
			return owner + ".<lambda>", true
		}
		return owner + ".<lambda#" + number + ">", true
	case strings.HasPrefix(rest, "g__"):
		local, _, found := strings.Cut(rest[len("g__"):], "|")
		return owner + "." + local, found && local != ""
	}
	return name, false
}

// angled splits <inner>rest.
func angled(s string) (inner, rest string, ok bool) {
	if !strings.HasPrefix(s, "<") {
		return "", "", false
	}
	n := clr.AngledLength(s)
	if n < 0 {
		return "", "", false
	}
	return s[1 : n-1], s[n:], true
}

// A part is a class of a path of nested classes; the first one has the namespace.
type part struct {
	name      string // without the number of its generic parameters
	arity     int
	arguments []string
}

// simple splits the name into the namespace and the rest.
func (p *part) simple() (namespace, name string) {
	open := 0
	for i := len(p.name) - 1; i >= 0; i-- {
		switch p.name[i] {
		case '>':
			open++
		case '<':
			open--
		case '.':
			if open == 0 {
				return p.name[:i+1], p.name[i+1:]
			}
		}
	}
	return "", p.name
}

// closure reports whether the compiler made the class for lambdas.
func (p *part) closure() bool {
	_, name := p.simple()
	return name == "<>c" || strings.HasPrefix(name, "<>c__DisplayClass")
}

// stateMachine returns the method that the class is the state machine of.
func (p *part) stateMachine() (string, bool) {
	inner, rest, ok := angled(p.name)
	if !ok || inner == "" || rest != "d" && !strings.HasPrefix(rest, "d__") {
		return "", false
	}
	return readableMember(inner, 1)
}

func (p *part) String() string {
	namespace, name := p.simple()
	switch inner, rest, ok := angled(name); {
	case !ok:
	case inner == "" && strings.HasPrefix(rest, "f__AnonymousType"):
		name = "AnonymousType"
	case strings.HasPrefix(rest, "F"): // local to a file
		if _, local, ok := strings.Cut(rest, "__"); ok && local != "" {
			name = local
		}
	}
	if len(p.arguments) > 0 {
		name += "<" + strings.Join(p.arguments, ",") + ">"
	}
	return namespace + name
}

// A typeParser is a name of a type that is being parsed.
type typeParser struct {
	rest  string
	depth int
	bad   bool
}

// path parses nested classes with their generic arguments, and the marks of arrays and pointers.
func (p *typeParser) path() (parts []part, suffix string) {
	sum := 0
	for {
		x := p.part()
		parts = append(parts, x)
		sum += x.arity
		if !strings.HasPrefix(p.rest, "+") || p.bad {
			break
		}
		p.rest = p.rest[1:]
	}
	var arguments []string
	if strings.HasPrefix(p.rest, "[") && !clr.OpensArray(p.rest) {
		for more := true; more && !p.bad; more = strings.HasPrefix(p.rest, ",") {
			p.rest = p.rest[1:]
			arguments = append(arguments, p.argument())
		}
		if !strings.HasPrefix(p.rest, "]") {
			p.bad = true
			return parts, ""
		}
		p.rest = p.rest[1:]
	}
	if sum != len(arguments) { // names of allocated types lack their outer classes
		parts[len(parts)-1].arguments = arguments
	} else {
		for i := range parts {
			n := parts[i].arity
			parts[i].arguments, arguments = arguments[:n], arguments[n:]
		}
	}
	n := clr.TypeSuffixLength(p.rest)
	suffix, p.rest = p.rest[:n], p.rest[n:]
	return parts, suffix
}

// part parses the name of a class.
func (p *typeParser) part() part {
	n, open := 0, 0
scan:
	for ; n < len(p.rest); n++ {
		switch p.rest[n] {
		case '\\':
			n++
		case '<':
			open++
		case '>':
			open--
		case '+', '[', ']', ',', '*', '&':
			if open <= 0 {
				break scan
			}
		}
	}
	n = min(n, len(p.rest))
	x := part{name: p.rest[:n]}
	p.rest = p.rest[n:]
	if x.name == "" || open != 0 {
		p.bad = true
		return x
	}
	if i := strings.LastIndexByte(x.name, '`'); i > 0 {
		arity := 0
		for _, c := range x.name[i+1:] {
			if c < '0' || c > '9' || arity > 1000 {
				return x
			}
			arity = 10*arity + int(c-'0')
		}
		x.name, x.arity = x.name[:i], arity
	}
	return x
}

// argument parses a generic argument.
func (p *typeParser) argument() string {
	if p.depth++; p.depth > maxDepth {
		p.bad = true
		return ""
	}
	parts, suffix := p.path()
	p.depth--
	if p.bad {
		return ""
	}
	list := make([]string, len(parts))
	for i := range parts {
		list[i] = parts[i].String()
	}
	name := strings.Join(list, ".")
	if word := clr.Keyword(name); word != "" {
		name = word
	}
	return name + suffix
}
