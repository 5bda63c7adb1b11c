package cli

import (
	"fmt"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/heap"
)

// A detector is how what a heap.Detector found is shown.
type detector struct {
	title   string
	finding func(r *inspectReport, d *heap.Detection) string
	advice  string
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
	text := fmt.Sprintf("%s %s %s%s", formats.SizeText(int64(bytes)), relation, counted(n, what), which)
	if share := 100 * r.shareOf(bytes); share >= 0.05 {
		text += fmt.Sprintf(", %.1f %% of what is reachable", share)
	}
	return text + "."
}

// rowsOf returns a sentence with the number of rows.
func rowsOf(what, which string) func(*inspectReport, *heap.Detection) string {
	return func(_ *inspectReport, d *heap.Detection) string {
		return counted(uint64(len(d.Rows)), what) + which + "."
	}
}

// detectors has a row for each detector.
var detectors = map[heap.Detector]detector{
	heap.DetectStrings: {
		"Strings", occupied("string", ""),
		"The events do not contain the text, so it is unknown which are equal. Intern values that repeat, and keep large texts as UTF-8 bytes.",
		[]inspectColumn{bytesColumn(), objectsColumn("objects"), nameColumn("length")},
	},
	heap.DetectLargeStrings: {
		"Large strings", occupied("string", " of 85000 bytes or more"),
		"Process text in parts, as a stream, instead of as one string.",
		[]inspectColumn{bytesColumn(), slotsColumn("characters"), addressColumn(), holderColumn()},
	},
	heap.DetectSparseArrays: {
		"Sparse arrays", unused("array", " of references, with less than half of their elements set"),
		"Allocate arrays as large as needed, or use a dictionary if the indices have gaps. Arrays in a pool are empty while nobody uses them.",
		[]inspectColumn{wasteColumn("unused"), objectsColumn("objects"), slotsColumn("elements"), usedColumn(), typeColumn("type"), otherColumn("owner")},
	},
	heap.DetectOverallocated: {
		"Overallocated collections", unused("collection", " with less than half of their capacity in use"),
		"Give the number of elements to the constructor, or call TrimExcess when a collection is complete. What is used in dictionaries is an estimate.",
		[]inspectColumn{wasteColumn("unused"), objectsColumn("objects"), slotsColumn("capacity"), usedColumn(), typeColumn("type"), otherColumn("owner")},
	},
	heap.DetectCollections: {
		"Large collections", func(r *inspectReport, d *heap.Detection) string {
			return fmt.Sprintf("%s with %s or more.", counted(uint64(len(d.Rows)), "collection"), formats.SizeText(int64(r.min)))
		},
		"A cache needs a limit and a rule for what to evict; other collections need code that removes what is no longer used. Two snapshots and heap diff say whether one grows.",
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), otherColumn("contents"), typeColumn("type"), holderColumn()},
	},
	heap.DetectHandlers: {
		"Events with many subscribers", rowsOf("event", " with 16 subscribers or more"),
		"An event keeps its subscribers alive. Unsubscribe (-=) when a subscriber is no longer needed, above all if what raises the event lives long.",
		[]inspectColumn{retainedColumn(), objectsColumn("handlers"), typeColumn("event"), otherColumn("subscribers"), holderColumn()},
	},
	heap.DetectClosures: {
		"Closures and iterators", retained("object", " that the compiler made for lambdas and iterators"),
		"A lambda keeps all variables alive that it and the other lambdas of its method use. Pass values as arguments, and make lambdas static, where something keeps them for long.",
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectAsync: {
		"Pending async methods", pendingCalls,
		"Find out what they await, give it a timeout or a CancellationToken, and limit how many run at the same time.",
		[]inspectColumn{objectsColumn("calls"), retainedColumn(), methodColumn(), holderColumn()},
	},
	heap.DetectTimers: {
		"Timers", occupied("timer", ""),
		"A timer keeps its callback and its state alive while it is active. Dispose timers, and cancel delays, that are no longer needed.",
		[]inspectColumn{objectsColumn("timers"), otherColumn("called")},
	},
	heap.DetectWeakTables: {
		"ConditionalWeakTables", retained("value", " in ConditionalWeakTables"),
		"A value is alive as long as its key is. If entries accumulate, something keeps the keys alive: heap roots FILE TYPE.",
		[]inspectColumn{retainedColumn(), objectsColumn("entries"), typeColumn("key"), otherColumn("value")},
	},
	heap.DetectFinalizers: {
		"Finalizer queue", retained("object", " that wait for their finalizers"),
		"If the number grows, the finalizer thread is blocked or too slow: look at its stack. Dispose such objects, so that they need no finalizer (GC.SuppressFinalize).",
		[]inspectColumn{objectsColumn("objects"), retainedColumn(), typeColumn("type")},
	},
	heap.DetectFinalizable: {
		"Objects with finalizers", retained("object", " of types with a finalizer"),
		"Such objects, and all that they refer to, are freed one collection later, unless Dispose suppresses the finalizer; whether it did is unknown.",
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectPinned: {
		"Pinned objects", occupied("pinned object", ""),
		"The GC cannot move them, which leaves gaps. Pin for a short time, or allocate such buffers on the pinned object heap (GC.AllocateArray with pinned: true).",
		[]inspectColumn{objectsColumn("objects"), bytesColumn(), typeColumn("type"), nameColumn("pinned by")},
	},
	heap.DetectFragmentation: {
		"Fragmentation", fragmentation,
		"Pinned objects keep their regions from being freed. Without pinned objects, space is empty because the collection did not compact: GCSettings.LargeObjectHeapCompactionMode does that for the large object heap.",
		[]inspectColumn{
			wasteColumn("empty"), sizeColumn("size", "", "", func(x *inspectRow) uint64 { return x.Bytes }), objectsColumn("objects"), pinnedColumn(),
			addressColumn(), nameColumn("generation"), otherColumn("pinned type"),
		},
	},
	heap.DetectLargeObjects: {
		"Large objects", func(r *inspectReport, d *heap.Detection) string {
			if d.Rows[0].Name != "" {
				return occupied("object", " of 85000 bytes or more")(r, d) + " Whether they are on the large object heap is unknown."
			}
			return occupied("object", " on the large object heap")(r, d)
		},
		"They are only freed by full collections. Rent large arrays (ArrayPool<T>), and process large data in parts.",
		[]inspectColumn{bytesColumn(), addressColumn(), typeColumn("type"), holderColumn()},
	},
	heap.DetectBoxed: {
		"Boxed values", occupied("boxed value", ""),
		"Use generic collections and methods for value types, instead of object and interfaces.",
		[]inspectColumn{bytesColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectStatics: {
		"Statics tables", retained("object", " that the runtime keeps like static fields, without a name"),
		"They are static fields of generic types, which exist once for each combination of type arguments, and objects of the runtime.",
		[]inspectColumn{retainedColumn(), objectsColumn("objects"), typeColumn("type")},
	},
	heap.DetectDuplicates: {
		"Types that are loaded several times", rowsOf("type", " loaded more than once"),
		"Each load context has its own copy of an assembly, with its own static fields. Load what contexts share into the default one.",
		[]inspectColumn{copiesColumn(), objectsColumn("objects"), bytesColumn(), typeColumn("type")},
	},
	heap.DetectCollectible: {
		"Collectible assemblies", rowsOf("LoaderAllocator", " of collectible load contexts or assemblies"),
		"Objects of their types, and whatever else refers to their LoaderAllocator, keep them loaded: heap roots FILE System.Reflection.LoaderAllocator.",
		[]inspectColumn{objectsColumn("objects"), bytesColumn(), addressColumn(), otherColumn("type"), holderColumn()},
	},
	heap.DetectCOM: {
		"COM", occupied("object", " with wrappers of COM"),
		"A COM object is alive as long as its runtime callable wrapper, and a .NET object as long as native code holds its COM callable wrapper.",
		[]inspectColumn{objectsColumn("objects"), retainedColumn(), typeColumn("type"), nameColumn("wrapper")},
	},
}

func fragmentation(_ *inspectReport, d *heap.Detection) string {
	t := &d.Total
	text := fmt.Sprintf("%s of %s in all regions are empty, %.1f %%.", formats.SizeText(int64(t.Waste)), formats.SizeText(int64(t.Bytes)), 100*float64(t.Waste)/float64(max(t.Bytes, 1)))
	pinned := uint64(0)
	for i := range d.Rows {
		if d.Rows[i].Pinned > 0 {
			pinned++
		}
	}
	return text + fmt.Sprintf(" More than half empty: %s, %d with pinned objects.", counted(uint64(len(d.Rows)), "region"), pinned)
}
