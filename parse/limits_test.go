package parse_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

func startV6() *nettracetest.V6 {
	w := &nettracetest.V6{}
	w.Begin(nettracetest.DefaultClock())
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 3, Level: 4})
	return w
}

// TestLimits: a stream at a limit is read; one item more is rejected.
func TestLimits(t *testing.T) {
	extent.Long(t)
	bytesOf := func(r nettracetest.Row, n int) nettracetest.Row { r.Payload = make([]byte, n); return r }
	metadata := func(n int, kind func(i int) nettracetest.Kind) []byte {
		w := &nettracetest.V4{}
		w.Begin(nettracetest.DefaultClock())
		kinds := make([]nettracetest.Kind, n)
		for i := range kinds {
			kinds[i] = kind(i)
		}
		for part := range slices.Chunk(kinds, 1000) {
			w.Metadata(part...)
		}
		w.End()
		return w.Bytes
	}
	for _, c := range []struct {
		name   string
		most   int
		stream func(n int) []byte
		want   string // part of the error with one item more
	}{
		{"bytes of a block", 16 << 20, func(n int) []byte {
			w := begin()
			w.Block("StackBlock", append(make([]byte, 8), make([]byte, n-8)...))
			w.End()
			return w.Bytes
		}, "a block of 16777217 bytes, the limit is 16777216"},
		{"letters of the name of an object", 64, func(n int) []byte {
			w := begin()
			w.Block(strings.Repeat("x", n), nil)
			return w.Bytes
		}, "an object name of 65 bytes"},
		{"kinds of events", 1 << 16, func(n int) []byte {
			return metadata(n, func(i int) nettracetest.Kind {
				return nettracetest.Kind{ID: uint32(i), Provider: "P", Keywords: uint64(i)}
			})
		}, "more distinct events"},
		{"kinds of events, V6", 1 << 16, func(n int) []byte {
			w := startV6() // with one item
			kinds := make([]nettracetest.Kind, n-1)
			for i := range kinds {
				kinds[i] = nettracetest.Kind{ID: uint32(i), Provider: "Q", EventID: uint32(i)}
			}
			w.Metadata(kinds...)
			w.End()
			return w.Bytes
		}, "more distinct events"},
		{"high ids of a kind", 1 << 16, func(n int) []byte {
			return metadata(n, func(i int) nettracetest.Kind { return nettracetest.Kind{ID: uint32(i + 1<<12), Provider: "P"} })
		}, "more distinct events"},
		{"bytes of names", 8 << 20, func(n int) []byte {
			const most = 4096 / 2 // letters: 2 bytes each in the stream, 1 in memory
			name := func(i int) string { return fmt.Sprintf("%0*d", most, i) }
			return metadata(n/most+2, func(i int) nettracetest.Kind {
				switch i {
				case n / most:
					return nettracetest.Kind{ID: uint32(i), Provider: strings.Repeat("x", n%most)}
				case n/most + 1: // has no name of its own; for it the table is already full
					return nettracetest.Kind{ID: uint32(i), Provider: name(0), EventID: 1}
				}
				return nettracetest.Kind{ID: uint32(i), Provider: name(i)}
			})
		}, "more distinct events"},
		{"threads", 1 << 18, func(n int) []byte {
			w := startV6()
			for i := 0; i < n; i += 1 << 16 {
				threads := make([]nettracetest.Thread, min(1<<16, n-i))
				for j := range threads {
					threads[j].Index = uint64(i + j)
				}
				w.Threads(threads...)
			}
			w.End()
			return w.Bytes
		}, "more than 262144 threads at a time"},
		{"lists of labels", 1 << 20, func(n int) []byte {
			w := startV6()
			b := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(n))
			w.Block(nettracetest.BlockLabels, append(b, bytes.Repeat([]byte{10 | 0x80, 4}, n)...))
			w.End()
			return w.Bytes
		}, "more than 1048576 label lists between two sequence points"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r := read(c.stream(c.most), parse.All)
			if err := r.Err(); err != nil && !strings.Contains(err.Error(), "unknown kind") {
				t.Errorf("%d: %v", c.most, err)
			}
			_, r = read(c.stream(c.most+1), parse.All)
			var f *parse.FormatError
			if !errors.As(r.Err(), &f) || !strings.Contains(f.Msg, c.want) || f.Err != nil {
				t.Errorf("one more than %d: %v", c.most, r.Err())
			}
		})
	}

	// The rows that wait to be delivered are limited in number and in bytes. As long as there is
	// room, an older row that comes last is delivered first.
	for _, c := range []struct {
		name       string
		rows, size int
		threads    bool // a separate thread for each row
	}{
		{"rows of one thread", 4095 * 32, 1, false},
		{"threads", 4095, 1, true},
		{"bytes", 8<<20/(8<<10) - 1, 8 << 10, false},
		{"bytes of long rows", 8<<20/(64<<10) - 1, 60 << 10, false},
	} {
		for _, late := range []int64{0, 1} {
			w := begin()
			n := c.rows + int(late)
			for i := 0; i < n; i += 100 {
				var rows []nettracetest.Row
				for j := i; j < min(i+100, n); j++ {
					thread := uint64(1)
					if c.threads {
						thread = uint64(j + 10)
					}
					rows = append(rows, bytesOf(row(thread, int64(1000+j), false), c.size))
				}
				w.Events(rows...)
			}
			w.Events(row(2, 10, false))
			w.End()
			got, r := read(w.Bytes, parse.All)
			if len(got) != n+1 || r.Stats().Late != late || r.Err() != nil {
				t.Errorf("%s: %d waiting rows of %d bytes: %d delivered, %+v, %v", c.name, n, c.size, len(got), r.Stats(), r.Err())
			}
		}
	}
}

