package analysis

import (
	"cmp"
	"slices"
)

// A meaning is what a rule means for the verdict.
type meaning struct {
	rule  string
	cause Cause // that its finding is; "": it is only ever a symptom
	// symptoms are the rules whose findings come from the same problem.
	symptoms []string
	grows    bool // memory does
	trend    bool // it gets worse, whatever it costs now
	pausing  bool // it costs pauses and nothing else
}

// pauses are the symptoms of whatever takes most of the time paused.
var pauses = []string{"high-pause-share", "long-pause", "wrong-flavour", "too-many-gen1", "random-slow-gc"}

// meanings are the causes and their symptoms. Of two that apply, the one that is not a symptom of the
// other is the cause.
var meanings = []meaning{
	{rule: "process-end", trend: true},
	{
		rule: "hard-limit", cause: CauseHeapLimit, trend: true,
		symptoms: []string{
			"memory-load-gen2", "provisional-mode", "blocking-gen2", "too-many-gen2", "loh-pressure",
			"gen2-fragmentation", "background-behind", "high-survival",
		},
	},
	{
		rule: "memory-growth", cause: CauseManagedLeak, grows: true, trend: true,
		symptoms: []string{
			"hard-limit", "memory-load-gen2", "provisional-mode", "blocking-gen2", "too-many-gen2", "high-survival",
			"mid-life-crisis", "loh-pressure",
		},
	},
	{rule: "native-growth", cause: CauseNativeMemory, grows: true, trend: true, symptoms: []string{"memory-load-gen2"}},
	{
		rule: "handle-leak", cause: CauseHandleLeak, trend: true,
		symptoms: []string{"memory-growth", "high-survival", "blocking-gen2"},
	},
	{
		rule: "finalizer-backlog", cause: CauseFinalizers, trend: true,
		symptoms: []string{"memory-growth", "handle-leak", "high-survival", "mid-life-crisis"},
	},
	{
		rule: "loh-fragmentation", cause: CauseLOHFragmentation, trend: true,
		symptoms: []string{
			"memory-growth", "loh-pressure", "too-many-gen2", "gen2-fragmentation", "background-behind",
			"blocking-gen2",
		},
	},
	{
		rule: "dependent-handles", cause: CauseDependentHandles, pausing: true,
		symptoms: []string{"handle-leak", "memory-growth", "high-survival", "blocking-gen2"},
	},
	{
		rule: "induced-gcs", cause: CauseInduced, pausing: true,
		symptoms: []string{"blocking-gen2", "too-many-gen2", "high-survival", "mid-life-crisis", "background-behind"},
	},
	{
		rule: "pinning", cause: CausePinning, pausing: true,
		symptoms: []string{"gen2-fragmentation", "poh-misuse", "small-gen0"},
	},
	{
		rule: "loh-pressure", cause: CauseLargeObjects, pausing: true,
		symptoms: []string{
			"too-many-gen2", "blocking-gen2", "background-behind", "peak-over-after", "gen2-fragmentation",
		},
	},
	{
		rule: "mid-life-crisis", cause: CauseMidLife, pausing: true,
		symptoms: []string{
			"too-many-gen2", "blocking-gen2", "background-behind", "gen2-fragmentation", "high-survival",
			"peak-over-after",
		},
	},
	{
		rule: "high-survival", cause: CauseSurvival, pausing: true,
		symptoms: []string{"too-many-gen2", "blocking-gen2", "background-behind", "small-gen0", "high-allocation-rate"},
	},
	{
		rule: "memory-load-gen2", cause: CauseContainerLimit,
		symptoms: []string{"provisional-mode", "blocking-gen2", "too-many-gen2", "background-behind"},
	},
	{rule: "provisional-mode", cause: CauseContainerLimit, symptoms: []string{"blocking-gen2", "too-many-gen2"}},
	{rule: "small-gen0", cause: CauseSmallBudget, pausing: true, symptoms: []string{"high-allocation-rate"}},
	{rule: "long-resume", cause: CauseCPU, pausing: true, symptoms: []string{"long-suspension", "heap-imbalance"}},
	{rule: "long-suspension", cause: CauseCPU, pausing: true, symptoms: []string{"heap-imbalance"}},
	{rule: "late-start", trend: true},
	{rule: "data-quality", trend: true},
	{rule: "background-behind", pausing: true},
	{rule: "blocking-gen2", pausing: true},
	{rule: "too-many-gen2", pausing: true},
	{rule: "high-allocation-rate", pausing: true},
	{rule: "heap-imbalance", pausing: true},
	{rule: "random-slow-gc", pausing: true},
	{rule: "long-pause", pausing: true},
	{rule: "high-pause-share", pausing: true},
	{rule: "wrong-flavour", pausing: true},
	{rule: "peak-over-after", pausing: true},
}

