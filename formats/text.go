package formats

import (
	"bytes"
	"strconv"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// textFormat writes one aligned line per collection, in .NET's terms and for people: its columns
// may change. A background collection is written when it ends, with both pauses. On a terminal only
// the columns that fit are shown.
type textFormat struct {
	stateless
	clock *clock
	o     *Options
	table *TextTable
	width int    // of the terminal, 0: no terminal
	lines int    // since the last header
	line  []byte // the current line
	cell  []byte
	names []string
}

func newText(o *Options) formatter {
	t := &textFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o, table: NewTextTable()}
	t.fit()
	return t
}

// belowTime is the indentation of the rest of a line that is wider than the terminal.
const belowTime = "              "

// fit chooses the columns that fit the terminal's current width. It reports whether the width has
// changed, and returns the height.
func (t *textFormat) fit() (changed bool, height int) {
	if t.o.Screen == nil {
		return false, 0
	}
	width, height := t.o.Screen()
	if changed = width != t.width; changed {
		t.width = width
		t.table.Fit(width)
	}
	return changed, height
}

func (t *textFormat) header(dst []byte, _ int64, _ int) []byte {
	t.lines = 0
	t.line = t.table.Head(t.line[:0])
	return t.finish(dst, screen.Aside)
}

func (t *textFormat) append(dst []byte, r gclog.Record, _ uint64) []byte {
	switch r := r.(type) {
	case *gclog.Pause:
		return t.pause(dst, r)
	case *gclog.GCDetails:
		return t.gc(dst, r)
	case *gclog.Gap:
		return t.gap(dst, r)
	case *gclog.Stall:
		return t.stall(dst, r)
	case *gclog.Summary:
		return t.summary(dst, r)
	case *gclog.HeapGrowth:
		return t.heapGrowth(dst, r)
	case *gclog.Counters:
		return t.counters(dst, r)
	case *gclog.End:
		return t.end(dst, r)
	}
	return dst
}

// begin starts the line of something that happened at the time at. A header comes first if the last
// one no longer fits, or is about to scroll out of view.
func (t *textFormat) begin(dst []byte, at int64) []byte {
	if changed, height := t.fit(); changed || height >= leastHeight && t.lines >= height-2 {
		dst = t.header(dst, at, 0)
	}
	t.table.Row()
	t.line = t.line[:0]
	t.add(func(b []byte) []byte { return t.clock.appendTimeOfDay(b, at) })
	return dst
}

// leastHeight is the minimum height of a terminal on which headers are repeated.
const leastHeight = 5

// finish appends the current line.
func (t *textFormat) finish(dst []byte, style screen.Style) []byte {
	if t.o.Color {
		dst = append(dst, style...)
	}
	from := len(dst)
	if t.width > 0 && len(t.line) > t.width {
		dst = screen.Wrap(dst, string(t.line), t.width, len(belowTime))
	} else {
		dst = append(dst, t.line...)
	}
	t.lines += 1 + bytes.Count(dst[from:], newline)
	if t.o.Color && style != screen.Plain {
		dst = append(dst, screen.Reset...)
	}
	return append(dst, newline...)
}

var newline = []byte("\n")

// add adds the next cell of the row.
func (t *textFormat) add(appendCell func([]byte) []byte) {
	t.cell = appendCell(t.cell[:0])
	t.line = t.table.Cell(t.line, t.cell)
}

func (t *textFormat) addText(s string) {
	t.add(func(b []byte) []byte { return append(b, s...) })
}

func (t *textFormat) addMillis(ns int64, known bool) {
	t.add(func(b []byte) []byte {
		if !known {
			return append(b, '?')
		}
		return appendMillis(b, ns)
	})
}

func (t *textFormat) gc(dst []byte, d *gclog.GCDetails) []byte {
	dst = t.begin(dst, d.PauseStart())
	t.line = t.table.appendCells(t.line, d)
	style := screen.PauseStyle(d.PauseMax(), screen.Plain)
	t.cell, t.names = appendNotes(t.cell[:0], t.names[:0], d)
	if len(t.cell) > 0 && t.width > 0 && len(t.line)+len(t.cell) > t.width {
		dst = t.finish(dst, style)
		t.line = append(t.line[:0], belowTime[:len(belowTime)-len("  ")]...)
	}
	t.line = append(t.line, t.cell...)
	return t.finish(dst, style)
}

// pause writes only pauses without a collection.
func (t *textFormat) pause(dst []byte, p *gclog.Pause) []byte {
	if p.GC != nil {
		return dst
	}
	dst = t.begin(dst, p.Start)
	t.addText("-")
	t.addText("-")
	t.addText("suspension")
	t.addText(p.Kind.String())
	t.addText("") // what was exceeded
	t.addText("") // compact
	t.addMillis(p.Suspend, p.HasSuspend)
	t.addMillis(p.Duration, true)
	return t.finish(dst, screen.PauseStyle(p.Duration, screen.Aside))
}

func (t *textFormat) gap(dst []byte, g *gclog.Gap) []byte {
	dst = t.begin(dst, g.Time)
	t.line = appendGap(append(t.line, "  ! "...), g)
	return t.finish(dst, screen.Alarm)
}

func (t *textFormat) stall(dst []byte, s *gclog.Stall) []byte {
	dst = t.begin(dst, s.Now)
	b := appendStall(append(t.line, "  ! "...), s)
	if s.HasNumber {
		b = append(b, ": #"...)
		b = strconv.AppendUint(b, uint64(s.Number), 10)
		b = append(b, " gen"...)
		b = strconv.AppendInt(b, int64(s.Generation), 10)
		if s.Type == clr.TypeBackground {
			b = append(b, " background"...)
		}
	}
	t.line = b
	return t.finish(dst, screen.Alarm)
}

func (t *textFormat) summary(dst []byte, s *gclog.Summary) []byte {
	dst = t.begin(dst, s.To)
	t.line = appendSummary(append(t.line, "  = "...), s)
	return t.finish(dst, screen.Aside)
}

func (t *textFormat) end(dst []byte, e *gclog.End) []byte {
	if e.Reason == gclog.EndDetached || e.Reason >= gclog.EndOfRecording {
		return dst
	}
	dst = t.begin(dst, e.At)
	t.line = t.appendEnd(append(t.line, "  process "...), e)
	return t.finish(dst, screen.Aside)
}

func (t *textFormat) appendEnd(b []byte, e *gclog.End) []byte {
	b = strconv.AppendInt(b, t.o.Process.ID, 10)
	if !e.Reason.OfProcess() {
		return append(b, ": the stream broke"...)
	}
	return e.AppendTo(append(b, ' '))
}