// TestNames: a name that is too long is truncated.
func TestNames(t *testing.T) {
	for _, n := range []int{4095, 4096, 4097, 5000} {
		v4, v6 := &nettracetest.V4{}, &nettracetest.V6{}
		v4.Begin(nettracetest.DefaultClock())
		v6.Begin(nettracetest.DefaultClock())
		v6.Threads(nettracetest.Thread{Index: 1, ID: 1})
		kind := nettracetest.Kind{ID: 1, Provider: strings.Repeat("p", n), Name: strings.Repeat("n", n), Version: 1}
		v4.Metadata(kind)
		v6.Metadata(kind)
		v4.Events(row(1, 1, true))
		v6.Events(row(1, 1, true))
		// In UTF-16 a letter has 2 bytes.
		for _, c := range []struct {
			stream []byte
			want   int
		}{{v4.Bytes, min(n, 2048)}, {v6.Bytes, min(n, 4096)}} {
			r := parse.NewReader(bytes.NewReader(c.stream), parse.All)
			if !r.Scan() {
				t.Fatal(r.Err())
			}
			if m := r.Event().Meta; len(m.Provider) != c.want || len(m.Name) != c.want {
				t.Errorf("names of %d letters became %d and %d, want %d", n, len(m.Provider), len(m.Name), c.want)
			}
		}
	}
}

