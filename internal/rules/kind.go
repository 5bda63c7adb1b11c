// Package rules decides when something has happened to a process that its users want to act on: a
// rule has a condition on a collection, a pause, a stall, a gap, a finding or the end of a process,
// and fires when it is true. An Engine evaluates the rules on the records of one process, live or
// in a file. What is done then is decided by others: it reads no clock and does nothing.
package rules

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/spelling"
)

// A Kind is what a rule is about.
type Kind uint8

// The kinds.
const (
	OnGC      Kind = iota // a collection whose record is complete
	OnPause               // a pause, with or without a collection
	OnStall               // a pause or a collection that has not ended for 1, 10 or 60 s
	OnGap                 // something that is missing in the log
	OnFinding             // a finding that is new, or more severe than before
	OnExit                // the process has ended
)

// Kinds are the names of the kinds.
var Kinds = []string{OnGC: "gc", OnPause: "pause", OnStall: "stall", OnGap: "gap", OnFinding: "finding", OnExit: "exit"}

func (k Kind) String() string { return Kinds[k] }

// ParseKind returns the kind with a name.
func ParseKind(name string) (Kind, error) {
	if i := slices.Index(Kinds, name); i >= 0 {
		return Kind(i), nil
	}
	return 0, fmt.Errorf("%q is not something that a rule can be about%s: it must be %s",
		name, spelling.DidYouMean(name, Kinds), strings.Join(Kinds, ", "))
}

// plural names things of the kind.
var plural = [...]string{
	OnGC:      "collections",
	OnPause:   "pauses",
	OnStall:   "stalls",
	OnGap:     "gaps",
	OnFinding: "findings",
	OnExit:    "exits",
}

// Scope returns what the conditions of the kind can be about.
func (k Kind) Scope() *condition.Scope {
	s := &condition.Scope{About: "field", Where: "gclog rules fields " + k.String() + " lists those of " + plural[k]}
	for _, f := range fieldsOf(k) {
		s.Fields = append(s.Fields, f.Field)
	}
	return s
}

// Fields returns the fields of the kind, for people.
func (k Kind) Fields() (list []Field) {
	for _, f := range fieldsOf(k) {
		list = append(list, Field{f.Field, f.about})
	}
	return list
}

// A Field is a field with what it is.
type Field struct {
	condition.Field
	About string
}

// An event is what a condition is evaluated on: a record, or a finding.
type event struct {
	process *gclog.Process
	host    string
	record  gclog.Record
	gc      *gclog.GCDetails // the record, or the collection of a pause, as far as it is known
	finding *analysis.Finding
	began   gclog.Stamp
}

func (e *event) pause() *gclog.Pause { return e.record.(*gclog.Pause) }
func (e *event) stall() *gclog.Stall { return e.record.(*gclog.Stall) }
func (e *event) gap() *gclog.Gap     { return e.record.(*gclog.Gap) }
func (e *event) end() *gclog.End     { return e.record.(*gclog.End) }

// A field is how a condition gets a field of an event.
type field struct {
	condition.Field
	about  string
	number func(*event) (v float64, known bool)
	text   func(*event) string // "": unknown
}

var fieldsOf = func() func(Kind) []field {
	var tables [OnExit + 1]func() []field
	for k := range OnExit + 1 {
		tables[k] = sync.OnceValue(func() []field { return slices.Concat(makers[k](), ofProcess()) })
	}
	return func(k Kind) []field { return tables[k]() }
}()

// values are the values of the fields of an event.
type values struct {
	fields []field
	event
}

// Number implements condition.Values.
func (v *values) Number(i int) (float64, bool) { return v.fields[i].number(&v.event) }

// Text implements condition.Values.
func (v *values) Text(i int) (string, bool) {
	text := v.fields[i].text(&v.event)
	return text, text != ""
}
