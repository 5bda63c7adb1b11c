package tune

import (
	"slices"

	"github.com/gclog/gclog/gclog/analysis"
)

// An objective is something that a setting may do better than another.
type objective struct {
	name string
	more bool // is better
	unit string
	of   func(t *tuning, x *trial) float64 // 0: unknown
}

// objectives are compared run by run; pauses are compared in addition.
func (t *tuning) objectives() []objective {
	throughput := objective{
		"allocated", true, "bytes/s",
		func(_ *tuning, x *trial) float64 { return x.run.Sample.Summary().AllocationRate.Value },
	}
	if t.metric != nil {
		throughput = objective{"metric", true, "", func(_ *tuning, x *trial) float64 { return x.metric }}
	}
	return []objective{
		{"memory", false, "bytes", (*tuning).memory},
		throughput,
		{"cpu", false, "ns", func(_ *tuning, x *trial) float64 { return float64(x.cpu) }},
	}
}

// memory returns the largest resident memory of a run, or if that is unknown, the largest size of
// its heap.
func (*tuning) memory(x *trial) float64 {
	s := x.run.Sample.Summary()
	for _, n := range [...]analysis.Number{s.Memory.MaxResident, s.Heap.MaxCommitted, s.Heap.Max} {
		if n.Known() {
			return n.Value
		}
	}
	return 0
}

// differences compare two settings.
type differences struct {
	metrics    []analysis.Difference // of all pauses and collections
	objectives []analysis.Difference // the pauses, and then those of objectives
	more       []bool                // for each of them: more is better
}

// tolerated is by how much an objective may look worse and count as not worse, although no difference
// was detected: a few runs detect no difference in what is three times as much.
const tolerated = 10 // percent

// samples returns the runs of a setting.
func (r *outcome) samples() (list []*analysis.Sample) {
	for _, x := range r.trials {
		list = append(list, x.run.Sample)
	}
	return list
}

// pausePercentiles are those that settings are compared by: the first one of which there is enough
// data.
var pausePercentiles = []string{"pause.p99", "pause.p95", "pause.p90", "pause.p50"}

// against compares a setting with another one.
func (t *tuning) against(a, b *outcome) (d differences) {
	d.metrics = analysis.Compare(a.samples(), b.samples()).Differences
	var pauses analysis.Difference
	for _, name := range slices.Backward(pausePercentiles) {
		i := slices.IndexFunc(d.metrics, func(x analysis.Difference) bool { return x.Name == name })
		if pauses.Name == "" || d.metrics[i].Verdict != analysis.TooLittleData {
			pauses = d.metrics[i]
		}
	}
	d.objectives, d.more = []analysis.Difference{pauses}, []bool{false}
	list := t.objectives()
	for _, o := range list {
		x := analysis.CompareValues(t.values(o, a), t.values(o, b), len(list), o.more)
		x.Name, x.A.Unit, x.B.Unit = o.name, o.unit, o.unit
		d.objectives, d.more = append(d.objectives, x), append(d.more, o.more)
	}
	return d
}

// values returns the value of an objective in each run that has one.
func (t *tuning) values(o objective, r *outcome) (list []float64) {
	for _, x := range r.trials {
		if v := o.of(t, x); v > 0 {
			list = append(list, v)
		}
	}
	return list
}

// works reports whether all runs with a setting counted, and the runtime did not ignore all of it.
func (r *outcome) works() bool {
	return len(r.failed) == 0 && len(r.trials) >= leastRounds && (len(r.values) == 0 || len(r.ignored) < len(r.values))
}

// compareAll compares all settings with the program as it is, and decides which are optimal: no
// other setting is better in one objective, and not worse in any.
func (t *tuning) compareAll() {
	for _, r := range t.settings {
		if len(r.trials) > 0 && len(t.settings[0].trials) > 0 {
			r.against = t.against(t.settings[0], r)
		}
		r.optimal = r.works() && !slices.ContainsFunc(t.settings, func(other *outcome) bool {
			return other != r && other.works() && t.against(r, other).dominates()
		})
	}
}

// dominates reports whether B is better in an objective, and not worse in any, as far as that can be
// told.
func (d differences) dominates() bool {
	better := false
	for i, x := range d.objectives {
		change := x.Change.Value
		if d.more[i] {
			change = -change
		}
		if x.Verdict == analysis.Worse || x.Verdict == analysis.NoDifference && x.Change.Known() && change > tolerated {
			return false
		}
		better = better || x.Verdict == analysis.Better
	}
	return better
}