// TestForgottenThreads: a V4 stream does not report when a thread ends. When there are too many,
// the half that has been quiet for longest is forgotten, except threads with waiting rows and the
// thread that is writing.
func TestForgottenThreads(t *testing.T) {
	extent.Long(t)
	const most = 1 << 16
	seq := func(thread uint64, at int64, n uint32) nettracetest.Row {
		r := row(thread, at, true)
		r.Seq = n
		return r
	}
	stream := func(threads int) *nettracetest.V4 {
		w := begin()
		for i := range threads {
			w.Events(seq(uint64(i+1), int64(i), 1))
		}
		return w
	}
	for _, c := range []struct {
		name    string
		threads int
		thread  uint64
		lost    int64
	}{
		{"as many as there may be, the quietest", most, 1, 1},
		{"one more, the quietest", most + 1, 1, 0}, // it may have been forgotten: not a loss
		{"one more, the last of the half", most + 1, most/2 + 1, 0},
		{"one more, the first of the others", most + 1, most/2 + 2, 1},
		{"one more, the newest", most + 1, most + 1, 1},
	} {
		w := stream(c.threads)
		w.Events(seq(c.thread, 1_000_000, 3)) // number 2 is missing
		w.End()
		got, r := read(w.Bytes, parse.None)
		if r.Stats().Lost != c.lost || r.Err() != nil {
			t.Errorf("%s: lost %d, want %d: %v %v", c.name, r.Stats().Lost, c.lost, got, r.Err())
		}
	}

	t.Run("known only to the sequence point", func(t *testing.T) {
		w := stream(most + 1)
		w.SequencePoint(t0+1_000_000, nettracetest.ThreadSeq{Thread: 1, Seq: 5}, nettracetest.ThreadSeq{Thread: most + 1, Seq: 5})
		w.End()
		got, _ := read(w.Bytes, parse.None)
		// The first may have been read, with its five events, and forgotten.
		want(t, got, fmt.Sprintf("lost 4 on %d in %d-1000000", most+1, most))
	})
	t.Run("with a waiting row", func(t *testing.T) {
		w := begin()
		first := row(1, 5, false)
		first.Seq = 1
		w.Events(first)
		for i := range uint64(most) {
			r := row(i+2, int64(i+10), true)
			r.Kind = 2
			w.Events(r)
		}
		w.Events(seq(1, 1_000_000, 3))
		w.End()
		unsorted := func(m *parse.Metadata) parse.Want { return parse.Want{Deliver: m.EventID == 10} }
		_, r := read(w.Bytes, unsorted)
		if s := r.Stats(); s.Rows != most+2 || s.Late != 0 || r.Err() != nil {
			t.Errorf("%+v %v", s, r.Err())
		}
	})
}

// TestManyRemoved: the losses of threads that end are delivered when there is no room for more of
// them, and not earlier.
func TestManyRemoved(t *testing.T) {
	for n, due := range map[int]int{4095: 0, 4096: 4096} {
		w := startV6()
		var threads []nettracetest.Thread
		var ends []nettracetest.ThreadSeq
		for i := range uint64(n) {
			threads = append(threads, nettracetest.Thread{Index: i})
			ends = append(ends, nettracetest.ThreadSeq{Thread: i, Seq: 1})
		}
		w.Threads(threads...)
		w.RemoveThreads(ends...)
		stream := &slow{pieces: [][]byte{w.Bytes}}
		r := parse.NewReader(stream, parse.All)
		var got []string
		for len(stream.pieces) > 0 {
			got = append(got, scanUntilQuiet(t, r)...)
		}
		if len(got) != due {
			t.Errorf("%d of %d losses are told at once, want %d", len(got), n, due)
		}
		for r.Scan() {
			got = append(got, short(r))
		}
		if len(got) != n || r.Stats().Lost != int64(n) {
			t.Errorf("%d of %d losses, %+v", len(got), n, r.Stats())
		}
		// No event shows when it happened: not before the start of the stream.
		if want := fmt.Sprintf("lost 1 on %d in 0-0", uint64(1<<63)); !slices.Contains(got, want) {
			t.Errorf("%q is not among %q ...", want, got[:3])
		}
	}
}

