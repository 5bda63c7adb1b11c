package parse_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// TestStackLimits: of a stack that is too deep, the innermost frames are kept; what has no room, or is
// not made of addresses, is counted, and its events have no stack.
func TestStackLimits(t *testing.T) {
	const most, frames = 200_000, 1024
	for _, c := range []struct {
		name    string
		number  uint32 // of the stack of the row
		frames  int    // that it is to have
		skipped int64
		blocks  func(w *nettracetest.V4)
	}{
		{"deepest", 1, frames, 0, func(w *nettracetest.V4) {
			w.Block("StackBlock", nettracetest.Stacks(1, 8, make([]uint64, frames)))
		}},
		{"too deep", 1, frames, 0, func(w *nettracetest.V4) {
			w.Block("StackBlock", nettracetest.Stacks(1, 8, make([]uint64, frames+1)))
		}},
		{"not made of addresses", 1, 0, 1, func(w *nettracetest.V4) {
			b := nettracetest.Stacks(1, 8, make([]uint64, 3))
			binary.LittleEndian.PutUint32(b[8:], 20)
			w.Block("StackBlock", b)
		}},
		{"the last of many", most, 1, 1, func(w *nettracetest.V4) {
			for i := range most / 1000 {
				w.Block("StackBlock", nettracetest.Stacks(uint32(1+1000*i), 8, many(1000)...))
			}
			w.Block("StackBlock", nettracetest.Stacks(most+1, 8, many(1)...))
		}},
		{"too many", most + 1, 0, 1, func(w *nettracetest.V4) {
			for i := range most / 1000 {
				w.Block("StackBlock", nettracetest.Stacks(uint32(1+1000*i), 8, many(1000)...))
			}
			w.Block("StackBlock", nettracetest.Stacks(most+1, 8, many(1)...))
		}},
		{"too many addresses", 4097, 0, 1, func(w *nettracetest.V4) {
			for i := range uint32(4097) { // 8 KB each
				w.Block("StackBlock", nettracetest.Stacks(1+i, 8, make([]uint64, frames)))
			}
		}},
		{"room after a sequence point", 1, 1, 1, func(w *nettracetest.V4) {
			for i := range uint32(4097) {
				w.Block("StackBlock", nettracetest.Stacks(1+i, 8, make([]uint64, frames)))
			}
			w.SequencePoint(t0)
			w.Block("StackBlock", nettracetest.Stacks(1, 8, many(1)...))
		}},
	} {
		w := begin()
		c.blocks(w)
		w.Events(nettracetest.Row{Kind: 1, Thread: 1, Ticks: t0, Stack: c.number})
		w.End()
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		r.KeepStacks()
		if !r.Scan() || len(r.Event().Stack) != 8*c.frames || r.Stats().SkippedStacks != c.skipped {
			t.Errorf("%s: %v, %+v", c.name, r.Err(), r.Stats())
		}
	}
}

// many returns stacks of one frame.
func many(n int) [][]uint64 {
	list := make([][]uint64, n)
	for i := range list {
		list[i] = []uint64{1}
	}
	return list
}
