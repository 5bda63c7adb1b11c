package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
)

func objectRules() []Rule {
	return []Rule{{
		Number: 18, ID: "finalizer-backlog", Severity: Warning,
		Thresholds: []Threshold{
			{Name: "objects", Default: 10000},
			{Name: "run", Unit: "ns", Default: 1e9},
			{Name: "count", Default: 3},
		},
		Basis: BasisMicrosoft, need: needCollections,
		judge: func(l limits) judge {
			return &finalizerBacklog{objects: l["objects"], run: int64(l["run"]), least: l.count()}
		},
	}}
}

type finalizerBacklog struct {
	objects float64
	run     int64
	least   uint64

	counted, many uint64 // collections
	most          uint64
	bytes         uint64
	sized         bool  // bytes are known
	runs, unsure  bool  // runs are known; the length of some is not
	longest       int64 // longest run that has ended
	running       int64 // longest run in progress when a collection began
	byCount       ranking
	byRun         ranking
}

func (j *finalizerBacklog) gc(x *judgedGC) {
	if x.Known.Has(gclog.GroupFinalizationCount) {
		j.counted++
		j.most = max(j.most, x.FinalizationCount)
		if float64(x.FinalizationCount) > j.objects {
			j.many++
			j.byCount.add(x.GCDetails, float64(x.FinalizationCount))
		}
		if x.Known.Has(gclog.GroupFinalizationSize) {
			j.bytes, j.sized = max(j.bytes, x.FinalizationSize), true
		}
	}
	if !x.Known.Has(gclog.GroupFinalizers) {
		return
	}
	j.runs = true
	j.unsure = j.unsure || !x.Known.Has(gclog.GroupLongestFinalizers)
	j.longest = max(j.longest, x.Finalizers.Longest)
	j.running = max(j.running, x.Finalizers.Running)
	if run := max(x.Finalizers.Longest, x.Finalizers.Running); run > j.run {
		j.byRun.add(x.GCDetails, float64(run))
	}
}

func (j *finalizerBacklog) verdict(s *stretch) (f Finding, why string) {
	longest := j.longest
	if s.loss.lostEvents == 0 && !s.loss.lostInexact { // otherwise the end of a run may be lost
		longest = max(longest, j.running)
	}
	switch {
	case longest > j.run:
		f.Text = fmt.Sprintf("The finalizer thread was busy for %s in one run", durationText(float64(longest)))
		if j.counted > 0 {
			f.Text += fmt.Sprintf("; a collection retained up to %d objects for it", j.most)
		}
		f.Text += "."
		f.GCs = j.byRun.numbers()
	case j.many >= j.least:
		f.Text = fmt.Sprintf("%d of %s retained more than %.0f objects for finalization, up to %d",
			j.many, plural(j.counted, "collection"), j.objects, j.most)
		if j.sized {
			f.Text += fmt.Sprintf(" objects and %s", sizeText(float64(j.bytes)))
		}
		f.Text += "."
		f.GCs = j.byCount.numbers()
	case j.counted == 0 && !j.runs:
		return f, "no collection reports objects retained for finalization or runs of the finalizer thread"
	default:
		return f, ""
	}
	switch {
	case longest > j.run && j.most > 0:
		f.says = fmt.Sprintf("one run has lasted %s, and up to %d objects were added to the queue in one collection",
			durationText(float64(longest)), j.most)
	case longest > j.run:
		f.says = fmt.Sprintf("one run has lasted %s", durationText(float64(longest)))
	default:
		f.says = fmt.Sprintf("up to %d objects were added to their queue in one collection", j.most)
	}
	f.Explains.Bytes = j.bytes
	if j.counted > 0 {
		f.Evidence = []Fact{
			countFact("collections", j.counted), countFact("collections.many", j.many),
			countFact("finalization.objects.over", j.objects), countFact("finalization.objects.max", j.most),
		}
	}
	if j.sized {
		f.Evidence = append(f.Evidence, bytesFact("finalization.bytes.max", j.bytes))
	}
	if longest > j.run || j.runs && !j.unsure {
		f.Evidence = append(f.Evidence, timeFact("finalizers.run.max", longest))
	}
	return f, ""
}