// TestAbandoned: a reused Reader starts empty, even if rows were waiting when its previous stream
// was abandoned.
func TestAbandoned(t *testing.T) {
	var rows []nettracetest.Row
	for i := range 100 {
		r := row(1, int64(i+1000), false)
		r.Payload = make([]byte, 60<<10)
		rows = append(rows, r)
	}
	w := begin()
	w.Events(rows...)
	given := &slow{pieces: [][]byte{w.Bytes}}
	pieces := given.pieces
	w.Events(row(2, 10, false))
	w.End()

	r := parse.NewReader(nil, parse.All)
	for range 3 {
		given.pieces, given.quiet = pieces, false
		r.Reset(given, parse.All)
		for len(given.pieces) > 0 {
			scanUntilQuiet(t, r)
		}
	}
	r.Reset(bytes.NewReader(w.Bytes), parse.All)
	n := 0
	for ; r.Scan(); n++ {
		if n == 0 && r.Event().Thread != 2 {
			t.Errorf("the first event is of thread %d", r.Event().Thread)
		}
	}
	if s := r.Stats(); n != 101 || s.Late != 0 || s.Rows != 101 || s.Bytes != int64(len(w.Bytes)) || r.Err() != nil {
		t.Errorf("%d events, %+v, %v", n, s, r.Err())
	}
}

// TestForgotten: a reused Reader has no kinds of events, threads or labels of the previous stream.
func TestForgotten(t *testing.T) {
	clock := nettracetest.DefaultClock()
	low, high := row(1, 10, true), row(1, 20, true)
	high.Kind = 5000
	labelled := row(1, 30, true)
	labelled.Labels = 1
	before, after, undeclared := &nettracetest.V6{}, &nettracetest.V6{}, &nettracetest.V6{}
	kinds := []nettracetest.Kind{{ID: 1, Provider: "P", EventID: 10, Version: 1}, {ID: 5000, Provider: "P", EventID: 11, Version: 1}}
	before.Begin(clock)
	before.Metadata(kinds...)
	before.Threads(nettracetest.Thread{Index: 1, ID: 11})
	before.Block(nettracetest.BlockLabels, slices.Concat(u32(1), u32(1), []byte{10 | 0x80, 51}))
	before.Events(low, high, labelled)
	before.End()

	after.Begin(clock)
	after.Threads(nettracetest.Thread{Index: 1, ID: 11})
	after.Events(low, high)
	after.Metadata(kinds...)
	after.Events(labelled)
	after.End()

	undeclared.Begin(clock)
	undeclared.Metadata(kinds...)
	undeclared.Events(low)
	undeclared.End()

	r := parse.NewReader(nil, parse.All)
	versions := func(stream []byte) (got []int) {
		r.Reset(bytes.NewReader(stream), parse.All)
		for r.Scan() {
			got = append(got, r.Event().Version)
		}
		return got
	}
	if got := versions(before.Bytes); !slices.Equal(got, []int{1, 1, 51}) || r.Err() != nil {
		t.Errorf("versions %v, %v", got, r.Err())
	}
	if got := versions(after.Bytes); !slices.Equal(got, []int{1}) || r.Stats().UnknownMetadata != 2 || r.Err() != nil {
		t.Errorf("versions %v, %+v, %v", got, r.Stats(), r.Err())
	}
	if got := versions(undeclared.Bytes); len(got) > 0 || r.Err() == nil {
		t.Errorf("rows of a thread that was not declared: %v", got)
	}
}

// An idle is a source that returns neither bytes nor an error for some reads before each byte.
type idle struct {
	b     []byte
	empty int
	n     int
}

func (s *idle) Read(p []byte) (int, error) {
	if s.n++; s.n <= s.empty {
		return 0, nil
	}
	s.n = 0
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1], s.b)
	s.b = s.b[n:]
	return n, nil
}

// TestNoProgress: a source that returns nothing is given up on as bufio does, and not sooner.
func TestNoProgress(t *testing.T) {
	w := begin()
	w.Events(row(1, 10, true))
	w.End()
	r := parse.NewReader(&idle{b: w.Bytes, empty: 99}, parse.All)
	want(t, scanUntilQuiet(t, r), "10/1")
	r = parse.NewReader(&idle{b: w.Bytes, empty: 100}, parse.All)
	if r.Scan() || !errors.Is(r.Err(), io.ErrNoProgress) {
		t.Errorf("ended with %v", r.Err())
	}
	r.Reset(&idle{b: w.Bytes, empty: 99}, parse.All) // the previous source does not count
	want(t, scanUntilQuiet(t, r), "10/1")
}
