package parse_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// TestRandomRows: any rows written are read back unchanged, in either container and with either
// kind of header.
func TestRandomRows(t *testing.T) {
	extent.Long(t)
	const kinds, threads = 4, 5
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		v6, uncompressed := seed%2 == 1, seed%3 == 0
		v4, w6 := &nettracetest.V4{Uncompressed: uncompressed}, &nettracetest.V6{Uncompressed: uncompressed}
		clock := nettracetest.DefaultClock()
		clock.PointerSize = 4 + uint32(seed/4%2)*4
		v4.Begin(clock)
		w6.Begin(clock, "ProcessId", "4711")
		var all []nettracetest.Kind
		for i := range uint32(kinds) {
			all = append(all, nettracetest.Kind{ID: i*2000 + 1, Provider: fmt.Sprint("P", i), EventID: i + 300, Version: i + 1, Level: i + 1, Keywords: 1 << (20 * i)})
		}
		v4.Metadata(all...)
		w6.Metadata(all...)
		for i := range uint64(threads) {
			w6.Threads(nettracetest.Thread{Index: i + 1, Process: 4711, ID: i + 1})
		}
		// Three label lists from id 1 on, each with a version.
		labels := func() {
			w6.Block(nettracetest.BlockLabels, []byte{1, 0, 0, 0, 3, 0, 0, 0, 10 | 0x80, 51, 10 | 0x80, 52, 10 | 0x80, 53})
		}
		labels()
		// Four stacks from number 1 on, each time others.
		size := 4 + int(seed/4%2)*4
		var stacks [][]uint64
		begin := func() {
			stacks = stacks[:0]
			for range 4 {
				s := make([]uint64, rnd.IntN(30))
				for i := range s {
					s[i] = rnd.Uint64N(1 << 32)
				}
				stacks = append(stacks, s)
			}
			v4.Block("StackBlock", nettracetest.Stacks(1, size, stacks...))
			w6.Block(nettracetest.BlockStack, nettracetest.Stacks(1, size, stacks...))
		}
		var want [][]byte // stacks of the rows
		begin()
		var rows []nettracetest.Row
		ticks := t0
		for range 1 + rnd.IntN(5) {
			var block []nettracetest.Row
			for range 1 + rnd.IntN(40) {
				// Now and then the clock jumps by a number that needs many bytes.
				ticks += 1 + rnd.Int64N(1<<rnd.IntN(30))
				r := nettracetest.Row{
					Kind: all[rnd.IntN(kinds)].ID, Thread: 1 + rnd.Uint64N(threads), Ticks: ticks, Sorted: rnd.IntN(3) == 0,
					Payload: make([]byte, rnd.IntN(1<<rnd.IntN(12))), Activity: rnd.IntN(4) == 0,
					Stack: rnd.Uint32N(6), // 0 and 5 are stacks that do not exist
				}
				if rnd.IntN(3) == 0 {
					r.Capture = 1 + rnd.Uint64N(threads)
				}
				if v6 && rnd.IntN(2) == 0 {
					r.Labels = rnd.Uint32N(5) // 4 is a list that does not exist
				}
				for i := range r.Payload {
					r.Payload[i] = byte(rnd.Uint32())
				}
				block = append(block, r)
				if r.Stack == 0 || r.Stack == 5 {
					want = append(want, nil)
				} else {
					want = append(want, nettracetest.Stacks(0, size, stacks[r.Stack-1])[12:])
				}
			}
			v4.Events(block...)
			w6.Events(block...)
			rows = append(rows, block...)
			if rnd.IntN(3) == 0 {
				v4.SequencePoint(ticks)
				w6.SequencePoint(ticks, 0)
				labels() // the previous ones are no longer valid
				if rnd.IntN(4) > 0 {
					begin()
				} else {
					clear(stacks)
				}
			}
		}
		v4.End()
		w6.End()
		stream := v4.Bytes
		if v6 {
			stream = w6.Bytes
		}
		r := parse.NewReader(bytes.NewReader(stream), parse.All)
		keep := seed%5 > 0
		if keep {
			r.KeepStacks()
		}
		if seed%7 == 0 {
			defer r.ReadAhead()()
		}
		n := 0
		for ; r.Scan() && n < len(rows); n++ {
			e, w := r.Event(), rows[n]
			if e == nil {
				t.Fatalf("seed %d, row %d: a loss: %+v", seed, n, r.Loss())
			}
			k := all[slices.IndexFunc(all, func(k nettracetest.Kind) bool { return k.ID == w.Kind })]
			version := k.Version
			if 1 <= w.Labels && w.Labels <= 3 {
				version = 50 + w.Labels
			}
			if e.Meta.Provider != k.Provider || e.Meta.EventID != int(k.EventID) || e.Meta.Level != int(k.Level) || e.Meta.Keywords != k.Keywords || e.Meta.Version != int(k.Version) || e.Meta.Index != slices.Index(all, k) ||
				e.Ticks != w.Ticks || e.Time != w.Ticks-t0 || e.Thread != w.Thread || e.Process != 4711 || e.Version != int(version) || !bytes.Equal(e.Payload, w.Payload) || keep && !bytes.Equal(e.Stack, want[n]) || !keep && len(e.Stack) > 0 || e.More != 0 || e.Sum != 0 {
				t.Fatalf("seed %d, row %d: got %+v of %+v\nwant %+v of %+v", seed, n, e, e.Meta, w, k)
			}
		}
		until := slices.MaxFunc(rows, func(a, b nettracetest.Row) int { return cmp.Compare(a.Ticks, b.Ticks) }).Ticks - t0
		if s := r.Stats(); n != len(rows) || r.Err() != nil || s != (parse.Stats{Rows: int64(n), Bytes: int64(len(stream)), Until: until}) {
			t.Fatalf("seed %d: %d of %d rows, %+v, %v", seed, n, len(rows), s, r.Err())
		}
	}
}

