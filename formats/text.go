package formats

import (
	"strconv"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// textFormat writes one aligned line per collection, in .NET's words and for
// eyes: its columns may change. A background collection has its line when it
// ends, with both pauses.
type textFormat struct {
	clock *clock
	o     *Options
	lines int // since the last head
	names []string
}

func newText(o *Options) formatter {
	return &textFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o}
}

const textHeader = "time             gc  gen  kind        reason              compact  suspend ms       pause ms       before ->      after   promoted  free space\n"

func (t *textFormat) header(dst []byte, _ int64, _ int) []byte {
	dst = append(dst, t.color(dim)...)
	dst = append(dst, textHeader[:len(textHeader)-1]...)
	dst = append(dst, t.color(plain)...)
	return append(dst, '\n')
}

func (t *textFormat) next() (hold bool) { return false }

// Colours by generation, and for what is wrong.
const (
	plain  = "\x1b[0m"
	dim    = "\x1b[2m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	bold   = "\x1b[1;31m"
)

func (t *textFormat) color(c string) string {
	if t.o.Color {
		return c
	}
	return ""
}

func (t *textFormat) line(dst []byte, at int64, color string) []byte {
	if t.o.HeaderEvery > 0 && t.lines >= t.o.HeaderEvery {
		t.lines = 0
		dst = t.header(dst, at, 0)
	}
	t.lines++
	dst = append(dst, t.color(color)...)
	from := len(dst)
	dst = t.clock.appendClock(dst, at, 3)
	return append(dst[:from], dst[from+len("2006-01-02T"):]...)
}

func (t *textFormat) finish(dst []byte) []byte {
	dst = append(dst, t.color(plain)...)
	return append(dst, '\n')
}

// right appends s to the right of a column of the given width, after a blank.
func right(dst []byte, width int, append_ func([]byte) []byte) []byte {
	var b [64]byte
	s := append_(b[:0])
	dst = append(dst, ' ')
	for n := len(s); n < width; n++ {
		dst = append(dst, ' ')
	}
	return append(dst, s...)
}

func left(dst []byte, width int, s string) []byte {
	dst = append(dst, "  "...)
	dst = append(dst, s...)
	for n := len(s); n < width; n++ {
		dst = append(dst, ' ')
	}
	return dst
}

func (t *textFormat) gc(dst []byte, d *gclog.GCDetails, _ uint64) []byte {
	color := [...]string{green, yellow, red}[min(d.Generation, 2)]
	dst = t.line(dst, d.PauseStart(), color)
	dst = right(dst, 6, func(b []byte) []byte {
		if !d.HasNumber {
			return append(b, '?')
		}
		return strconv.AppendUint(b, uint64(d.Number), 10)
	})
	steps, _, known := d.Condemned()
	dst = right(dst, 4, func(b []byte) []byte {
		if known && steps.Initial() != d.Generation {
			b = strconv.AppendInt(b, int64(steps.Initial()), 10)
			b = append(b, "->"...)
		}
		return strconv.AppendInt(b, int64(d.Generation), 10)
	})
	dst = left(dst, 10, d.Kind.String())
	reason := "?"
	if d.HasReason {
		reason = d.Reason.String()
	}
	dst = left(dst, 21, reason)
	compact := "?"
	if compacting, known := d.Compacting(); known {
		compact = map[bool]string{false: "no", true: "yes"}[compacting]
	}
	dst = left(dst, 5, compact)
	dst = right(dst, 10, func(b []byte) []byte {
		if len(d.Pauses) == 0 || d.Suspend() < 0 {
			return append(b, '?')
		}
		return appendMillis(b, d.Suspend())
	})
	dst = right(dst, 14, func(b []byte) []byte { return appendPauses(b, d) })
	size := func(width int, n uint64, known bool) {
		dst = right(dst, width, func(b []byte) []byte {
			if !known {
				return append(b, '?')
			}
			return appendBytes(b, n)
		})
	}
	size(12, d.SizeBefore(), d.HasBefore)
	dst = append(dst, " ->"...)
	size(10, d.SizeAfter(), d.HasSizesAfter)
	size(10, d.PromotedBytes, d.HasPromoted)
	size(11, d.Fragmentation(), d.HasFragmentation)
	return t.finish(t.notes(dst, d))
}

// appendPauses appends the pauses: of a background collection 0.592+0.837.
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

// notes appends what is unusual about a collection.
func (t *textFormat) notes(dst []byte, d *gclog.GCDetails) []byte {
	note := func(set bool, s string) {
		if set {
			dst = append(dst, "  "...)
			dst = append(dst, s...)
		}
	}
	note(d.DemotedBGC, "(started as background)")
	note(d.InsideBGCStart, "(in the first pause of a background collection)")
	note(d.Provisional, "(provisional mode)")
	note(d.HeapDump, "(with a heap dump)")
	note(d.BeforeEstimated, "(size before is a guess)")
	if d.Kind == gclog.KindBackground && d.HasEnd && d.Flaws&gclog.FlawNoStart == 0 {
		dst = append(dst, "  took "...)
		dst = appendMillis(dst, d.Duration())
		dst = append(dst, " ms"...)
	}
	if d.Flaws != 0 {
		dst = append(dst, "  incomplete:"...)
		t.names = d.Flaws.Names(t.names[:0])
		for _, name := range t.names {
			dst = append(dst, ' ')
			dst = append(dst, name...)
		}
	}
	return dst
}

func (t *textFormat) phase(dst []byte, _ *gclog.Phase) []byte { return dst }

// pause writes only those without a collection.
func (t *textFormat) pause(dst []byte, p *gclog.Pause) []byte {
	if p.GC != nil {
		return dst
	}
	dst = t.line(dst, p.Start, dim)
	dst = append(dst, "      -    -  suspension  "...)
	kind := suspensionKind(p, &t.o.Process)
	dst = append(dst, kind...)
	for n := len(kind); n < 28; n++ {
		dst = append(dst, ' ')
	}
	dst = right(dst, 10, func(b []byte) []byte {
		if p.Suspend < 0 {
			return append(b, '?')
		}
		return appendMillis(b, p.Suspend)
	})
	dst = right(dst, 14, func(b []byte) []byte { return appendMillis(b, p.Duration) })
	return t.finish(dst)
}

func (t *textFormat) suspension(dst []byte, _ *gclog.Suspension) []byte { return dst }

func (t *textFormat) gap(dst []byte, g *gclog.Gap) []byte {
	dst = t.line(dst, g.Time, bold)
	dst = append(dst, "  ! "...)
	return t.finish(appendGap(dst, g))
}

func (t *textFormat) stall(dst []byte, s *gclog.Stall) []byte {
	dst = t.line(dst, s.Now, bold)
	dst = append(dst, "  ! "...)
	dst = appendStall(dst, s)
	if s.HasNumber {
		dst = append(dst, ": #"...)
		dst = strconv.AppendUint(dst, uint64(s.Number), 10)
		dst = append(dst, " gen"...)
		dst = strconv.AppendInt(dst, int64(s.Generation), 10)
		if s.Type == clr.TypeBackground {
			dst = append(dst, " background"...)
		}
	}
	return t.finish(dst)
}

func (t *textFormat) summary(dst []byte, s *Summary) []byte {
	dst = t.line(dst, s.To, dim)
	dst = append(dst, "  = "...)
	return t.finish(appendSummary(dst, s))
}

func (t *textFormat) start(dst []byte, _ *Start) []byte { return dst }

func (t *textFormat) end(dst []byte, e *End) []byte {
	if e.Reason == EndDetached || e.Reason == EndOfRecording {
		return dst
	}
	dst = t.line(dst, e.At, dim)
	dst = append(dst, "  process "...)
	dst = strconv.AppendInt(dst, t.o.Process.ID, 10)
	switch e.Reason {
	case EndExited:
		dst = append(dst, " exited"...)
		if e.HasCode {
			dst = append(dst, " with code "...)
			dst = strconv.AppendInt(dst, int64(e.ExitCode), 10)
		}
	case EndKilled:
		dst = append(dst, " was killed"...)
		if e.Signal != 0 {
			dst = append(dst, " by signal "...)
			dst = strconv.AppendInt(dst, int64(e.Signal), 10)
		}
	case EndOOMKilled:
		dst = append(dst, " was killed by the kernel, because there was no memory left"...)
	case EndUnseen:
		dst = append(dst, " ended"...)
	default:
		dst = append(dst, ": the stream broke"...)
	}
	return t.finish(dst)
}