// meaningOf returns what a rule means for the verdict.
func meaningOf(rule string) *meaning {
	for i := range meanings {
		if meanings[i].rule == rule {
			return &meanings[i]
		}
	}
	return &meaning{rule: rule}
}

// explainsPauses is the share of the time paused from which a problem is the cause of what is said of
// all pauses.
const explainsPauses = 0.5

// causes reports whether a finding about another rule is a symptom of this one.
func (f *Finding) causes(other *Finding) bool {
	m := meaningOf(f.Rule.ID)
	if m.cause == CauseCPU && f.starved && other.starved && meaningOf(other.Rule.ID).cause == "" {
		return true // a slow collection on a starved host is the host's
	}
	if m.pausing && f.Explains.Paused < other.Explains.Paused/2 {
		return false // it is too little for that
	}
	return slices.Contains(m.symptoms, other.Rule.ID) ||
		m.cause != "" && f.Explains.Paused >= explainsPauses && slices.Contains(pauses, other.Rule.ID)
}

// arrange puts each finding behind its cause, and the blocks that this makes in the order of their
// severity and cost.
func arrange(list []Finding) []Finding {
	causeOf := make([]int, len(list)) // itself if it has none
	for i := range list {
		causeOf[i] = i
		for j := range list {
			// A note is the cause of nothing but notes.
			if !list[j].causes(&list[i]) || list[j].Severity < min(list[i].Severity, Warning) {
				continue
			}
			if causeOf[i] == i || list[j].cost() > list[causeOf[i]].cost() {
				causeOf[i] = j
			}
		}
	}
	blocks := make([][]Finding, len(list))
	for i := range list {
		r := i
		for causeOf[r] != r { // the table has no circles
			r = causeOf[r]
		}
		x := list[i]
		if r != i {
			x.SymptomOf = list[r].Rule
		}
		blocks[r] = append(blocks[r], x)
	}
	blocks = slices.DeleteFunc(blocks, func(b []Finding) bool { return len(b) == 0 })
	rank := func(b []Finding) (most Severity) {
		for i := range b {
			if b[i].Rule.first {
				return Error + 1
			}
			most = max(most, b[i].Severity)
		}
		return most
	}
	for _, b := range blocks {
		slices.SortStableFunc(b, func(x, y Finding) int {
			symptom := func(f *Finding) int {
				if f.SymptomOf == nil {
					return 0
				}
				return 1
			}
			return cmp.Or(symptom(&x)-symptom(&y), cmp.Compare(y.Severity, x.Severity), cmp.Compare(y.cost(), x.cost()))
		})
	}
	slices.SortStableFunc(blocks, func(a, b []Finding) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(b[0].cost(), a[0].cost()))
	})
	return append([]Finding{}, slices.Concat(blocks...)...)
}

// cost is what a finding accounts for, as a share of the time paused or of the memory: the larger one.
func (f *Finding) cost() float64 { return max(f.Explains.Paused, f.Explains.memory) }

// share says what part of the time paused that is.
func (e *Explained) share() string { return valueText(100*e.Paused, "%") }
