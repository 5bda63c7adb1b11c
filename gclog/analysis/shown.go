package analysis

import (
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// shown is which facts the collections of a stretch have: without them, some causes cannot be seen.
type shown struct {
	groups   gclog.Groups // of any collection
	blocking bool         // there was one
	marked   bool         // one reports what it marked
	resident bool         // one has the physical memory of the process, and what the GC has committed of it
	fromLog  bool         // they were read from a log that contains less than was reported
}

// see adds a collection.
func (k *shown) see(x *judgedGC) {
	k.groups |= x.Known
	k.fromLog = k.fromLog || x.FromLog
	k.blocking = k.blocking || !x.background
	k.marked = k.marked || x.Mark(clr.MarkStack).Known || x.Mark(clr.MarkDependentHandles).Known
	k.resident = k.resident || x.Memory.Resident > 0 && x.Known.Has(gclog.GroupCommittedAfter)
}

// lacks says which causes the data cannot show, "" if there are none. ending is whether it is known how the
// process ended, or that it has not.
func (k *shown) lacks(ending bool) string {
	var list []string
	for _, x := range [...]struct {
		shown bool
		what  string
	}{
		{k.groups.Has(gclog.GroupHistory), "leaks of managed memory, survival, mid-life objects, fragmentation"},
		{!k.blocking || k.groups.Has(gclog.GroupPinned), "pinning"},
		{k.groups.Has(gclog.GroupHandles), "handles"},
		{!k.blocking || k.marked, "dependent handles"},
		{k.groups&(gclog.GroupFinalizationCount|gclog.GroupFinalizers) != 0, "finalizers"},
		{!k.blocking || k.resident, "native memory"},
		{ending, "how the process ended"},
	} {
		if !x.shown {
			list = append(list, strings.Split(x.what, ", ")...)
		}
	}
	if len(list) == 0 {
		return ""
	}
	data := "The data"
	if k.fromLog {
		data = "This log"
	}
	return data + " cannot show " + andList(list) + "."
}
