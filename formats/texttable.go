package formats

import (
	"strconv"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
)

// A TextColumn is a column of the text format: something about a collection, for people.
type TextColumn struct {
	screen.Column
	// Key is the field of JSON records that the column shows, below dotnet.gc; "event.start" is the
	// time, and the arrow has none.
	Key    string
	append func(dst []byte, d *gclog.GCDetails) []byte // nil: the time
}

// NewTextColumn returns a further column for a TextTable. appendCell appends the cell of a collection.
func NewTextColumn(c screen.Column, key string, appendCell func(dst []byte, d *gclog.GCDetails) []byte) TextColumn {
	return TextColumn{c, key, appendCell}
}

// Append appends the cell of a collection; the time of the first column is in UTC.
func (c *TextColumn) Append(dst []byte, p *gclog.Process, d *gclog.GCDetails) []byte {
	if c.append == nil {
		return newClock(p.Sync, p.UptimeAtSync).appendTimeOfDay(dst, d.PauseStart())
	}
	return c.append(dst, d)
}

// TextColumns returns the columns of the text format in their order. If a terminal is too narrow
// for all of them, the one with the highest rank is left out first.
func TextColumns() []TextColumn {
	return []TextColumn{
		{screen.Column{Title: "time", Width: len("15:04:05.000")}, "event.start", nil},
		{screen.Column{Title: "gc", Width: 5, Right: true, Rank: 6}, "number", appendNumber},
		{screen.Column{Title: "gen", Width: len("0->1"), Right: true}, "generation", appendGeneration},
		{screen.Column{Title: "kind", Width: len("background"), Rank: 7}, "type", appendKind},
		{screen.Column{Title: "reason", Width: 12, Rank: 1}, "reason", appendReason},
		{
			screen.Column{Title: "exceeded", Width: len("gen0 999.9 MB"), Rank: 11},
			"condemned.budget_exceeded",
			appendExceeded,
		},
		{screen.Column{Title: "compact", Width: 7, Right: true, Rank: 9}, "compacting", appendCompact},
		{screen.Column{Title: "suspend ms", Width: 10, Right: true, Rank: 8}, "suspend", appendSuspend},
		{screen.Column{Title: "pause ms", Width: len("1.234+12.345"), Right: true}, "pause.total", appendPauses},
		sizeColumn("before", 3, "heap.before", gclog.GroupBefore, (*gclog.GCDetails).SizeBefore),
		{
			screen.Column{Title: "->", Width: 2, Rank: 4},
			"",
			func(b []byte, _ *gclog.GCDetails) []byte { return append(b, "->"...) },
		},
		sizeColumn("after", 2, "heap.after", gclog.GroupAfter, (*gclog.GCDetails).SizeAfter),
		sizeColumn("promoted", 5, "heap.promoted", gclog.GroupPromoted,
			func(d *gclog.GCDetails) uint64 { return d.PromotedBytes }),
		sizeColumn("free", 10, "heap.fragmentation", gclog.GroupFragmentation,
			func(d *gclog.GCDetails) uint64 { return d.Fragmentation }),
	}
}

func sizeColumn(title string, rank int, key string, known gclog.Groups, size func(*gclog.GCDetails) uint64) TextColumn {
	column := screen.Column{Title: title, Width: len("999.9 MB"), Right: true, Rank: rank}
	return TextColumn{column, key, func(b []byte, d *gclog.GCDetails) []byte {
		return appendKnownBytes(b, size(d), d.Known.Has(known))
	}}
}

// A TextTable aligns the columns of collections that arrive one by one. It must not be used by
// several goroutines at once.
type TextTable struct {
	*screen.Table
	columns []TextColumn
	cell    []byte
}

// NewTextTable returns a table with the columns of the text format, and more after them.
func NewTextTable(more ...TextColumn) *TextTable {
	t := &TextTable{columns: append(TextColumns(), more...)}
	list := make([]screen.Column, len(t.columns))
	for i := range t.columns {
		list[i] = t.columns[i].Column
	}
	t.Table = screen.NewTable(list)
	return t
}

// AppendRow appends the line of a collection, without a newline, followed by what else is notable
// about it if the width has room for that. The time is in the zone of p.Sync.
func (t *TextTable) AppendRow(dst []byte, p *gclog.Process, d *gclog.GCDetails, width int) []byte {
	t.Row()
	from := len(dst)
	t.cell = p.Time(d.PauseStart()).AppendFormat(t.cell[:0], "15:04:05.000")
	dst = t.appendCells(t.Cell(dst, t.cell), d)
	if notes, _ := appendNotes(nil, nil, d); len(dst)-from+len(notes) <= width { // all of it is ASCII
		dst = append(dst, notes...)
	}
	return dst
}

// appendCells appends all cells after the time.
func (t *TextTable) appendCells(dst []byte, d *gclog.GCDetails) []byte {
	for i := range t.columns[1:] {
		c := &t.columns[1+i]
		t.cell = c.append(t.cell[:0], d)
		if c.Key == "generation" && !t.Shows(2+i) {
			t.cell = appendKindLetter(t.cell, d)
		}
		dst = t.Cell(dst, t.cell)
	}
	return dst
}

