// Package condition is the language of conditions on collections and metrics: of check --fail-if,
// compare --fail-if and the rules of the daemon. A condition is parsed and typed once, against the
// fields of a Scope; evaluating it allocates nothing.
//
//	pause > 500ms && generation == 2
//	heap.after > 90% * hard_limit || reason in ['Induced', 'LowMemory']
//	pause.p99 worse than 10%
//
// Operators, the weakest first: || (or), && (and), ! (not), the comparisons > >= < <= == != in and
// worse than, + -, * /. Numbers have the unit of the field that they are compared with; texts are in
// quotes. A field whose value is unknown makes its comparison unknown, which is neither true nor
// false: "unknown || true" is true, "unknown && true" is unknown.
//
// The language is our own because expr-lang/expr (1.17), typed with a struct, does not accept 500ms
// and allocates five times for the first of these conditions.
package condition

import (
	"fmt"
	"slices"
)

// A Scope is what conditions of one kind can be about.
type Scope struct {
	Fields []Field
	About  string // the noun for a field, such as "metric" or "field of a collection"
	Where  string // where people find all fields, as the end of a sentence
	// Meant proposes a name instead of an unknown one, as the end of a sentence; nil: by spelling.
	Meant func(name string, known []string) string
}

// A Field is something that a condition can name.
type Field struct {
	Name string
	// Unit is that of its numbers: see analysis.Number.
	Unit string
	Type Type
	// Values are the values of a text, if there are only these.
	Values []string
	// Compared: it is a difference of two runs, and can only be "worse than" something.
	Compared bool
}

// A Type is the type of a field.
type Type uint8

// The types.
const (
	Number Type = iota
	Text
	Flag // its number is 0 or 1
)

// Values returns the values of the fields of a Scope, by index.
type Values interface {
	Number(field int) (v float64, known bool)
	Text(field int) (v string, known bool)
}

// A Truth is the value of a condition.
type Truth uint8

// The values of conditions.
const (
	Unknown Truth = iota
	False
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

// A Condition is a parsed condition. It may be evaluated by several goroutines at a time.
type Condition struct {
	Text        string // as it was written, without surrounding spaces
	Comparisons []*Comparison
	root        node
}

// A Comparison is the part of a condition that has no conditions in it.
type Comparison struct {
	Text string
	// Fields are the indexes of those that are compared. If there is only one and it is compared
	// with a constant number, Limit is that in the field's Unit, Typed how it was written, and
	// Simple is set; Operator is then as if the field stood on the left.
	Fields   []int
	Simple   bool
	Operator string
	Limit    float64
	Typed    string
	compare  func(v Values) Truth
}

// Worse is the Operator of a comparison of a difference.
const Worse = "worse than"

// Eval evaluates the comparison. One with the operator Worse is unknown.
func (c *Comparison) Eval(v Values) Truth { return c.compare(v) }

// Eval evaluates the condition.
func (c *Condition) Eval(v Values) Truth { return c.root.eval(v) }

// Judge evaluates the condition with what judge returns for its comparisons.
func (c *Condition) Judge(judge func(*Comparison) Truth) Truth { return c.root.judge(judge) }

// Fields returns the indexes of all fields in the condition, in the order of their first use.
func (c *Condition) Fields() (list []int) {
	for _, x := range c.Comparisons {
		for _, f := range x.Fields {
			if !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
	}
	return list
}

// An Error reports what is wrong with the text of a condition.
type Error struct {
	Column int // in characters from 1; where the problem starts
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("at column %d: %s", e.Column, e.Msg) }

// A node is a condition, or a part of one that can be true.
type node interface {
	eval(v Values) Truth
	judge(judge func(*Comparison) Truth) Truth
}

type not struct{ of node }

func (n not) eval(v Values) Truth                       { return negated(n.of.eval(v)) }
func (n not) judge(judge func(*Comparison) Truth) Truth { return negated(n.of.judge(judge)) }

func negated(t Truth) Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// A chain is true if all of its parts are, or, with any, if one is.
type chain struct {
	any   bool
	parts []node
}

func (n *chain) eval(v Values) Truth {
	t := truth(!n.any)
	for _, p := range n.parts {
		switch x := p.eval(v); {
		case x == truth(n.any):
			return x
		case x == Unknown:
			t = Unknown
		}
	}
	return t
}

// judge asks for all comparisons, because each of them is reported.
func (n *chain) judge(judge func(*Comparison) Truth) Truth {
	all := [...]bool{Unknown: false, False: false, True: false}
	for _, p := range n.parts {
		all[p.judge(judge)] = true
	}
	switch {
	case all[truth(n.any)]:
		return truth(n.any)
	case all[Unknown]:
		return Unknown
	}
	return truth(!n.any)
}

func (c *Comparison) eval(v Values) Truth                       { return c.compare(v) }
func (c *Comparison) judge(judge func(*Comparison) Truth) Truth { return judge(c) }
