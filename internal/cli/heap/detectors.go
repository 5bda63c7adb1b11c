package heap

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/view"
	"golang.org/x/tools/txtar"
)

//go:embed heap.txtar
var archive []byte

// wordings returns the English of heap suspects and heap inspect, by cause and detector.
var wordings = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, f := range txtar.Parse(archive).Files {
		texts[f.Name] = strings.Join(strings.Fields(string(f.Data)), " ")
	}
	return texts
})

func wording(name string) string { return wordings()[name] }

func titleOf(d heap.Detector) string { return wording("detector/" + string(d) + "/title") }

func adviceOf(d heap.Detector) string { return wording("detector/" + string(d) + "/advice") }

// A detector is how what a heap.Detector found is shown.
type detector struct {
	finding func(r *inspectReport, d *heap.Detection) string
	columns []inspectColumn
}

// occupied returns a sentence with the bytes of some things, and their number.
func occupied(what, which string) func(*inspectReport, *heap.Detection) string {
	return func(r *inspectReport, d *heap.Detection) string {
		return r.share(d.Total.Bytes, "in", d.Total.Objects, what, which)
	}
}

// retained returns a sentence with what some things retain, and their number.
func retained(what, which string) func(*inspectReport, *heap.Detection) string {
	return func(r *inspectReport, d *heap.Detection) string {
		return r.share(d.Total.Retained, "retained by", d.Total.Objects, what, which)
	}
}

// unused returns a sentence with what some things do not use, and their number.
func unused(what, which string) func(*inspectReport, *heap.Detection) string {
	return func(r *inspectReport, d *heap.Detection) string {
		return r.share(d.Total.Waste, "unused in", d.Total.Objects, what, which)
	}
}

// share says how many bytes some things have, and how much that is of the heap.
func (r *inspectReport) share(bytes uint64, relation string, n uint64, what, which string) string {
	text := fmt.Sprintf("%s %s %s%s", formats.SizeText(int64(bytes)), relation, view.Counted(n, what), which)
	if share := 100 * r.shareOf(bytes); share >= 0.05 {
		text += fmt.Sprintf(", %.1f %% of what is reachable", share)
	}
	return text + "."
}

// rowsOf returns a sentence with the number of rows.
func rowsOf(what, which string) func(*inspectReport, *heap.Detection) string {
	return func(_ *inspectReport, d *heap.Detection) string {
		return view.Counted(uint64(len(d.Rows)), what) + which + "."
	}
}

// detectors has a row for each detector.
var detectors = map[heap.Detector]detector{
	heap.DetectStrings: {
		occupied("string", ""),
		[]inspectColumn{bytesColumn(), objectsColumn("objects"), nameColumn("length")},
	},
	heap.DetectLargeStrings: {
		occupied("string", " of 85000 bytes or more"),
		[]inspectColumn{bytesColumn(), slotsColumn("characters"), addressColumn(), holderColumn()},
	},
	heap.DetectSparseArrays: {
		unused("array", " of references, with less than half of their elements set"),
		[]inspectColumn{
			wasteColumn("unused"), objectsColumn("objects"), slotsColumn("elements"), usedColumn(), typeColumn("type"),
			otherColumn("owner"),
		},
	},
	heap.DetectOverallocated: {
		unused("collection", " with less than half of their capacity in use"),
		[]inspectColumn{
			wasteColumn("unused"), objectsColumn("objects"), slotsColumn("capacity"), usedColumn(), typeColumn("type"),
			otherColumn("owner"),
		},
	},
	heap.DetectCollections: {
		func(r *inspectReport, d *heap.Detection) string {
			return fmt.Sprintf("%s with %s or more.",
				view.Counted(uint64(len(d.Rows)), "collection"), formats.SizeText(int64(r.Min)))
		},
		[]inspectColumn{
			retainedColumn(), objectsColumn("objects"), otherColumn("contents"), typeColumn("type"), holderColumn(),
		},
	},
	heap.DetectHandlers: {
		rowsOf("event", " with 16 subscribers or more"),
		[]inspectColumn{
			retainedColumn(), objectsColumn("handlers"), typeColumn("event"), otherColumn("subscribers"),
			holderColumn(),
		},
	},
	heap.DetectClosures: {
		retained("object", " that the compiler made for lambdas and iterators"),
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectAsync: {
		pendingCalls,
		[]inspectColumn{objectsColumn("calls"), retainedColumn(), methodColumn(), holderColumn()},
	},
	heap.DetectTimers: {
		occupied("timer", ""),
		[]inspectColumn{objectsColumn("timers"), otherColumn("called")},
	},
	heap.DetectWeakTables: {
		retained("value", " in ConditionalWeakTables"),
		[]inspectColumn{retainedColumn(), objectsColumn("entries"), typeColumn("key"), otherColumn("value")},
	},
	heap.DetectFinalizers: {
		retained("object", " that wait for their finalizers"),
		[]inspectColumn{objectsColumn("objects"), retainedColumn(), typeColumn("type")},
	},
	heap.DetectFinalizable: {
		retained("object", " of types with a finalizer"),
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectPinned: {
		occupied("pinned object", ""),
		[]inspectColumn{objectsColumn("objects"), bytesColumn(), typeColumn("type"), nameColumn("pinned by")},
	},
	heap.DetectFragmentation: {
		fragmentation,
		[]inspectColumn{
			wasteColumn("empty"), lists.Size("size", "", "", func(x *inspectRow) uint64 { return x.Bytes }),
			objectsColumn("objects"), pinnedColumn(), addressColumn(), nameColumn("generation"),
			otherColumn("pinned type"),
		},
	},
	heap.DetectLargeObjects: {
		func(r *inspectReport, d *heap.Detection) string {
			if d.Rows[0].Name != "" {
				return occupied("object", " of 85000 bytes or more")(r, d) +
					" Whether they are on the large object heap is unknown."
			}
			return occupied("object", " on the large object heap")(r, d)
		},
		[]inspectColumn{bytesColumn(), addressColumn(), typeColumn("type"), holderColumn()},
	},
	heap.DetectBoxed: {
		occupied("boxed value", ""),
		[]inspectColumn{bytesColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectStatics: {
		retained("object", " that the runtime keeps like static fields, without a name"),
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectDuplicates: {
		rowsOf("type", " loaded more than once"),
		[]inspectColumn{copiesColumn(), objectsColumn("objects"), bytesColumn(), typeColumn("type")},
	},
	heap.DetectCollectible: {
		rowsOf("LoaderAllocator", " of collectible load contexts or assemblies"),
		[]inspectColumn{objectsColumn("objects"), bytesColumn(), addressColumn(), otherColumn("type"), holderColumn()},
	},
	heap.DetectCOM: {
		occupied("object", " with wrappers of COM"),
		[]inspectColumn{objectsColumn("objects"), retainedColumn(), typeColumn("type"), nameColumn("wrapper")},
	},
}

func fragmentation(_ *inspectReport, d *heap.Detection) string {
	t := &d.Total
	text := fmt.Sprintf("%s of %s in all regions are empty, %.1f %%.", formats.SizeText(int64(t.Waste)),
		formats.SizeText(int64(t.Bytes)), 100*float64(t.Waste)/float64(max(t.Bytes, 1)))
	pinned := uint64(0)
	for i := range d.Rows {
		if d.Rows[i].Pinned > 0 {
			pinned++
		}
	}
	return text + fmt.Sprintf(" More than half empty: %s, %d with pinned objects.",
		view.Counted(uint64(len(d.Rows)), "region"), pinned)
}
