package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// A column is a number or a name of each collection, in tables, charts and exports.
type column struct {
	Key   string // its name in JSON records, where it has one
	Title string // for the head of a table
	Unit  string // "ns", "bytes", "bytes/s", "%", "time", "flag", "name", "names" or "" of counts and ratios
	Group string // which columns are shown together
	Doc   string
	// Scale is how many of the integers in the page make 1: hundredths of a percent have 100.
	Scale int
	// Base are columns whose sum is usually the value, or close to it: the page contains the rest.
	Base []string
	// value returns the value in the integers of the page.
	value func(*gclog.GCDetails) (int64, bool)
	// text returns a name, "" if it is unknown, instead of value.
	text func(*gclog.GCDetails) string
}

// The groups of columns, in the order of the page.
const (
	groupMain       = "main"
	groupTriggers   = "trigger"
	groupSizes      = "sizes"
	groupGen0       = "gen0"
	groupGen1       = "gen1"
	groupGen2       = "gen2"
	groupLOH        = "loh"
	groupPOH        = "poh"
	groupObjects    = "objects"
	groupPhases     = "phases"
	groupBackground = "background"
	groupMemory     = "memory"
	groupData       = "data"
)

// allColumns returns the columns: all of PerfView's GCStats and what gclog knows in addition. Titles,
// and the order of the main columns, are those of all views.
func allColumns() []column {
	shared := view.Columns()
	rank := func(c column) int {
		i := slices.IndexFunc(shared,
			func(v view.Column) bool { return v.Key == c.Key || v.Key == "event.start" && c.Key == "start" })
		switch {
		case c.Group != groupMain:
			return 2 * len(shared)
		case i < 0:
			return len(shared)
		}
		return i
	}
	list := unorderedColumns()
	slices.SortStableFunc(list, func(a, b column) int { return cmp.Compare(rank(a), rank(b)) })
	for i := range list {
		for _, v := range shared {
			if v.Key == list[i].Key {
				list[i].Title = strings.TrimSuffix(v.Title, " ms")
			}
		}
	}
	return list
}

