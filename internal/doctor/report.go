package doctor

import (
	"fmt"
	"slices"
)

// A Level is how serious a finding is.
type Level string

// The levels.
const (
	Failure Level = "error"   // it cannot be attached to, or not be read completely
	Warning Level = "warning" // it works, with something missing
	Note    Level = "note"    // good to know
)

// A Finding is a cause that was found.
type Finding struct {
	Level Level
	Cause Cause
	Text  string // one sentence about this process or file
}

// A Fact is something that was found out but is not a cause.
type Fact struct {
	Name  string // snake_case
	Value string
}

// A Report is what was found out about a process, a file or the machine.
type Report struct {
	Subject  string // "process 4711 (orders)"
	Verdict  string // "can be attached to"
	Findings []Finding
	Facts    []Fact
	// Err is the error that attach would end with; nil for files, and if there is none.
	Err error
}

// OK reports whether nothing failed.
func (r *Report) OK() bool {
	for _, f := range r.Findings {
		if f.Level == Failure {
			return false
		}
	}
	return true
}

// add adds a finding. The id must be in the table.
func (r *Report) add(level Level, id, format string, args ...any) {
	c, ok := find(id)
	if !ok {
		panic("doctor: there is no cause " + id)
	}
	r.Findings = append(r.Findings, Finding{level, c, fmt.Sprintf(format, args...)})
}

// order sorts the findings, the most serious first.
func (r *Report) order() {
	rank := map[Level]int{Failure: 0, Warning: 1, Note: 2}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank[a.Level] - rank[b.Level] })
}

// fact adds a fact, unless it is unknown.
func (r *Report) fact(name, format string, args ...any) {
	if s := fmt.Sprintf(format, args...); s != "" {
		r.Facts = append(r.Facts, Fact{name, s})
	}
}
