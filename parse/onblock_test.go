package parse_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// TestOnBlock: the blocks of a stream that are passed on have its events, each with its number and its
// time, and the times of a block are those of its events.
func TestOnBlock(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		r := parse.NewReader(bytes.NewReader(recordings.Read(t, tr.Path)), parse.All)
		var blocks, events int64
		times := map[int64]int{}
		r.OnBlock(func(b parse.Block) {
			if blocks++; (b.Kind == parse.BlockTrace) != (blocks == 1) || b.Major != r.Trace().Major {
				t.Errorf("block %d is of kind %v and format %d", blocks, b.Kind, b.Major)
			}
			first, last, known := b.Times()
			if known != (b.Kind == parse.BlockEvent || b.Kind == parse.BlockSequencePoint) {
				t.Errorf("the times of a %v block are known: %v", b.Kind, known)
			}
			end := 0
			var rows []int64
			for w := range b.Rows {
				events++
				times[w.Ticks]++
				rows = append(rows, w.Ticks)
				end = w.End
			}
			if len(rows) > 0 && (slices.Min(rows) != first || slices.Max(rows) != last || end != len(b.Content) && !b.Cut) {
				t.Errorf("a block of %d bytes from %d to %d has rows from %d to %d in %d bytes", len(b.Content), first, last, slices.Min(rows), slices.Max(rows), end)
			}
		})
		for r.Scan() {
			if e := r.Event(); e != nil {
				times[e.Ticks]--
			}
		}
		for ticks, n := range times {
			if n != 0 {
				t.Fatalf("at %d the blocks have %d rows more than the Reader", ticks, n)
			}
		}
		if n := r.Stats().Rows; n != events || n == 0 {
			t.Errorf("the blocks have %d rows, the Reader %d", events, n)
		}
	})
}

// TestRows: the rows of a block are iterated over up to the first that is incomplete, whatever their
// form. Other blocks have none.
func TestRows(t *testing.T) {
	rows := []nettracetest.Row{
		{Kind: 7, Thread: 5, Seq: 3, Ticks: 100, Sorted: true, Payload: []byte{1, 2, 3, 4}},
		{Kind: 7, Thread: 5, Ticks: 110},
		{Kind: 8, Thread: 6, Seq: 9, Ticks: 90, Sorted: true, Activity: true},
	}
	for _, uncompressed := range []bool{false, true} {
		w := nettracetest.V4{Uncompressed: uncompressed}
		content := w.Rows(rows...)
		var got []string
		ends := []int{}
		b := parse.Block{Major: 4, Kind: parse.BlockEvent, Content: content}
		for r := range b.Rows {
			got = append(got, fmt.Sprint(r.Metadata, r.Capture, r.Seq, r.Ticks, r.Sorted))
			ends = append(ends, r.End)
		}
		if want := []string{"7 5 3 100 true", "7 5 4 110 false", "8 6 9 90 true"}; !slices.Equal(got, want) {
			t.Errorf("uncompressed %v: %q", uncompressed, got)
		}
		for n := range len(content) {
			b := parse.Block{Major: 4, Kind: parse.BlockEvent, Content: content[:n], Cut: true}
			complete, whole := 0, 0
			for r := range b.Rows {
				complete = r.End
				whole++
			}
			want := 0
			for want < len(ends) && ends[want] <= n {
				want++
			}
			if whole != want || complete > n {
				t.Errorf("uncompressed %v: %d rows in %d bytes, want %d", uncompressed, whole, n, want)
			}
		}
		for range b.Rows {
			break // the iteration can be stopped
		}
	}
	for _, kind := range []parse.BlockKind{parse.BlockMetadata, parse.BlockStack, parse.BlockSequencePoint} {
		b := parse.Block{Major: 4, Kind: kind, Content: make([]byte, 100)}
		for range b.Rows {
			t.Errorf("a %v block has rows", kind)
		}
	}
}
