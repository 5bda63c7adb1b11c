package config

import (
	"slices"
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
	patterns := m.patterns()
	for i, values := range [len(patterns)][]string{
		s.Processes,
		{s.CommandLine},
		{s.EntryAssembly},
		{s.Service},
		{s.Namespace},
		{s.User},
		{s.Container},
		{strconv.Itoa(s.PID)},
	} {
		pattern := patterns[i]
		if pattern != "" && !slices.ContainsFunc(values, func(value string) bool { return fits(pattern, value) }) {
			return false
		}
	}
	return true
}

func (m *Match) patterns() [8]string {
	return [...]string{m.Process, m.CommandLine, m.EntryAssembly, m.Service, m.Namespace, m.User, m.Container, m.PID}
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
	others := o.patterns()
	for i, pattern := range m.patterns() {
		if pattern != "" && others[i] != "" && !patternsMeet(pattern, others[i]) {
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