// TestRowHeader: the fields of a compressed header that the runtime writes seldom or never.
func TestRowHeader(t *testing.T) {
	const kind, capture, thread, stack, activity, related, sorted, size = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
	id := make([]byte, 16)
	head := func(flags byte, rest ...byte) []byte {
		return append([]byte{flags | kind | capture | thread | sorted | size, 1, 0, 1, 9, 1}, rest...)
	}
	with := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	for _, c := range []struct {
		name string
		row4 []byte // "" : not in V4
		row6 []byte
	}{
		{"a stack", head(stack, 0x81, 2, 5, 2, 'o', 'k'), head(stack, 0x81, 2, 5, 2, 'o', 'k')},
		{"an activity", with(head(activity, 5), id, []byte{2, 'o', 'k'}), head(activity, 5, 0x81, 1, 2, 'o', 'k')},
		{"a related activity", with(head(related, 5), id, []byte{2, 'o', 'k'}), head(related, 5, 2, 'o', 'k')},
		{"both", with(head(activity|related, 5), id, id, []byte{2, 'o', 'k'}), head(activity|related, 5, 0x81, 1, 2, 'o', 'k')},
		{"a long time", head(0, 0x85, 0x80, 0x00, 2, 'o', 'k'), head(0, 0x85, 0x80, 0x00, 2, 'o', 'k')},
	} {
		v4, v6 := begin(), startV6()
		v6.Threads(nettracetest.Thread{Index: 1, ID: 1, Process: 4711})
		empty := &nettracetest.V4{}
		for name, stream := range map[string][]byte{
			"V4": func() []byte {
				v4.Block("EventBlock", append(empty.Rows(), c.row4...))
				v4.End()
				return v4.Bytes
			}(),
			"V6": func() []byte {
				v6.Block(nettracetest.BlockEvent, append(empty.Rows(), c.row6...))
				v6.End()
				return v6.Bytes
			}(),
		} {
			r := parse.NewReader(bytes.NewReader(stream), parse.All)
			if !r.Scan() || r.Event().Ticks != 5 || r.Event().Thread != 1 || string(r.Event().Payload) != "ok" || r.Event().Meta.EventID != 10 {
				t.Errorf("%s, %s: %+v, %v", c.name, name, r.Event(), r.Err())
			}
			if r.Scan() || r.Err() != nil {
				t.Errorf("%s, %s: more than a row: %v", c.name, name, r.Err())
			}
		}
		// Truncated anywhere, the row exceeds its block: no part is taken for another row.
		for n := range len(c.row4) {
			if n == 0 {
				continue // no row
			}
			v4 := begin()
			v4.Block("EventBlock", append(empty.Rows(), c.row4[:n]...))
			v4.End()
			if got, r := read(v4.Bytes, parse.All); len(got) > 0 || r.Err() == nil {
				t.Errorf("%s, V4 cut at %d: %q, %v", c.name, n, got, r.Err())
			}
		}
		for n := range len(c.row6) {
			if n == 0 {
				continue
			}
			v6 := startV6()
			v6.Threads(nettracetest.Thread{Index: 1, ID: 1, Process: 4711})
			v6.Block(nettracetest.BlockEvent, append(empty.Rows(), c.row6[:n]...))
			v6.End()
			if got, r := read(v6.Bytes, parse.All); len(got) > 0 || r.Err() == nil {
				t.Errorf("%s, V6 cut at %d: %q, %v", c.name, n, got, r.Err())
			}
		}
	}
}

