package analysis

import (
	"fmt"
	"math"
)

func objectRules() []Rule {
	return []Rule{{
		Number: 18, ID: "finalizer-backlog", Title: "Finalizers do not keep up", Severity: Warning,
		Thresholds: []Threshold{
			{"objects", "", 10000, "objects kept alive by one collection to be finalized, above which they are many"},
			{"run", "ns", 1e9, "duration of one run of the finalizer thread, above which it is slow"},
			{"count", "", 3, "collections with many objects, from which on it is a finding"},
		},
		Evidence:    "objects that each collection kept for their finalizers; begin and end of the runs of the finalizer thread",
		Explanation: "An object with a finalizer survives the collection that finds it dead, with all that it refers to, until the one finalizer thread has run it. If that thread is slow or hangs, memory grows without an error anywhere.",
		Advice:      "Call Dispose (using) on what has a finalizer: streams, handles, database connections; Dispose must call GC.SuppressFinalize. If one run lasts long, take a dump with dotnet-dump and look at the stack of the thread named .NET Finalizer: it waits for a lock, a COM apartment or the network. finalizequeue in the dump counts the types.",
		Basis:       BasisMicrosoft, need: needCollections,
		judge: func(l limits) judge {
			return &finalizerBacklog{objects: l["objects"], run: int64(l["run"]), least: uint64(l["count"])}
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
	runs          bool // known
	longest       int64
	byCount       ranking
	byRun         ranking
}

func (j *finalizerBacklog) gc(x *judgedGC) {
	if x.HasSizesAfter && x.FinalizationCount != math.MaxUint64 {
		j.counted++
		j.most = max(j.most, x.FinalizationCount)
		if float64(x.FinalizationCount) > j.objects {
			j.many++
			j.byCount.add(x.GCDetails, float64(x.FinalizationCount))
		}
		if x.FinalizationSize != math.MaxUint64 {
			j.bytes = max(j.bytes, x.FinalizationSize)
		}
	}
	if !x.Finalizers.Known {
		return
	}
	j.runs = true
	run := max(x.Finalizers.Longest, x.Finalizers.Running)
	j.longest = max(j.longest, run)
	if run > j.run {
		j.byRun.add(x.GCDetails, float64(run))
	}
}

func (j *finalizerBacklog) verdict(*stretch) (f Finding, why string) {
	switch {
	case j.runs && j.longest > j.run:
		f.Text = fmt.Sprintf("The finalizer thread was at work for %s in one run; a collection kept up to %d objects for it.", durationText(float64(j.longest)), j.most)
		f.GCs = j.byRun.numbers()
	case j.many >= max(1, j.least):
		f.Text = fmt.Sprintf("%d of %s kept more than %.0f objects alive to be finalized, up to %d (%s).",
			j.many, plural(j.counted, "collection"), j.objects, j.most, sizeText(float64(j.bytes)))
		f.GCs = j.byCount.numbers()
	case j.counted == 0 && !j.runs:
		return f, "no collection tells the objects to be finalized or the runs of the finalizer thread"
	default:
		return f, ""
	}
	f.Evidence = []Evidence{{"finalization.objects.max", float64(j.most), ""}, {"finalization.bytes.max", float64(j.bytes), "bytes"}, {"collections.many", float64(j.many), ""}}
	if j.runs {
		f.Evidence = append(f.Evidence, Evidence{"finalizers.run.max", float64(j.longest), "ns"})
	}
	return f, ""
}
