package heap

import (
	"strings"

	"github.com/gclog/gclog/parse/clr"
)

// A streamName is the name of a type in the stream, taken apart: Dictionary`2[System.String,Row[]][].
type streamName struct {
	text      string // Dictionary`2
	arguments []streamName
	suffix    string // of arrays and pointers
}

// maxNameDepth limits how deep generic arguments are nested.
const maxNameDepth = 200

// parseStreamName takes a name apart that begins with a text, if that is known. A bracket opens
// generic arguments unless it belongs to an array. The number after a backtick does not help: it
// leaves out the parameters of outer classes.
func parseStreamName(s, text string) (streamName, bool) {
	p := nameParser{rest: s}
	n := p.name(len(text))
	return n, p.rest == "" && !p.bad
}

// A nameParser is a name that is being parsed.
type nameParser struct {
	rest  string
	depth int
	bad   bool
}

// name parses a name whose text has a length, 0 if that is unknown.
func (p *nameParser) name(length int) (n streamName) {
	if p.depth++; p.depth > maxNameDepth {
		p.bad = true
		return n
	}
	if length == 0 {
		length = plainLength(p.rest)
	}
	n.text = p.take(length)
	if strings.HasPrefix(p.rest, "[") && !clr.OpensArray(p.rest) {
		for p.more() {
			p.take(1)
			n.arguments = append(n.arguments, p.name(0))
		}
		if p.bad = p.bad || !strings.HasPrefix(p.rest, "]"); !p.bad {
			p.take(1)
		}
	}
	n.suffix = p.take(clr.TypeSuffixLength(p.rest))
	p.depth--
	return n
}

// more reports whether an argument follows.
func (p *nameParser) more() bool {
	return !p.bad && (strings.HasPrefix(p.rest, "[") || strings.HasPrefix(p.rest, ","))
}

func (p *nameParser) take(n int) string {
	s := p.rest[:n]
	p.rest = p.rest[n:]
	return s
}

// plainLength returns the length of what precedes brackets and the like. A backslash makes the next
// character one of the name.
func plainLength(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[', ']', ',', '*', '&':
			return i
		}
	}
	return len(s)
}

// exactName returns a name of the stream as ClrMD writes it, with the generic arguments where they
// belong: System.Collections.Generic.Dictionary<System.String, System.Object>+Entry[]. The path
// leads to the type's definition, outer classes first, and text is its last part as it is in the stream;
// without them only the stream's name is known.
func exactName(stream, text string, path []string) string {
	n, ok := parseStreamName(stream, text)
	if !ok {
		return stream
	}
	var s strings.Builder
	n.write(&s, path)
	return s.String()
}

func (n *streamName) write(s *strings.Builder, path []string) {
	if path == nil {
		path = splitPath(n.text)
	}
	left := n.arguments
	sum := 0
	for _, name := range path {
		_, parameters := splitArity(name)
		sum += parameters
	}
	for i, name := range path {
		if i > 0 {
			s.WriteByte('+')
		}
		name, parameters := splitArity(name)
		s.WriteString(name)
		if sum != len(n.arguments) { // nobody knows whose they are
			parameters = 0
			if i == len(path)-1 {
				parameters = len(left)
			}
		}
		writeArguments(s, left[:parameters])
		left = left[parameters:]
	}
	s.WriteString(n.suffix)
}

func writeArguments(s *strings.Builder, list []streamName) {
	for i := range list {
		if i == 0 {
			s.WriteByte('<')
		} else {
			s.WriteString(", ")
		}
		list[i].write(s, nil)
	}
	if len(list) > 0 {
		s.WriteByte('>')
	}
}

// splitPath splits a name into the classes that contain it and itself.
func splitPath(name string) []string {
	var path []string
	from := 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case '+':
			path = append(path, name[from:i])
			from = i + 1
		}
	}
	return append(path, name[from:])
}

// splitArity splits Dictionary`2 into its name and the number of type parameters.
func splitArity(name string) (string, int) {
	at := strings.LastIndexByte(name, '`')
	if at < 0 || at == len(name)-1 {
		return name, 0
	}
	n := 0
	for _, c := range []byte(name[at+1:]) {
		if c < '0' || c > '9' || n > 1<<16 {
			return name, 0
		}
		n = n*10 + int(c-'0')
	}
	return name[:at], n
}
