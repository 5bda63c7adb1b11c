package logs

import (
	"bytes"
	"math"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The lines that -Xlog adds to the default. In a blocking collection they come before the end of
// the pause, in a background collection after its last DotNet line.

var (
	condemnedLine  = fields.Line("Condemned:")
	programLine    = fields.Line("Program:")
	referencesLine = fields.Line("References:")
	phasesLine     = fields.Line("Phases:")
)

// detailLine handles the contents of such a line of collection n. The line is read twice, because a
// damaged one must leave no trace.
func (u *unified) detailLine(d *decorations, n uint32, word string, b []byte) bool {
	if word == oneHeap {
		return heapLine(b)
	}
	if !readDetails(word, b, &u.trial, &u.trialSummary) {
		return false
	}
	if gc, summary := u.detailed(n, u.at(d.moment)); gc != nil {
		readDetails(word, b, gc, summary)
	}
	return true
}

// detailed returns the record of collection n; nil if it was already emitted.
func (u *unified) detailed(n uint32, at span) (*gclog.GCDetails, *gclog.HeapSummary) {
	if b := &u.background; b.open && b.Number == n {
		return &b.GCDetails, &b.summary
	}
	b := u.blockingOf(n, at)
	if b == nil {
		return nil, nil
	}
	return &b.GCDetails, &b.summary
}

func readDetails(word string, b []byte, d *gclog.GCDetails, s *gclog.HeapSummary) bool {
	switch word {
	case condemned:
		return readCondemned(b, d)
	case program:
		return readProgram(b, d)
	case references:
		return readPlain(referencesLine, b, d)
	case phases:
		return readPlain(phasesLine, b, d)
	}
	d.Summary = s
	*s = gclog.HeapSummary{}
	return readRoots(b, d)
}

// readCondemned reads
//
//	initial=gen0, final=gen1, budget_exceeded=gen1, time_tuning=gen0, reasons=LowCardTable, gen0_budget=256K, memory_load_percent=15, workers=2
func readCondemned(b []byte, d *gclog.GCDetails) bool {
	var initial, final, budget, tuning int
	g := &d.Global
	g.Condemned = 0
	ok := eachField(b, func(name, value []byte) bool {
		step := (*int)(nil)
		switch string(name) {
		case "initial":
			step = &initial
		case "final":
			step = &final
		case "budget_exceeded":
			step = &budget
		case "time_tuning":
			step = &tuning
		case "reasons":
			return readConditions(&g.Condemned, value)
		default:
			return readField(condemnedLine, name, value, d)
		}
		v, known := generation(value)
		*step, g.HasCondemned = v, true
		return known && v < gclog.POH
	})
	g.CondemnedGenerations = clr.MakeCondemnedGenerations(initial, final, budget, tuning)
	return ok
}

// readConditions reads LowCardTable+MaxGenerationBudget.
func readConditions(c *clr.Condemned, b []byte) bool {
	for more := true; more; {
		var name []byte
		name, b, more = bytes.Cut(b, []byte{'+'})
		bit, known := clr.ParseCondemned(name)
		if !known {
			return false
		}
		*c |= bit
	}
	return true
}

// readProgram reads
//
//	allocated=2560K, gen0=2560K, loh=0K, poh=0K, rate_per_second=52345K, since_last=48.902ms, ticks_small=2600K, ticks_large=0K, ticks_pinned=0K, workers=1
func readProgram(b []byte, d *gclog.GCDetails) bool {
	var sum uint64
	var shares [gclog.Generations]uint64
	d.HasGenerationAllocated = false
	ok := eachField(b, func(name, value []byte) bool {
		switch string(name) {
		case "allocated":
			d.HasAllocated = true
			return readBytes(&sum, value)
		case "gen0", "loh", "poh":
			of, _ := generation(name)
			d.HasGenerationAllocated = true
			return readBytes(&shares[of], value)
		}
		return readField(programLine, name, value, d)
	})
	if d.HasAllocated {
		setAllocated(d, sum, &shares)
	}
	return ok
}

// setAllocated sets the allocated bytes. Each share is rounded separately, so their sum may differ
// from sum. The difference is distributed in parts so small that rounding hides them.
func setAllocated(d *gclog.GCDetails, sum uint64, shares *[gclog.Generations]uint64) {
	if !d.HasGenerationAllocated {
		shares[gclog.Gen0] = sum
	}
	const part = 400
	total := shares[gclog.Gen0] + shares[gclog.LOH] + shares[gclog.POH]
	for _, g := range [...]int{gclog.Gen0, gclog.LOH, gclog.POH} {
		switch share := shares[g]; {
		case total < sum:
			shares[g] += part
		case total > sum && share > 0:
			shares[g] -= part
		}
		d.Generations[g].Allocated = shares[g]
	}
}

// readPlain reads a line of plain fields, such as
//
//	pinned=3, handles=120, sync_blocks=2, finalization=5, finalization_size=1K, pinned_plugs=7, workers=1
//	mark_roots=0.512ms, plan=0.101ms, …, workers=1
func readPlain(line []fields.LineField, b []byte, d *gclog.GCDetails) bool {
	return eachField(b, func(name, value []byte) bool { return readField(line, name, value, d) })
}

// readField sets the field of a line with this name. A later version may write others.
func readField(line []fields.LineField, name, value []byte, d *gclog.GCDetails) bool {
	if string(name) == "workers" {
		return readWorkers(&d.Global.Heaps, value)
	}
	for i := range line {
		if f := &line[i]; f.Name == string(name) && f.Set != nil {
			v, ok := fieldValue(f.Unit, value)
			if ok = ok && v <= f.Max; ok {
				f.Set(d, v)
			}
			return ok
		}
	}
	return true
}

func fieldValue(u fields.Unit, b []byte) (v uint64, ok bool) {
	switch u {
	case fields.Bytes, fields.PlainBytes:
		ok = readBytes(&v, b)
	case fields.Nanoseconds:
		var ns int64
		ok = readMillis(&ns, b)
		v = uint64(ns)
	case fields.Ratio: // bytes per second
		ok = readBytes(&v, b)
		v = math.Float64bits(float64(v))
	default:
		ok = readCount(&v, b, math.MaxUint64)
	}
	return v, ok
}

// readRoots reads stack=0.123ms/56K, handles=0.007ms/0K, …, workers=1.
func readRoots(b []byte, d *gclog.GCDetails) bool {
	return eachField(b, func(name, value []byte) bool {
		if string(name) == "workers" {
			return readWorkers(&d.Global.Heaps, value)
		}
		t, known := rootOf(name)
		if !known {
			return true
		}
		m := &d.Summary.Marks[t]
		longest, promoted, ok := bytes.Cut(value, []byte{'/'})
		m.Known = true
		return ok && readMillis(&m.Longest, longest) && readBytes(&m.Promoted, promoted)
	})
}

// heapLine reads 0: gen0=2560K->56K, …, workers=2: the sizes of one heap, which have no place in a
// record. Lines of Java start the same way.
func heapLine(b []byte) bool {
	_, b, ok := number(b)
	if !ok {
		return true
	}
	b, ok = literal(b, ": ")
	return ok && eachField(b, func(name, value []byte) bool {
		if string(name) == "workers" {
			heaps := int32(0)
			return readWorkers(&heaps, value)
		}
		_, rest, ok := pair(value)
		return ok && len(rest) == 0
	})
}

// settingsLine reads the settings of the GC:
//
//	hard_limit=204800K, loh_threshold=83K, physical_memory=8388608K, gen0_min_budget=256K, gen0_max_budget=6144K, high_memory_percent=90, workers=1
func (u *unified) settingsLine(b []byte) bool {
	var l clr.GCSettings
	heaps := int32(0)
	ok := eachField(b, func(name, value []byte) bool {
		switch string(name) {
		case "hard_limit":
			return readBytes(&l.HardLimit, value)
		case "loh_threshold":
			return readBytes(&l.LOHThreshold, value)
		case "physical_memory":
			return readBytes(&l.PhysicalMemoryConfig, value)
		case "gen0_min_budget":
			return readBytes(&l.Gen0MinBudget, value)
		case "gen0_max_budget":
			return readBytes(&l.Gen0MaxBudget, value)
		case "high_memory_percent":
			return readCount(&l.HighMemoryPercent, value, math.MaxUint32)
		case "workers":
			return readWorkers(&heaps, value)
		}
		return true
	})
	if !ok {
		return false
	}
	if u.process == nil {
		u.process = &gclog.Process{}
	}
	u.process.Limits, u.process.HasLimits = l, true
	return true
}
