package compare

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/gclog/analysis"
)

// A changedFinding is a rule that found a problem in some runs of a comparison.
type changedFinding struct {
	rule    *analysis.Rule
	found   [2]int            // in how many runs of A and B
	unknown [2]int            // in how many it was not evaluated
	latest  *analysis.Finding // the most severe, of B if there is one
}

// findingChanges are the findings of a comparison, in the order of the rules.
type findingChanges struct {
	added, gone, both []changedFinding
}

// changedFindings compares the findings of two groups of runs.
func changedFindings(sides [2]*runGroup) (x findingChanges) {
	rules := analysis.Rules()
	for i := range rules {
		f := changedFinding{rule: &rules[i]}
		for side := range sides {
			f.look(side, sides[side])
		}
		switch {
		case f.found[0] > 0 && f.found[1] > 0:
			x.both = append(x.both, f)
		case f.found[1] > 0:
			x.added = append(x.added, f)
		case f.found[0] > 0:
			x.gone = append(x.gone, f)
		}
	}
	return x
}

// look counts the runs of a side with a problem.
func (f *changedFinding) look(side int, g *runGroup) {
	isRule := func(r *analysis.Rule) bool { return r.ID == f.rule.ID }
	for _, r := range g.runs {
		list := r.findings
		if i := slices.IndexFunc(list, func(x analysis.Finding) bool { return isRule(x.Rule) }); i >= 0 {
			if f.found[side] == 0 || list[i].Severity > f.latest.Severity {
				f.latest = &list[i]
			}
			f.found[side]++
		}
		if slices.ContainsFunc(r.unjudged, func(x analysis.NotEvaluated) bool { return isRule(x.Rule) }) {
			f.unknown[side]++
		}
	}
}

// doubt returns why a finding may be neither new nor gone: on the other side its rule was not
// evaluated.
func (f *changedFinding) doubt(sides [2]*runGroup) string {
	for side, n := range f.unknown {
		if f.found[side] == 0 && n > 0 {
			return fmt.Sprintf("not evaluated in %s", ofRuns(n, len(sides[side].runs), sideNames[side]))
		}
	}
	return ""
}

// sideNames are the names of both sides of a comparison.
var sideNames = [2]string{"A", "B"}

// ofRuns says in how many runs of a side something is.
func ofRuns(n, all int, side string) string {
	if all == 1 {
		return side
	}
	return fmt.Sprintf("%d of %d runs of %s", n, all, side)
}
