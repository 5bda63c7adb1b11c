package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
)

// The questions of samples/fleet, answered in a simple way from the records themselves, to judge the
// answers of engines, which have them from Parquet files.

// Answers collects what it takes to answer.
type Answers struct{ rows []row }

// A row is what the questions need of a record. Times are microseconds since 1970, as in the files.
type row struct {
	p         *gclog.Process
	at        int64
	what      string // gc, suspension, gap, end or start
	paused    int64  // of a collection in all parts, or of a suspension
	longest   int64
	gen       int
	blocking  bool
	after     float64 // heap
	allocated float64
	induced   bool
	heaps     float64
	limit     float64 // of the control group
	used      float64 // of the limit of the control group
	lost      float64
	records   float64
	complete  bool
	reason    string
}

// Observe returns the observer of a process.
func (a *Answers) Observe(p *gclog.Process) gclog.Observer { return (&answering{a: a, p: p}).Observe }

type answering struct {
	a *Answers
	p *gclog.Process
}

func (x *answering) add(at int64, r row) {
	r.p, r.at = x.p, x.p.Sync.Add(time.Duration(at)).UnixMicro()
	x.a.rows = append(x.a.rows, r)
}

// Observe takes a record.
func (x *answering) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		x.add(r.At, row{what: "start"})
	case *gclog.End:
		x.add(r.At, row{what: "end", reason: r.Reason.String()})
	case *gclog.Gap:
		x.add(r.Time, row{what: "gap", lost: float64(r.LostEvents), records: float64(r.Records)})
	case *gclog.Pause:
		if r.GC == nil {
			x.add(r.Start, row{what: "suspension", paused: r.Duration})
		}
	case *gclog.GCDetails:
		x.add(r.PauseStart(), row{
			what: "gc", paused: r.Pause(), longest: r.PauseMax(), gen: r.Generation, blocking: r.Kind == gclog.KindBlocking,
			after: float64(r.SizeAfter()), allocated: float64(r.Allocated), induced: r.Reason.Induced(), heaps: float64(r.HeapCount()),
			limit: float64(r.Memory.CgroupLimit), used: float64(r.Memory.Cgroup) / float64(r.Memory.CgroupLimit), complete: r.Complete,
		})
	}
}

// An answer is rows of texts, numbers and booleans.
type answer [][]any

// All returns the answers by the number of their question.
func (a *Answers) All() map[string][][]any {
	return map[string][][]any{
		"1": a.pauseShare(), "2": a.longest(), "3": a.growth(), "4": a.versions(), "5": a.settings(), "6": a.small(), "7": a.full(), "8": a.induced(),
		"9": a.lost(), "10": a.killed(),
	}
}

func (a *Answers) collections() (list []row) {
	return slices.DeleteFunc(slices.Clone(a.rows), func(r row) bool { return r.what != "gc" })
}

func by[K cmp.Ordered](rows []row, key func(row) K) map[K][]row {
	groups := map[K][]row{}
	for _, r := range rows {
		groups[key(r)] = append(groups[key(r)], r)
	}
	return groups
}

func serviceOf(r row) string { return r.p.Service }

// instanceOf identifies a process among all others.
func instanceOf(r row) string { return fmt.Sprint(r.p.Host, r.p.ID, r.p.StartKey, r.p.Cookie) }

func sum(rows []row, value func(row) float64) (total float64) {
	for _, r := range rows {
		total += value(r)
	}
	return total
}

func count(rows []row, is func(row) bool) float64 {
	return sum(rows, func(r row) float64 {
		if is(r) {
			return 1
		}
		return 0
	})
}

func highest(rows []row, value func(row) float64) float64 {
	most := math.Inf(-1)
	for _, r := range rows {
		most = max(most, value(r))
	}
	return most
}

func paused(r row) float64    { return float64(r.paused) }
func allocated(r row) float64 { return r.allocated }

// percentile interpolates between the values next to it.
func percentile(rows []row, p float64) float64 {
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = float64(r.longest)
	}
	slices.Sort(values)
	at := p * float64(len(values)-1)
	low := int(at)
	if low+1 == len(values) {
		return values[low]
	}
	return values[low] + (at-float64(low))*(values[low+1]-values[low])
}

// sorted sorts rows by a number, the largest first, and then by names, and returns the first.
func (x answer) sorted(number, names, most int) [][]any {
	slices.SortFunc(x, func(a, b []any) int {
		if number >= 0 {
			if c := cmp.Compare(b[number].(float64), a[number].(float64)); c != 0 {
				return c
			}
		}
		for i := range names {
			if c := cmp.Compare(text(a[i]), text(b[i])); c != 0 {
				return c
			}
		}
		return 0
	})
	return x[:min(most, len(x))]
}

// text returns a text or boolean for comparison.
func text(v any) string {
	switch v {
	case true:
		return "1"
	case false:
		return "0"
	}
	return v.(string)
}

const unlimited = math.MaxInt

