package analysis

import "slices"

// A Rule is how findings of one kind are made. docs/findings.md has all of them.
type Rule struct {
	Number int
	ID     string // short name for machines and thresholds: "long-pause"
	Title  string
	// Severity is that of its findings; where a finding may have another one, the
	// Explanation says when.
	Severity    Severity
	Thresholds  []Threshold
	Sample      string // what must have been seen for a finding, and to say that all is well
	Stretch     string // the time that it is about, of a process that is watched for long
	Evidence    string // what it looks at
	Explanation string // what is wrong, and why that matters
	Advice      string // what to do about it
	Basis       Basis

	need    need
	lasting bool // it looks at the last day
	judge   func(limits) judge
}

// Basis is where a rule comes from.
type Basis string

// The bases.
const (
	BasisMicrosoft Basis = "Microsoft" // what Microsoft's documents on GC performance say
	BasisPerfView  Basis = "PerfView"  // a constant of PerfView's GCStats
	BasisRuntime   Basis = "runtime"   // what the runtime itself decides by
	BasisHeuristic Basis = "heuristic" // experience: move the thresholds if they do not fit
)

// A Threshold is a number of a rule that can be moved.
type Threshold struct {
	Name    string // without the rule: "over"
	Unit    string // as of Evidence
	Default float64
	Help    string
}

// Text is a value of the threshold for people, and as Thresholds.Set takes it: "200 ms".
func (t *Threshold) Text(v float64) string {
	if t.Unit == "1/min" {
		return digits(v) + "/min"
	}
	return valueText(v, t.Unit)
}

// Rules returns all rules in the order of their numbers. The list is the caller's.
func Rules() []Rule {
	wells := [...]string{
		needNothing: "", needCollections: "20 complete collections", needGen2: "3 complete gen2 collections",
		needEither: "20 complete collections, or 3 of gen2",
	}
	list := slices.Concat(pauseRules(), gen2Rules(), heapRules(), fragmentationRules(), growthRules(), serverRules(), objectRules(), limitRules(), backgroundRules(), qualityRules())
	slices.SortFunc(list, func(a, b Rule) int { return a.Number - b.Number })
	for i := range list {
		r := &list[i]
		if r.Sample == "" {
			r.Sample = "nothing"
		}
		if well := wells[r.need]; well != "" {
			r.Sample += "; to say that all is well, " + well
		}
		r.Stretch = "the last hour or two"
		if r.lasting {
			r.Stretch = "the last day"
		}
	}
	return list
}
