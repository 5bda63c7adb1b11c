package analysis

import (
	"fmt"
)

func objectRules() []Rule {
	return []Rule{{
		Number: 18, ID: "finalizer-backlog", Title: "Finalizers do not keep up", Severity: Warning,
		Thresholds: []Threshold{
			{"objects", "", 10000, "objects retained for finalization by one collection, above which they are many"},
			{"run", "ns", 1e9, "duration of one run of the finalizer thread, above which it counts as slow"},
			{"count", "", 3, "number of collections with many objects from which it is a finding"},
		},
		Sample:      "nothing for a long run; otherwise the minimum number of collections with many objects",
		Evidence:    "objects that each collection retained for finalization; start and end of the runs of the finalizer thread",
		Explanation: "An object with a finalizer survives the collection that finds it unreachable, with everything it refers to, until the single finalizer thread has finalized it. If that thread is slow or hangs, memory grows without any error.",
		Advice:      "Call Dispose (using) on objects with a finalizer: streams, handles, database connections; Dispose must call GC.SuppressFinalize. If a run takes long, take a dump with dotnet-dump and look at the stack of the thread named .NET Finalizer: it may be waiting for a lock, a COM apartment or the network. The command finalizequeue of dotnet-dump counts the types.",
		Basis:       BasisMicrosoft, need: needCollections,
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
	if x.HasFinalizationCount {
		j.counted++
		j.most = max(j.most, x.FinalizationCount)
		if float64(x.FinalizationCount) > j.objects {
			j.many++
			j.byCount.add(x.GCDetails, float64(x.FinalizationCount))
		}
		if x.HasFinalizationSize {
			j.bytes, j.sized = max(j.bytes, x.FinalizationSize), true
		}
	}
	if !x.Finalizers.Known {
		return
	}
	j.runs = true
	j.unsure = j.unsure || !x.Finalizers.HasLongest
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
		f.Text = fmt.Sprintf("%d of %s retained more than %.0f objects for finalization, up to %d", j.many, plural(j.counted, "collection"), j.objects, j.most)
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
	if j.counted > 0 {
		f.Evidence = []Fact{countFact("collections", j.counted), countFact("collections.many", j.many), countFact("finalization.objects.over", j.objects), countFact("finalization.objects.max", j.most)}
	}
	if j.sized {
		f.Evidence = append(f.Evidence, bytesFact("finalization.bytes.max", j.bytes))
	}
	if longest > j.run || j.runs && !j.unsure {
		f.Evidence = append(f.Evidence, timeFact("finalizers.run.max", longest))
	}
	return f, ""
}
