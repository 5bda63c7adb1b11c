package view

import (
	"math"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
)

// A Column is something about a collection: a cell for people, and its value for programs and for
// sorting.
type Column struct {
	screen.Column
	Key  string // name of the field in JSON records, below dotnet.gc; "event.start" of the time
	Help string // what it is, without full stop
	Unit string // of Value, as in analysis.Number; "" of counts, ratios and words
	// Text returns the cell. The process provides the times.
	Text func(p *gclog.Process, d *gclog.GCDetails) string
	// Value returns the number in Unit; nil: the column has words.
	Value func(d *gclog.GCDetails) (v float64, known bool)
}

// Columns returns the columns of a list of collections in their order: first those of the text
// format, then, with higher ranks, what only a wide page or a page of one collection has room for.
func Columns() []Column {
	byKey := map[string]*fields.Field{}
	for i := range fields.All() {
		f := &fields.All()[i]
		byKey[f.JSON] = f
	}
	var list []Column
	for _, t := range formats.TextColumns() {
		if t.Key == "" { // an arrow between two columns
			continue
		}
		c := Column{
			Column: t.Column,
			Key:    t.Key,
			Text:   func(p *gclog.Process, d *gclog.GCDetails) string { return string(t.Append(nil, p, d)) },
		}
		c.describe(byKey[t.Key])
		list = append(list, c)
	}
	list[0].Help = "the start of the first pause"
	list[0].Text = func(p *gclog.Process, d *gclog.GCDetails) string {
		return p.Time(d.PauseStart()).Format("15:04:05.000")
	}
	rank := len(list)
	for _, m := range more {
		rank++
		c := Column{
			Column: screen.Column{Title: m.title, Width: max(len("999.9 MB"), len(m.title)), Right: true, Rank: rank},
			Key:    m.key,
		}
		c.describe(byKey[m.key])
		c.Text = func(_ *gclog.Process, d *gclog.GCDetails) string {
			if v, known := c.Value(d); known {
				return Text(v, c.Unit)
			}
			return Unknown
		}
		list = append(list, c)
	}
	return list
}

// more are the titles of further columns, by the names of their fields.
var more = []struct{ key, title string }{
	{"allocated", "allocated"},
	{"alloc_rate.bytes_per_s", "alloc rate"},
	{"paused", "paused"},
	{"since_last", "ran"},
	{"gen0.before", "gen0 before"},
	{"gen0.after", "gen0 after"},
	{"gen0.survival", "gen0 survival"},
	{"gen0.budget", "gen0 budget"},
	{"gen1.before", "gen1 before"},
	{"gen1.after", "gen1 after"},
	{"gen1.survival", "gen1 survival"},
	{"gen1.budget", "gen1 budget"},
	{"gen2.before", "gen2 before"},
	{"gen2.after", "gen2 after"},
	{"gen2.survival", "gen2 survival"},
	{"gen2.budget", "gen2 budget"},
	{"loh.before", "loh before"},
	{"loh.after", "loh after"},
	{"loh.survival", "loh survival"},
	{"loh.budget", "loh budget"},
	{"poh.before", "poh before"},
	{"poh.after", "poh after"},
	{"poh.survival", "poh survival"},
	{"poh.budget", "poh budget"},
	{"heap.peak", "peak"},
	{"heap.committed", "committed"},
	{"memory_load", "load"},
	{"pinned", "pinned"},
	{"handles", "handles"},
	{"finalization.count", "finalization"},
	{"trigger.delay", "delay"},
}

// describe completes a column with what is known of its field, nil if that is no single field.
func (c *Column) describe(f *fields.Field) {
	if f == nil {
		return
	}
	c.Help = f.Doc
	if f.Get == nil {
		return
	}
	c.Unit = units[f.Unit]
	c.Value = func(d *gclog.GCDetails) (float64, bool) {
		v, known := f.Get(d)
		switch f.Unit {
		case fields.Percent, fields.ExactPercent, fields.Ratio:
			return math.Float64frombits(v), known
		default:
			return float64(v), known
		}
	}
	if c.Key == "alloc_rate.bytes_per_s" {
		c.Unit = "bytes/s"
	}
}

// units are the units of values; those that are missing are counts.
var units = map[fields.Unit]string{
	fields.Bytes: "bytes", fields.PlainBytes: "bytes", fields.Nanoseconds: "ns", fields.PlainNanoseconds: "ns",
	fields.WholePercent: "%", fields.Percent: "%", fields.ExactPercent: "%",
}