func unorderedColumns() []column {
	exceeded := shown("condemned.budget_exceeded")
	list := []column{
		of("number", "gc", groupMain),
		instant("start", "time", groupMain, "the start of the collection",
			func(d *gclog.GCDetails) (int64, bool) { return started(d), true }),
		named("generation", "gen", groupMain, "the condemned generation", shown("generation")),
		named("type", "kind", groupMain, "how the collection ran", func(d *gclog.GCDetails) string {
			if !d.KindKnown() {
				return ""
			}
			return d.Kind.String()
		}),
		named("name", "name", groupMain, "generation and kind as PerfView writes them: 2B is a background gen2, "+
			"1F a foreground gen1, 0N a blocking gen0; I and i are induced", shortName),
		named("class", "class", groupMain, "the class of the collection in statistics",
			func(d *gclog.GCDetails) string { return analysis.ClassOf(d).String() }),
		of("reason", "reason", groupMain),
		named("condemned.budget_exceeded", "exceeded", groupMain, "the oldest generation whose budget was exceeded",
			func(d *gclog.GCDetails) string {
				name, _, _ := strings.Cut(exceeded(d), " ") // by how much is in other columns
				return strings.Trim(name, "-")
			}),
		of("suspend", "suspend", groupMain),
		of("pause.total", "pause", groupMain),
		of("pause.max", "longest pause", groupMain).near("pause.total"),
		of("paused", "paused", groupMain),
		of("allocated", "allocated", groupMain).near("gen0.allocated", "loh.allocated", "poh.allocated"),
		of("alloc_rate.bytes_per_s", "alloc rate", groupMain),
		of("heap.before", "before", groupMain).near(eachGeneration(".before")...),
		of("heap.fragmentation", "free", groupMain),
		of("heap.peak", "peak", groupMain).near("heap.before"),
		of("heap.after", "after", groupMain).near(eachGeneration(".after")...),
		scaled("heap.peak_ratio", "peak ÷ after", groupMain,
			"the largest size during the collection relative to the size after it", 1000, (*gclog.GCDetails).PeakRatio),
		of("heap.promoted", "promoted", groupMain).near(eachGeneration(".promoted")...),
		of("compacting", "compacting", groupMain),

		instant("pause.start", "pause start", groupTriggers, "the start of the first pause",
			func(d *gclog.GCDetails) (int64, bool) { return d.PauseStart(), len(d.Pauses) > 0 }).near("start"),
		of("since_last", "since last", groupTriggers),
		of("trigger.delay", "trigger delay", groupTriggers),
		named("condemned.reasons", "condemned because", groupTriggers, "why this generation was condemned",
			condemnedReasons),
		of("memory_load", "memory load", groupTriggers),
		of("heap_count", "heaps", groupTriggers),

		of("heap.committed_before", "committed before", groupSizes).near(previous + "heap.committed"),
		of("heap.committed", "committed", groupSizes),
		of("segments.created.bytes", "regions created", groupSizes),
		of("segments.freed.bytes", "regions freed", groupSizes),
	}
	groups := [gclog.Generations]string{groupGen0, groupGen1, groupGen2, groupLOH, groupPOH}
	for g, group := range groups {
		name := gclog.GenerationName(g)
		if name == "loh" || name == "poh" {
			name = strings.ToUpper(name)
		}
		key := gclog.GenerationName(g)
		list = append(list,
			of(key+".before", name+" before", group).near(previous+key+".after", key+".allocated"),
			of(key+".after", name+" after", group),
			of(key+".survival", name+" survival", group),
			scaled(key+".fragmentation_share", name+" free", group,
				"the share of free space in it after the collection", 100,
				func(d *gclog.GCDetails) (float64, bool) { return d.FragmentationPercent(g) }).in("%"),
			of(key+".promoted", name+" promoted", group),
			of(key+".budget", name+" budget", group),
			column{
				Key: key + ".budget_left", Title: name + " budget left", Unit: "bytes", Group: group, Scale: 1,
				Doc: "what remained of its budget in the fullest heap when the collection started; negative: " +
					"exceeded by that much; an estimate",
				value: func(d *gclog.GCDetails) (int64, bool) {
					return d.Generations[g].BudgetLeft, d.Generations[g].HasBudgetLeft && g < d.GenerationCount
				},
			},
		)
		if g != gclog.Gen1 && g != gclog.Gen2 {
			list = append(list, of(key+".allocated", name+" allocated", group))
		}
	}
	list = append(list,
		of("finalization.count", "finalization", groupObjects),
		of("finalization.bytes", "finalization size", groupObjects),
		of("pinned", "pinned objects", groupObjects),
		of("pinned_seen.bytes", "pinned size", groupObjects),
		of("pinned_plugs.bytes", "not movable", groupObjects),
		of("pinned_user", "pinned by the program", groupObjects),
		of("handles", "handles", groupObjects),
		of("finalizers.objects", "finalized", groupObjects),
		of("free_list_efficiency", "free list used", groupObjects),
		of("imbalance.gen0", "gen0 imbalance", groupObjects),
		of("imbalance.survived", "survivor imbalance", groupObjects),
	)
	for _, f := range fields.All() {
		if name, ok := strings.CutPrefix(f.JSON, "timing."); ok {
			list = append(list, of(f.JSON, strings.ReplaceAll(name, "_", " "), groupPhases))
		}
	}
	list = append(list,
		of("background.concurrent_mark", "concurrent mark", groupBackground),
		of("background.concurrent_sweep", "concurrent sweep", groupBackground),
		background("background.mark_start", "mark start",
			func(b *gclog.BackgroundDetails) int64 { return b.MarkStart }),
		background("background.mark_end", "mark end", func(b *gclog.BackgroundDetails) int64 { return b.MarkEnd }),
		background("background.sweep_start", "sweep start",
			func(b *gclog.BackgroundDetails) int64 { return b.SweepStart }),
		background("background.sweep_end", "sweep end", func(b *gclog.BackgroundDetails) int64 { return b.SweepEnd }),
		of("background.alloc_waits.count", "allocation waits", groupBackground),
		of("background.alloc_waits.total", "waited", groupBackground),
		memory("process.memory.rss", "RSS", "the resident memory of the process",
			func(m *gclog.Memory) uint64 { return m.Resident }),
		memory("process.cgroup.memory.usage", "cgroup", "the memory of its control group, page cache included",
			func(m *gclog.Memory) uint64 { return m.Cgroup }),
		memory("process.cgroup.memory.limit", "cgroup limit", "the memory limit of the control group",
			func(m *gclog.Memory) uint64 { return m.CgroupLimit }),
		of("complete", "complete", groupData),
		named("flaws", "flaws", groupData, "why the record is not complete",
			func(d *gclog.GCDetails) string { return strings.Join(d.Flaws.Names(nil), " ") }),
		column{
			Key: "heap_dump", Title: "heap snapshot", Unit: "flag", Group: groupData, Scale: 1,
			Doc:   "the collection of a heap snapshot, whose pause includes a walk of the heap",
			value: func(d *gclog.GCDetails) (int64, bool) { return 1, d.HeapDump },
		},
	)
	return list
}

func shortName(d *gclog.GCDetails) string {
	if !d.KindKnown() {
		return fmt.Sprintf("%d?", min(d.Generation, 9))
	}
	return string(d.AppendName(nil))
}