// appendTimeOfDay appends the time of day of a time stamp.
func (c *clock) appendTimeOfDay(b []byte, at int64) []byte {
	date := len(b)
	b = c.appendClock(b, at, 3)
	return append(b[:date], b[date+len("2006-01-02T"):]...)
}

func appendNumber(b []byte, d *gclog.GCDetails) []byte {
	if !d.Known.Has(gclog.GroupNumber) {
		return append(b, '?')
	}
	return strconv.AppendUint(b, uint64(d.Number), 10)
}

// appendGeneration appends the generation, after the one that was condemned first if that differs.
func appendGeneration(b []byte, d *gclog.GCDetails) []byte {
	if steps, _, known := d.Condemned(); known && steps.Initial() != d.Generation {
		b = strconv.AppendInt(b, int64(steps.Initial()), 10)
		b = append(b, "->"...)
	}
	return strconv.AppendInt(b, int64(d.Generation), 10)
}

// appendKindLetter appends the kind as a letter, as in PerfView. It replaces the column for the
// kind where that does not fit.
func appendKindLetter(b []byte, d *gclog.GCDetails) []byte {
	switch d.Kind {
	case gclog.KindBackground:
		return append(b, 'B')
	case gclog.KindForeground:
		return append(b, 'F')
	default:
		return b
	}
}

func appendKind(b []byte, d *gclog.GCDetails) []byte {
	if !d.KindKnown() {
		return append(b, '?')
	}
	return append(b, d.Kind.String()...)
}

func appendReason(b []byte, d *gclog.GCDetails) []byte {
	if !d.Known.Has(gclog.GroupReason) {
		return append(b, '?')
	}
	return append(b, d.Reason.String()...)
}

// appendExceeded appends the oldest generation whose budget was exceeded, and by how much if that is
// known. That is an estimate: see GenerationDetails.BudgetLeft.
func appendExceeded(b []byte, d *gclog.GCDetails) []byte {
	steps, _, known := d.Condemned()
	if !known {
		return append(b, '?')
	}
	g := steps.BudgetExceeded()
	by, known := d.BudgetExceeded(g)
	if g == gclog.Gen0 && by == 0 {
		return append(b, '-') // the runtime reports gen0 also if no budget was exceeded
	}
	b = append(b, gclog.GenerationName(min(g, gclog.Gen2))...)
	if known && by > 0 {
		b = appendBytes(append(b, ' '), by)
	}
	return b
}

func appendCompact(b []byte, d *gclog.GCDetails) []byte {
	switch compacting, known := d.Compacting(); {
	case !known:
		return append(b, '?')
	case compacting:
		return append(b, "yes"...)
	}
	return append(b, "no"...)
}

func appendSuspend(b []byte, d *gclog.GCDetails) []byte {
	suspend, known := d.Suspend()
	if !known || len(d.Pauses) == 0 {
		return append(b, '?')
	}
	return appendMillis(b, suspend)
}

// appendPauses appends the pauses; for a background collection 0.592+0.837.
func appendPauses(b []byte, d *gclog.GCDetails) []byte {
	if len(d.Pauses) == 0 {
		return append(b, '?')
	}
	for i := range d.Pauses {
		if i == 3 {
			return append(b, "+..."...)
		}
		if i > 0 {
			b = append(b, '+')
		}
		b = appendMillis(b, d.Pauses[i].Duration)
	}
	return b
}

func appendKnownBytes(b []byte, n uint64, known bool) []byte {
	if !known {
		return append(b, '?')
	}
	return appendBytes(b, n)
}

// appendNotes appends each note after two blanks. names is memory to use, which it returns.
func appendNotes(dst []byte, names []string, d *gclog.GCDetails) ([]byte, []string) {
	note := func(set bool, s string) {
		if set {
			dst = append(dst, "  "...)
			dst = append(dst, s...)
		}
	}
	note(d.DemotedBGC, "(started as background)")
	note(d.InsideBGCStart, "(in the first pause of a background collection)")
	note(d.Provisional, "(provisional mode)")
	note(d.HeapDump && d.HeapDumpBy == gclog.RequesterGclog, "(heap snapshot by gclog)")
	note(d.HeapDump && d.HeapDumpBy != gclog.RequesterGclog, "(heap snapshot)")
	note(d.BeforeEstimated, "(size before is a guess)")
	if d.Kind == gclog.KindBackground && d.Known.Has(gclog.GroupEnd) && d.Flaws&gclog.FlawNoStart == 0 {
		dst = append(dst, "  took "...)
		dst = appendMillis(dst, d.Duration())
		dst = append(dst, " ms"...)
	}
	if d.Flaws != 0 {
		dst = append(dst, "  incomplete:"...)
		names = d.Flaws.Names(names)
		for _, name := range names {
			dst = append(dst, ' ')
			dst = append(dst, name...)
		}
	}
	return dst, names
}
