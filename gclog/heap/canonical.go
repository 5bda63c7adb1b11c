package heap

import (
	"regexp"
	"strings"
)

// canonicalName returns the name of a type in a .gcdump file of another tool as ClrMD writes it.
// dotnet-gcdump and PerfView edit the name of the stream as text: without the numbers of type
// parameters, with < and > for brackets, and then [] for <>. So Grid[,] is Grid<,> in their files,
// Entry[System.String,Row] is Entry<System.String,Row>, and <>c is []c.
func canonicalName(name string) string {
	var s strings.Builder
	for i := 0; i < len(name); {
		length, text := 1, name[i:i+1]
		switch c := name[i]; {
		case c == '\\' && i+1 < len(name):
			length, text = 2, name[i:i+2]
		case c == ',':
			length, text = len(name[i:])-len(strings.TrimLeft(name[i+1:], " ")), ", "
		case c == '<':
			if n := rankLength(name[i+1:], '>'); n > 0 {
				length, text = n+2, "["+name[i+1:i+1+n]+"]"
			}
		case c == '[':
			n := rankLength(name[i+1:], ']')
			if n < 0 {
				break
			}
			length, text = n+2, name[i:i+n+2]
			if n == 0 && beginsName(name[i+2:]) {
				text = "<>"
			}
		}
		s.WriteString(text)
		i += length
	}
	return s.String()
}

// rankLength returns the length of what says how many dimensions an array has, which a character
// must follow, or -1.
func rankLength(s string, end byte) int {
	n := len(s) - len(strings.TrimLeft(s, ",*"))
	if n == len(s) || s[n] != end {
		return -1
	}
	return n
}

// beginsName reports whether a name follows a bracket, and not the next mark of an array.
func beginsName(s string) bool { return s != "" && strings.IndexByte("[]<>,*&+ ", s[0]) < 0 }

// bareName returns an exact name as in the stream, as far as it is known: without outer classes, and
// without the numbers of type parameters.
func bareName(exact string) string {
	p := exactParser{rest: exact}
	t := p.typ()
	if p.bad || p.rest != "" {
		return exact
	}
	t.path[len(t.path)-1].name = withoutArities(t.path[len(t.path)-1].name)
	return t.stream(t.path[len(t.path)-1:])
}

// stream returns the type as in the stream, which writes the generic arguments of all classes after
// the last one. Of the classes of its path, only some are written.
func (t *exactType) stream(path []exactSegment) string {
	var names, arguments []string
	for i := range path {
		names = append(names, path[i].name)
	}
	for i := range t.path {
		for _, a := range t.path[i].arguments {
			arguments = append(arguments, a.stream(a.path))
		}
	}
	s := strings.Join(names, "+")
	if len(arguments) > 0 {
		s += "[" + strings.Join(arguments, ",") + "]"
	}
	return s + t.suffix
}

var arities = regexp.MustCompile("`[0-9]+")

// withoutArities returns a name without the numbers of type parameters, which files of other tools
// lack.
func withoutArities(name string) string { return arities.ReplaceAllString(name, "") }

// canonicalize gives the types of a file of another tool their names.
func canonicalize(types []Type) {
	for i := range types {
		t := &types[i]
		if t.Name == "" {
			continue
		}
		name := t.Name
		if class, ok := strings.CutPrefix(name, "[RCW "); ok && strings.HasSuffix(class, "]") { // of COM
			name = strings.TrimSuffix(class, "]")
		}
		if n, ok := parseStreamName(name, ""); ok && len(n.arguments) > 0 { // not edited
			t.Name, t.Exact = name, exactName(name, "", nil)
			continue
		}
		t.Exact = canonicalName(name)
		t.Name = bareName(t.Exact)
	}
}
