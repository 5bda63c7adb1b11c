package analysis

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

//go:embed rules.txtar
var rulesArchive []byte

// ruleTexts returns the English of the rules, by rule and name: long-pause/advice. {name} in a text
// stands for another text of the same rule.
var ruleTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, f := range txtar.Parse(rulesArchive).Files {
		texts[f.Name] = strings.Join(strings.Fields(string(f.Data)), " ")
	}
	for name, text := range texts {
		rule, _, _ := strings.Cut(name, "/")
		texts[name] = placeholder.ReplaceAllStringFunc(text,
			func(p string) string { return texts[rule+"/"+strings.Trim(p, "{}")] })
	}
	return texts
})

var placeholder = regexp.MustCompile(`\{[a-z-]+\}`)

// ruleText returns a text of a rule, or "" if it has none of this name.
func ruleText(rule, name string) string { return ruleTexts()[rule+"/"+name] }

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
	list := slices.Concat(pauseRules(), gen2Rules(), heapRules(), fragmentationRules(), growthRules(), serverRules(),
		objectRules(), limitRules(), backgroundRules(), qualityRules(), endRules(), costRules())
	slices.SortFunc(list, func(a, b Rule) int { return a.Number - b.Number })
	for i := range list {
		r := &list[i]
		r.Title, r.Evidence = ruleText(r.ID, "title"), ruleText(r.ID, "evidence")
		r.Explanation = ruleText(r.ID, "explanation")
		r.Advice, r.WorkstationAdvice = ruleText(r.ID, "advice"), ruleText(r.ID, "workstation-advice")
		for j := range r.Thresholds {
			r.Thresholds[j].Help = ruleText(r.ID, "threshold/"+r.Thresholds[j].Name)
		}
		r.Sample = cmp.Or(ruleText(r.ID, "sample"), "nothing")
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
