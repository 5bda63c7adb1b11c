package analysis

import "slices"

// A Rule detects one kind of problem. docs/findings.md describes all of them.
type Rule struct {
	Number int
	ID     string // stable short name: "long-pause"
	Title  string
	// Severity is that of its findings; if some have another one, the Explanation says when.
	Severity    Severity
	Thresholds  []Threshold
	Sample      string // the sample that a finding requires, and the one to report that there is no problem
	LiveSpan    string // the time that it covers in a process that is watched for long
	Evidence    string // what it evaluates
	Explanation string // what is wrong, and why that matters
	Advice      string // what to do about it
	// WorkstationAdvice is what else to do unless the process uses server GC; "": nothing.
	WorkstationAdvice string
	Basis             Basis

	need    need
	lasting bool // it covers the last day
	running bool // what it advises takes a running process
	first   bool // its findings come before more severe ones
	judge   func(limits) judge
}

// Basis is where a rule comes from.
type Basis string

// The bases.
const (
	BasisMicrosoft Basis = "Microsoft" // Microsoft's documents on GC performance
	BasisPerfView  Basis = "PerfView"  // a constant of PerfView's GCStats
	BasisRuntime   Basis = "runtime"   // what the runtime's own decisions use
	BasisHeuristic Basis = "heuristic" // experience: adjust the thresholds if they do not fit
)

// A Threshold is an adjustable number of a rule.
type Threshold struct {
	Name    string // without the rule: "over"
	Unit    string // as in a Number
	Default float64
	Help    string
}

// Text formats a value of the threshold as Thresholds.Set accepts it: "200 ms".
func (t *Threshold) Text(v float64) string {
	if t.Unit == "1/min" {
		return digits(v) + "/min"
	}
	return valueText(v, t.Unit)
}

// Rules returns all rules in the order of their numbers. The list belongs to the caller.
func Rules() []Rule {
	wells := [...]string{
		needNothing: "", needCollections: "20 complete collections", needGen2: "3 complete gen2 collections",
		needEither: "20 complete collections, or 3 of gen2",
	}
	list := slices.Concat(pauseRules(), gen2Rules(), heapRules(), fragmentationRules(), growthRules(), serverRules(), objectRules(), limitRules(), backgroundRules(), qualityRules(), endRules(), costRules())
	slices.SortFunc(list, func(a, b Rule) int { return a.Number - b.Number })
	for i := range list {
		r := &list[i]
		if r.Sample == "" {
			r.Sample = "nothing"
		}
		if well := wells[r.need]; well != "" {
			r.Sample += "; for a clean result, " + well
		}
		r.LiveSpan = "the last hour or two"
		if r.lasting {
			r.LiveSpan = "the last day"
		}
	}
	return list
}
