package heap

import (
	"strings"

	"github.com/gclog/gclog/parse/clr"
)

// Readable returns an exact name (Type.Exact) as a C# programmer would write it: with the keywords of
// C#, a dot before nested classes, and words for what the compiler generates, such as "async
// Shop.Cart.Load()" for the state of an async method. It returns other texts as they are.
func Readable(exact string) string {
	p := exactParser{rest: exact}
	t := p.typ()
	if p.bad || p.rest != "" {
		return exact
	}
	return t.String()
}

// An exactType is an exact name, taken apart.
type exactType struct {
	path   []exactSegment
	suffix string // of arrays and pointers
}

// An exactSegment is the name of a class; the first of a path has the namespace.
type exactSegment struct {
	name      string
	arguments []exactType // of the generic type
	list      string      // the same, as they are written
}

// An exactParser is an exact name that is being parsed.
type exactParser struct {
	rest  string
	depth int
	bad   bool
}

func (p *exactParser) typ() (t exactType) {
	if p.depth++; p.depth > maxNameDepth {
		p.bad = true
		return t
	}
	for {
		t.path = append(t.path, p.segment())
		if p.bad || !p.next("+") {
			break
		}
	}
	n := clr.TypeSuffixLength(p.rest)
	t.suffix, p.rest = p.rest[:n], p.rest[n:]
	p.depth--
	return t
}

func (p *exactParser) segment() (s exactSegment) {
	n := segmentLength(p.rest)
	if n <= 0 {
		p.bad = true
		return s
	}
	s.name, p.rest = p.rest[:n], p.rest[n:]
	if !p.next("<") {
		return s
	}
	var list []string
	for len(list) == 0 || p.next(", ") {
		t := p.typ()
		if p.bad {
			return s
		}
		list = append(list, t.String())
		s.arguments = append(s.arguments, t)
	}
	s.list = "<" + strings.Join(list, ", ") + ">"
	p.bad = !p.next(">")
	return s
}

func (p *exactParser) next(s string) (ok bool) {
	if p.bad {
		return false
	}
	p.rest, ok = strings.CutPrefix(p.rest, s)
	return ok
}

// segmentLength returns the length of a name, or -1 if it has no end. A < at its beginning or after
// a dot is part of a name that the compiler made; elsewhere it opens generic arguments.
func segmentLength(s string) int {
	start := true
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '<':
			if !start {
				return i
			}
			n := clr.AngledLength(s[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '>', '+', ',', '[', ']', '*', '&':
			return i
		}
		start = i < len(s) && s[i] == '.'
	}
	return len(s)
}

func (t exactType) String() string { return t.element() + t.suffix }

func (t exactType) element() string {
	last := t.path[len(t.path)-1]
	outer := join(t.path[:len(t.path)-1])
	if word := clr.Keyword(last.name); word != "" && outer == "" {
		return word
	}
	if machine, ok := last.boxed(); ok {
		return "async " + machine
	}
	if method, ok := t.stateMachine(); ok {
		return method + " state machine"
	}
	switch name, rest := compilerName(last.name); {
	case name != "" && rest == "":
	case strings.HasPrefix(rest, "f__AnonymousType"):
		return "anonymous type " + strings.TrimPrefix(rest, "f__AnonymousType") + last.list
	case rest == "c" && outer != "":
		return "lambdas of " + outer + last.list
	case rest == "O" && outer != "":
		return "delegates of " + outer + last.list
	case strings.HasPrefix(rest, "c__DisplayClass") && outer != "":
		return "closure in " + outer + last.list
	}
	return join(t.path)
}

// join returns the classes of a path, without those that the compiler made for lambdas.
func join(path []exactSegment) string {
	var s strings.Builder
	for i := range path {
		_, generated := compilerName(path[i].name)
		if i > 0 && i < len(path)-1 && (generated == "c" || strings.HasPrefix(generated, "c__DisplayClass")) {
			continue
		}
		if s.Len() > 0 {
			s.WriteByte('.')
		}
		name, _ := splitArity(path[i].name)
		s.WriteString(name + path[i].list)
	}
	return s.String()
}

// boxed returns the async method whose state machine is in a box on the heap, which is its task.
func (s *exactSegment) boxed() (string, bool) {
	if name, _ := splitArity(s.name); !strings.HasSuffix(name, machineBox) || len(s.arguments) == 0 {
		return "", false
	}
	return s.arguments[len(s.arguments)-1].stateMachine()
}

// stateMachine returns the method of which a type is the state machine: Outer+<Method>d__5.
func (t exactType) stateMachine() (string, bool) {
	last := t.path[len(t.path)-1]
	method, rest := compilerName(last.name)
	if len(t.path) < 2 || t.suffix != "" || method == "" || rest != "d" && !strings.HasPrefix(rest, "d__") {
		return "", false
	}
	lambda := ""
	switch inner, rest := compilerName(method); {
	case rest == "$": // of top-level statements
		method = inner
	case strings.HasPrefix(rest, "b__"):
		method, lambda = inner, " lambda"
	case strings.HasPrefix(rest, "g__"):
		local, _, _ := strings.Cut(strings.TrimPrefix(rest, "g__"), "|")
		method = inner + "." + local
	}
	outer := t.path[:len(t.path)-1]
	for len(outer) > 1 {
		_, generated := compilerName(outer[len(outer)-1].name)
		if generated != "c" && !strings.HasPrefix(generated, "c__DisplayClass") {
			break
		}
		outer = outer[:len(outer)-1]
	}
	return join(outer) + "." + method + last.list + "()" + lambda, true
}

// compilerName splits <name>rest, as the compiler names what it makes. Both are empty for other
// names.
func compilerName(s string) (name, rest string) {
	if !strings.HasPrefix(s, "<") {
		return "", ""
	}
	n := clr.AngledLength(s)
	if n < 0 {
		return "", ""
	}
	rest, _ = splitArity(s[n:])
	return s[1 : n-1], rest
}
