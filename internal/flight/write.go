package flight

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/nettrace"
	"github.com/gclog/gclog/parse"
)

// A Part is the part of a recording that one session has sent: a .nettrace file. It does not change.
type Part struct {
	trigger    Trigger
	trace      []byte
	clock      clock
	metadata   []byte
	losses     []loss
	start, end place
	blocks     int
}

// chunks calls f with each chunk of the part.
func (p *Part) chunks(f func(*chunk)) {
	for c := p.start.c; ; {
		next, last := c.next, c == p.end.c
		f(c)
		if last {
			return
		}
		c = next
	}
}

// Contents is what a file contains.
type Contents struct {
	Events      int64
	First, Last time.Time // of the events
	Bytes       int64
}

// Write writes the part. Of the process, its identity and what is known of its runtime is used.
func (p *Part) Write(w io.Writer, of *gclog.Process) (c Contents, err error) {
	s := p.survey()
	out := &blockWriter{w: w}
	out.buf = nettrace.AppendHead(nil, p.head(s.earliest))
	out.buf = nettrace.AppendProcess(out.buf, of)
	if len(s.lost) > 0 {
		out.buf = nettrace.AppendThreads(out.buf, s.earliest, s.lost)
	}
	out.flush()
	for rest := p.metadata; len(rest) > 0; {
		n := 4 + binary.LittleEndian.Uint32(rest)
		out.block(parse.BlockMetadata, rest[4:n])
		rest = rest[n:]
	}
	p.each(func(i int, b *parse.Block) {
		switch b.Kind {
		case parse.BlockEvent:
			b.Content = b.Content[:wholeRows(b)]
		case parse.BlockSequencePoint:
			b.Content = s.sequencePoint(b.Content, i)
		}
		if len(b.Content) > 0 {
			out.block(b.Kind, b.Content)
		}
	})
	out.buf = nettrace.AppendEnd(out.buf)
	out.flush()
	return Contents{Events: s.events, First: p.time(s.earliest), Last: p.time(s.latest), Bytes: out.written}, out.err
}

// head returns the content of a Trace block whose time zero is just before the earliest event.
func (p *Part) head(earliest int64) []byte {
	trace := slices.Clone(p.trace)
	zero := p.time(max(earliest, p.clock.sync)).Truncate(time.Millisecond)
	nettrace.Sync(trace, zero, p.trigger.Ticks-p.clock.ticks(p.trigger.Time.Sub(zero)))
	return trace
}

// time returns the wall-clock time of a time in ticks.
func (p *Part) time(ticks int64) time.Time {
	return p.trigger.Time.Add(p.clock.duration(ticks - p.trigger.Ticks))
}

// each calls f with each block, whose content is valid until f returns.
func (p *Part) each(f func(i int, b *parse.Block)) {
	at := p.start
	var content []byte
	for i := range p.blocks {
		h := at.next()
		content = slices.Grow(content[:0], h.size)[:h.size]
		at.read(content)
		f(i, &parse.Block{Major: 4, Kind: h.kind, Content: content, Cut: h.cut})
	}
}

// wholeRows returns the size of an Event block without a row that is incomplete; 0: it has none.
func wholeRows(b *parse.Block) (size int) {
	for w := range b.Rows {
		size = w.End
	}
	return size
}

// A survey is what must be known of all blocks before the first is written.
type survey struct {
	earliest, latest int64 // ticks
	events           int64
	threads          map[uint64]int // the index of the block with the first event of a thread; -1: it is in lost
	lost             []nettrace.Thread
}

// maxThreads limits the memory for a survey. What a sequence point says of further threads is left
// out.
const maxThreads = 1 << 16

func (p *Part) survey() *survey {
	s := &survey{earliest: math.MaxInt64, latest: math.MinInt64, threads: map[uint64]int{}}
	p.each(func(i int, b *parse.Block) {
		if b.Kind == parse.BlockSequencePoint {
			eachThread(b.Content, func(t nettrace.Thread, _ []byte) {
				at, _, _ := b.Times()
				s.missed(p, t, at)
			})
		}
		var last uint64 // no thread of a program is 0
		for w := range b.Rows {
			s.events++
			s.earliest, s.latest = min(s.earliest, w.Ticks), max(s.latest, w.Ticks)
			if w.Capture == last {
				continue
			}
			last = w.Capture
			if _, seen := s.threads[last]; seen || len(s.threads) >= maxThreads {
				continue
			}
			if !s.missed(p, nettrace.Thread{ID: last, Seq: w.Seq - 1}, w.Ticks) {
				s.threads[last] = i
			}
		}
	})
	if s.events == 0 {
		s.earliest, s.latest = p.trigger.Ticks, p.trigger.Ticks
	}
	return s
}

// missed adds a thread to those of which events were lost before the first one that the file
// contains, if the number up to which they are missing and the time when that showed are those of a
// loss.
func (s *survey) missed(p *Part, last nettrace.Thread, ticks int64) bool {
	if _, seen := s.threads[last.ID]; seen {
		return false
	}
	for _, l := range p.losses {
		if l.thread == last.ID && l.ticks == ticks {
			s.threads[last.ID] = -1
			s.lost = append(s.lost, nettrace.Thread{ID: last.ID, Seq: last.Seq - l.events})
			return true
		}
	}
	return false
}

// sequencePoint returns the content of the SequencePoint block with an index without the threads of
// which no event precedes it in the file: readers would take all their events for lost.
func (s *survey) sequencePoint(content []byte, index int) []byte {
	kept, n := append([]byte(nil), content[:min(12, len(content))]...), uint32(0)
	if len(kept) < 12 {
		return nil
	}
	eachThread(content, func(t nettrace.Thread, entry []byte) {
		if first, seen := s.threads[t.ID]; seen && first < index {
			kept, n = append(kept, entry...), n+1
		}
	})
	binary.LittleEndian.PutUint32(kept[8:], n)
	return kept
}

// eachThread calls f with each thread of a SequencePoint block, and what the block contains of it.
func eachThread(content []byte, f func(t nettrace.Thread, entry []byte)) {
	const head, size = 12, 12
	if len(content) < head {
		return
	}
	n := binary.LittleEndian.Uint32(content[8:])
	for rest := content[head:]; n > 0 && len(rest) >= size; n, rest = n-1, rest[size:] {
		f(nettrace.Thread{ID: binary.LittleEndian.Uint64(rest), Seq: binary.LittleEndian.Uint32(rest[8:])}, rest[:size])
	}
}

// A blockWriter writes blocks until it fails.
type blockWriter struct {
	w       io.Writer
	buf     []byte
	written int64
	err     error
}

func (x *blockWriter) block(kind parse.BlockKind, content []byte) {
	x.buf = nettrace.AppendBlock(x.buf, x.written, kind, content)
	x.flush()
}

func (x *blockWriter) flush() {
	if x.err == nil {
		_, x.err = x.w.Write(x.buf)
		x.written += int64(len(x.buf))
	}
	x.buf = x.buf[:0]
}