// TestUncompressedRow: the row's own size and its padding must be right.
func TestUncompressedRow(t *testing.T) {
	v6 := func(change func(b []byte)) error {
		w := startV6()
		w.Uncompressed = true
		w.Threads(nettracetest.Thread{Index: 1, ID: 1})
		at := len(w.Bytes) + 4 + 20
		w.Events(row(1, 10, true))
		change(w.Bytes[at:])
		w.End()
		_, r := read(w.Bytes, parse.All)
		return r.Err()
	}
	if err := v6(func([]byte) {}); err != nil {
		t.Error(err)
	}
	for _, n := range []byte{48, 50} {
		if err := v6(func(b []byte) { b[0] = n }); err == nil {
			t.Errorf("a row with 1 byte of payload counts %d bytes", n)
		}
	}
	// A sorted row is released at once, with everything older; another row waits.
	v4, w6 := begin(), startV6()
	v4.Uncompressed, w6.Uncompressed = true, true
	w6.Threads(nettracetest.Thread{Index: 1, ID: 1}, nettracetest.Thread{Index: 2, ID: 2})
	rows := []nettracetest.Row{row(1, 20, false), row(2, 10, false), row(1, 30, true), row(2, 40, false)}
	v4.Events(rows...)
	w6.Events(rows...)
	for _, stream := range [][]byte{v4.Bytes, w6.Bytes} {
		want(t, scanUntilQuiet(t, parse.NewReader(&slow{pieces: [][]byte{stream}}, parse.All)), "10/2", "20/1", "30/1")
	}
	// A payload is padded to a multiple of 4 in the block, except that of the last row.
	for n := range 9 {
		w := begin()
		w.Uncompressed = true
		a, b := row(1, 10, true), row(1, 20, true)
		a.Payload, b.Payload = make([]byte, n), make([]byte, n)
		block := w.Rows(a, b)
		block = block[:len(block)-(4-n%4)%4]
		w.Block("EventBlock", block)
		w.End()
		got, r := read(w.Bytes, parse.All)
		want(t, got, "10/1", "20/1")
		if r.Err() != nil {
			t.Error(n, r.Err())
		}
		for cut := range block {
			if cut <= 20 || cut >= len(block) {
				continue
			}
			w := begin()
			w.Block("EventBlock", block[:cut])
			w.End()
			got, r := read(w.Bytes, parse.All)
			if padding := (4 - n%4) % 4; cut == 20+80+n || cut == 20+80+n+padding {
				want(t, got, "10/1") // the last row of a block needs no padding
			} else if len(got) > 1 || r.Err() == nil {
				t.Errorf("payload of %d bytes, block cut at %d: %q, %v", n, cut, got, r.Err())
			}
		}
	}
}