func (a *Answers) pauseShare() [][]any {
	var x answer
	for name, rows := range by(a.rows, serviceOf) {
		stopped, observed := 0.0, 0.0
		processes := by(rows, instanceOf)
		for _, rows := range processes {
			stopped += sum(rows, paused)
			first := slices.MinFunc(rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
			observed += highest(rows, func(r row) float64 { return float64(r.at - first.at) })
		}
		x = append(x, []any{name, float64(len(processes)), stopped / 1e9 / (observed / 1e6)})
	}
	return x.sorted(2, 1, 10)
}

func (a *Answers) longest() [][]any {
	var x answer
	for name, rows := range by(a.collections(), serviceOf) {
		x = append(x, []any{name, float64(len(rows)), percentile(rows, 0.5) / 1e6, percentile(rows, 0.99) / 1e6, percentile(rows, 1) / 1e6})
	}
	return x.sorted(3, 1, 10)
}

func (a *Answers) growth() [][]any {
	full := slices.DeleteFunc(a.collections(), func(r row) bool { return r.gen != 2 || r.after == 0 })
	var x answer
	for name, rows := range by(full, serviceOf) {
		n, total := 0.0, 0.0
		for _, rows := range by(rows, instanceOf) {
			if len(rows) >= 5 {
				n++
				total += slope(rows)
			}
		}
		if n > 0 {
			x = append(x, []any{name, n, total / n})
		}
	}
	return x.sorted(2, 1, 10)
}

// slope returns the slope of the line of least squares, in MB per hour.
func slope(rows []row) float64 {
	hours := func(r row) float64 { return float64(r.at-r.p.Started.UnixMicro()) / 3600e6 }
	n := float64(len(rows))
	meanX, meanY := sum(rows, hours)/n, sum(rows, func(r row) float64 { return r.after / 1e6 })/n
	return sum(rows, func(r row) float64 { return (hours(r) - meanX) * (r.after/1e6 - meanY) }) / sum(rows, func(r row) float64 { return (hours(r) - meanX) * (hours(r) - meanX) })
}

func perGB(rows []row) float64 { return sum(rows, paused) / 1e6 / (sum(rows, allocated) / 1e9) }

func (a *Answers) versions() [][]any {
	var x answer
	for name, rows := range by(a.collections(), serviceOf) {
		versions := by(rows, func(r row) string { return r.p.RuntimeVersion })
		for version, rows := range versions {
			if len(versions) > 1 {
				x = append(x, []any{name, version, float64(len(by(rows, instanceOf))), float64(len(rows)), percentile(rows, 0.5) / 1e6, percentile(rows, 0.99) / 1e6, perGB(rows)})
			}
		}
	}
	return x.sorted(-1, 2, unlimited)
}

func (a *Answers) settings() [][]any {
	var x answer
	for _, rows := range by(a.collections(), func(r row) string { return r.p.Server.String() + "/" + r.p.Concurrent.String() }) {
		p := rows[0].p
		x = append(x, []any{
			p.Server == gclog.Yes, p.Concurrent == gclog.Yes, float64(len(by(rows, instanceOf))), float64(len(rows)),
			count(rows, func(r row) bool { return r.gen == 2 && r.blocking }), percentile(rows, 0.99) / 1e6, perGB(rows),
		})
	}
	return x.sorted(-1, 2, unlimited)
}

func (a *Answers) small() [][]any {
	var x answer
	for name, rows := range by(a.collections(), serviceOf) {
		rows = slices.DeleteFunc(rows, func(r row) bool {
			return r.p.Server != gclog.Yes || r.p.Processors > 2 && r.limit >= 1e9
		})
		if len(rows) > 0 {
			x = append(x, []any{
				name, float64(len(by(rows, instanceOf))), -highest(rows, func(r row) float64 { return -float64(r.p.Processors) }),
				-highest(rows, func(r row) float64 { return -r.limit }) / 1e6, highest(rows, func(r row) float64 { return r.heaps }),
			})
		}
	}
	return x.sorted(1, 1, unlimited)
}

func (a *Answers) full() [][]any {
	var x answer
	for _, rows := range by(a.collections(), func(r row) string { return r.p.Pod }) {
		peak := highest(rows, func(r row) float64 { return r.used })
		if peak > 0.9 {
			p := rows[0].p
			x = append(x, []any{p.Namespace, p.Pod, p.Service, peak, rows[0].limit / 1e6})
		}
	}
	return x.sorted(3, 2, 20)
}

func (a *Answers) induced() [][]any {
	var x answer
	for name, rows := range by(a.collections(), serviceOf) {
		induced := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.induced })
		if n := float64(len(induced)); n > 0 {
			x = append(x, []any{name, n, n / float64(len(rows)), sum(induced, paused) / 1e9})
		}
	}
	return x.sorted(1, 1, 10)
}

func (a *Answers) lost() [][]any {
	var x answer
	for name, rows := range by(a.rows, serviceOf) {
		if gaps := count(rows, func(r row) bool { return r.what == "gap" }); gaps > 0 {
			x = append(x, []any{
				name, gaps, sum(rows, func(r row) float64 { return r.lost }), sum(rows, func(r row) float64 { return r.records }),
				count(rows, func(r row) bool { return r.what == "gc" && !r.complete }),
			})
		}
	}
	return x.sorted(2, 1, unlimited)
}

func (a *Answers) killed() [][]any {
	type ended struct{ service, reason string }
	shares, memory := map[ended][]float64{}, map[ended][]float64{}
	processes := by(a.rows, instanceOf)
	for _, id := range slices.Sorted(maps.Keys(processes)) {
		rows := processes[id]
		last := rows[len(rows)-1]
		before := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.what != "gc" || r.at <= last.at-600e6 })
		if key := (ended{last.p.Service, last.reason}); slices.Contains([]string{"killed", "oom-killed", "aborted", "crashed"}, last.reason) && len(before) > 0 {
			shares[key] = append(shares[key], sum(before, paused)/600e9)
			memory[key] = append(memory[key], highest(before, func(r row) float64 { return r.used }))
		}
	}
	mean := func(list []float64) (m float64) {
		for _, v := range list {
			m += v / float64(len(list))
		}
		return m
	}
	var x answer
	for key := range shares {
		x = append(x, []any{key.service, key.reason, float64(len(shares[key])), mean(shares[key]), mean(memory[key])})
	}
	return x.sorted(2, 2, unlimited)
}