func condemnedReasons(d *gclog.GCDetails) string {
	_, conditions, known := d.Condemned()
	if !known {
		return ""
	}
	return strings.Join(conditions.Names(nil), " ")
}

// shown returns the cell of a column of all views; "" if it is unknown.
func shown(key string) func(*gclog.GCDetails) string {
	list := view.Columns()
	text := list[slices.IndexFunc(list, func(c view.Column) bool { return c.Key == key })].Text
	return func(d *gclog.GCDetails) string { return strings.Trim(text(nil, d), "?") }
}

// started returns when a collection started, or else its first pause.
func started(d *gclog.GCDetails) int64 {
	if d.Flaws&gclog.FlawNoStart == 0 {
		return d.Start
	}
	return d.PauseStart()
}

// of returns the column of a field of JSON records.
func of(key, title, group string) column {
	for _, f := range fields.All() {
		if f.JSON == key {
			return fromField(&f, title, group)
		}
	}
	panic("there is no field " + key)
}

func fromField(f *fields.Field, title, group string) column {
	c := column{Key: f.JSON, Title: title, Group: group, Doc: f.Doc, Scale: 1}
	if f.Text != nil {
		c.Unit, c.text = "name", f.Text
		return c
	}
	get := f.Get
	switch f.Unit {
	case fields.Nanoseconds, fields.PlainNanoseconds:
		c.Unit = "ns"
	case fields.Bytes, fields.PlainBytes:
		c.Unit = "bytes"
	case fields.Time:
		c.Unit = "time"
	case fields.Flag:
		c.Unit = "flag"
	case fields.WholePercent:
		c.Unit = "%"
	case fields.Percent, fields.ExactPercent, fields.Ratio:
		c.Unit, c.Scale = "%", 100
		if f.Unit == fields.Ratio {
			c.Unit, c.Scale = "", 1000
		}
		if f.JSON == "alloc_rate.bytes_per_s" {
			c.Unit, c.Scale = "bytes/s", 1
		}
		c.value = func(d *gclog.GCDetails) (int64, bool) {
			v, known := get(d)
			return scale(math.Float64frombits(v), c.Scale), known
		}
		return c
	}
	c.value = func(d *gclog.GCDetails) (int64, bool) {
		v, known := get(d)
		return int64(min(v, mostSafe)), known
	}
	return c
}

// mostSafe is the largest integer that JavaScript represents exactly.
const mostSafe = 1<<53 - 1

func scale(v float64, by int) int64 {
	return int64(math.Round(max(-mostSafe, min(v*float64(by), mostSafe))))
}

func (c column) in(unit string) column {
	c.Unit = unit
	return c
}

// previous in front of the key of a base stands for its value in the row before.
const previous = "<"

// near returns the column with the columns whose sum is close to its values. It has no scale, and
// these have no others.
func (c column) near(keys ...string) column {
	c.Base = keys
	return c
}

// eachGeneration returns the keys of the columns of all generations with this end.
func eachGeneration(end string) (keys []string) {
	for g := range gclog.Generations {
		keys = append(keys, gclog.GenerationName(g)+end)
	}
	return keys
}

func scaled(key, title, group, doc string, by int, get func(*gclog.GCDetails) (float64, bool)) column {
	value := func(d *gclog.GCDetails) (int64, bool) {
		v, known := get(d)
		return scale(v, by), known
	}
	return column{Key: key, Title: title, Group: group, Doc: doc, Scale: by, value: value}
}

func instant(key, title, group, doc string, get func(*gclog.GCDetails) (int64, bool)) column {
	return column{Key: key, Title: title, Unit: "time", Group: group, Doc: doc, Scale: 1, value: get}
}

func named(key, title, group, doc string, get func(*gclog.GCDetails) string) column {
	return column{Key: key, Title: title, Unit: "name", Group: group, Doc: doc, Scale: 1, text: get}
}

func background(key, title string, at func(*gclog.BackgroundDetails) int64) column {
	phase, moment, _ := strings.Cut(title, " ")
	doc := "the " + moment + " of concurrent " + phase + "ing"
	return instant(key, title, groupBackground, doc, func(d *gclog.GCDetails) (int64, bool) {
		if d.Background == nil || at(d.Background) == 0 {
			return 0, false
		}
		return at(d.Background), true
	})
}

func memory(key, title, doc string, of func(*gclog.Memory) uint64) column {
	value := func(d *gclog.GCDetails) (int64, bool) {
		v := of(&d.Memory)
		return int64(min(v, mostSafe)), v > 0
	}
	return column{Key: key, Title: title, Unit: "bytes", Group: groupMemory, Doc: doc, Scale: 1, value: value}
}
