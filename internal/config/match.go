package config

import (
	"strconv"
	"strings"
)

// A Subject is what a Match can be applied to: what is known about a process.
type Subject struct {
	Processes     []string // all its names, see attach.Names
	CommandLine   string   // arguments separated by spaces
	EntryAssembly string   // without .dll
	Service       string
	Namespace     string
	User          string
	Container     string // id or name
	PID           int
}

// Fits reports whether s meets all conditions of m.
func (m *Match) Fits(s *Subject) bool {
	if m.Process != "" {
		any := false
		for _, name := range s.Processes {
			any = any || fits(m.Process, name)
		}
		if !any {
			return false
		}
	}
	for _, x := range [...]struct{ pattern, value string }{
		{m.CommandLine, s.CommandLine},
		{m.EntryAssembly, s.EntryAssembly},
		{m.Service, s.Service},
		{m.Namespace, s.Namespace},
		{m.User, s.User},
		{m.Container, s.Container},
		{m.PID, strconv.Itoa(s.PID)},
	} {
		if x.pattern != "" && !fits(x.pattern, x.value) {
			return false
		}
	}
	return true
}

// fits reports whether a pattern matches all of s. For * it tries short texts first, and backtracks
// to the last * only, which is enough.
func fits(pattern, s string) bool {
	p, t := []rune(strings.ToLower(pattern)), []rune(strings.ToLower(s))
	star, from := -1, 0 // the last *, and where in t the rest was last tried
	i := 0
	for j := 0; j < len(t); {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}

// meet reports whether there can be a process that both fit. If a process has several names the
// answer may be false although there is one.
func (m *Match) meet(o *Match) bool {
	for _, x := range [...][2]string{
		{m.Process, o.Process},
		{m.CommandLine, o.CommandLine},
		{m.EntryAssembly, o.EntryAssembly},
		{m.Service, o.Service},
		{m.Namespace, o.Namespace},
		{m.User, o.User},
		{m.Container, o.Container},
		{m.PID, o.PID},
	} {
		if x[0] != "" && x[1] != "" && !patternsMeet(x[0], x[1]) {
			return false
		}
	}
	return true
}

// patternsMeet reports whether there is a text that both patterns match.
func patternsMeet(a, b string) bool {
	p, q := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	// meets[j]: p from the current rune on, and q from j on, match a common text.
	next, meets := make([]bool, len(q)+1), make([]bool, len(q)+1)
	for i := len(p); i >= 0; i-- {
		for j := len(q); j >= 0; j-- {
			switch {
			case i == len(p) && j == len(q):
				meets[j] = true
			case i < len(p) && p[i] == '*':
				meets[j] = next[j] || j < len(q) && meets[j+1]
			case j < len(q) && q[j] == '*':
				meets[j] = meets[j+1] || i < len(p) && next[j]
			default:
				meets[j] = i < len(p) && j < len(q) && (p[i] == q[j] || p[i] == '?' || q[j] == '?') && next[j+1]
			}
		}
		next, meets = meets, next
	}
	return next[0]
}