// TestFlushKeeps: Flush does nothing while older rows may still come.
func TestFlushKeeps(t *testing.T) {
	w := begin()
	w.Events(row(1, 20, false), row(1, 40, false))
	rest := len(w.Bytes)
	w.Events(row(2, 10, false), row(2, 30, true), row(2, 50, false))
	second := len(w.Bytes)
	w.End()

	// With unread bytes of the next block.
	r := parse.NewReader(&slow{pieces: [][]byte{w.Bytes[:rest+1], w.Bytes[rest+1 : second]}}, parse.All)
	want(t, scanUntilQuiet(t, r))
	r.Flush()
	want(t, scanUntilQuiet(t, r), "10/2", "20/1", "30/2")
	if r.Stats().Late != 0 {
		t.Errorf("%+v", r.Stats())
	}

	// In the middle of a block: more of its rows are to come.
	r = parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	var got []string
	for r.Scan() {
		got = append(got, short(r))
		r.Flush()
	}
	want(t, got, "10/2", "20/1", "30/2", "40/1", "50/2")
	if r.Stats().Late != 0 || r.Err() != nil {
		t.Errorf("%+v %v", r.Stats(), r.Err())
	}
	r.Flush() // after the end
	if r.Scan() || r.Err() != nil {
		t.Error("something behind the end", r.Err())
	}
}

// TestReleased: nothing older comes after a sequence point, so the waiting rows are released at
// once, in time order.
func TestReleased(t *testing.T) {
	v4, v6 := begin(), startV6()
	v6.Threads(nettracetest.Thread{Index: 1, ID: 1}, nettracetest.Thread{Index: 2, ID: 2})
	rows := []nettracetest.Row{row(1, 40, false), row(2, 20, false)}
	v4.Events(rows...)
	v6.Events(rows...)
	v4.SequencePoint(t0 + 50)
	v6.SequencePoint(t0+50, 0)
	for _, stream := range [][]byte{v4.Bytes, v6.Bytes} {
		want(t, scanUntilQuiet(t, parse.NewReader(&slow{pieces: [][]byte{stream}}, parse.All)), "20/2", "40/1")
	}
}

// TestFullBlock: the size from which on a block suggests that another one follows.
func TestFullBlock(t *testing.T) {
	const head = 20 + 19 // of the block, and of a row with a payload of that many bytes
	for size, more := range map[int]bool{64<<10 - 1: false, 64 << 10: true} {
		r := row(1, 10, true)
		r.Payload = make([]byte, size-head)
		w := begin()
		block := w.Rows(r)
		if len(block) != size {
			t.Fatalf("a block of %d bytes, not %d", len(block), size)
		}
		w.Block("EventBlock", block)
		stream := &slow{pieces: [][]byte{w.Bytes}}
		x := parse.NewReader(stream, parse.All)
		for len(stream.pieces) > 0 {
			scanUntilQuiet(t, x)
		}
		if x.Interrupted() != more {
			t.Errorf("a block of %d bytes: %v", size, x.Interrupted())
		}
	}
}

// TestPieces: a source may split the stream anywhere, and may return a time-out or its end together
// with the last bytes.
func TestPieces(t *testing.T) {
	w := begin()
	for i := range 200 {
		r := row(uint64(i%3), int64(i), true)
		r.Payload = make([]byte, i*100)
		w.Events(r)
	}
	w.End()
	whole, _ := read(w.Bytes, parse.All)
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		src := &ragged{b: w.Bytes, rnd: rnd}
		r := parse.NewReader(src, parse.All)
		var got []string
		for done := false; !done; done = !errors.Is(r.Err(), timeout{}) {
			for r.Scan() {
				got = append(got, short(r))
			}
		}
		if !slices.Equal(got, whole) || r.Stats().Bytes != int64(len(w.Bytes)) || r.Err() != nil {
			t.Errorf("seed %d: %d of %d events, %+v, %v", seed, len(got), len(whole), r.Stats(), r.Err())
		}
	}
}

// A ragged is a source that returns pieces of any size, with errors alongside as io.Reader allows.
type ragged struct {
	b   []byte
	rnd *rand.Rand
}

type timeout struct{}

func (timeout) Error() string { return "later" }
func (timeout) Timeout() bool { return true }

func (s *ragged) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), s.rnd.IntN(1<<s.rnd.IntN(16)))], s.b)
	if s.b = s.b[n:]; len(s.b) == 0 {
		return n, io.EOF
	}
	if s.rnd.IntN(3) == 0 {
		return n, timeout{}
	}
	return n, nil
}
