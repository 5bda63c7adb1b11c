package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// TestReadAhead: a stream that is read ahead gives the same events, counts and error, whether it is
// whole, cut off or damaged, whatever the size of its objects and of the reads.
func TestReadAhead(t *testing.T) {
	w := begin()
	for i := range 40 { // blocks of up to 1.6 MB
		block := make([]byte, i*i*1000)
		r := row(uint64(i%3), int64(i), true)
		rows := slices.Repeat([]byte{1}, 1+i%3)
		for at := range rows {
			r.Payload = block[:min(len(block), 60_000)]
			r.Ticks += int64(at)
			w.Events(r)
		}
		large := row(5, int64(100*i), true)
		large.Payload = block
		w.Events(large)
	}
	w.End()
	streams := map[string][]byte{"large": w.Bytes, "nothing": nil, "other": []byte("no recording at all")}
	if testing.Short() {
		maps.Copy(streams, small(t))
	} else {
		for _, tr := range recordings.Repository(t) {
			streams[tr.Name] = recordings.Read(t, tr.Path)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		for i := range 8 {
			b := slices.Clone(streams[name])
			if len(b) > 0 && i > 1 {
				b = b[:rnd.IntN(len(b))]
			}
			if len(b) > 0 && i > 4 {
				b[rnd.IntN(len(b))] ^= byte(1 + rnd.IntN(255))
			}
			var want, got []uint64
			plain := parse.NewReader(bytes.NewReader(b), parse.All)
			for plain.Scan() {
				want = append(want, hash(plain))
			}
			var r *parse.Reader
			if i%2 == 0 {
				r = parse.NewReader(bytes.NewReader(b), parse.All)
			} else {
				r = parse.NewReader(&ragged{b: b, rnd: rand.New(rand.NewPCG(uint64(i), 3))}, parse.All)
			}
			_, _ = r.ReadTrace() // read ahead or not
			stop := r.ReadAhead()
			for done := false; !done; done = !errors.Is(r.Err(), timeout{}) {
				for r.Scan() {
					got = append(got, hash(r))
				}
			}
			if r.Scan() {
				t.Errorf("%s %d: another event after the end", name, i)
			}
			stop()
			if !slices.Equal(got, want) || r.Stats() != plain.Stats() || fmt.Sprint(r.Err()) != fmt.Sprint(plain.Err()) {
				t.Errorf("%s %d: %d of %d events, %+v, not %+v, %v, not %v", name, i, len(got), len(want), r.Stats(), plain.Stats(), r.Err(), plain.Err())
			}
		}
	}
}

// hash identifies everything that Scan found.
func hash(r *parse.Reader) uint64 {
	h := fnv.New64a()
	if e := r.Event(); e != nil {
		fmt.Fprint(h, e.Meta.Index, e.Time, e.Ticks, e.Thread, e.Process, e.Version, e.More, e.Sum)
		h.Write(e.Payload)
	} else {
		fmt.Fprint(h, *r.Loss())
	}
	return h.Sum64()
}

// TestReadAheadStopped: a Reader may be left at any time, and nothing reads its stream afterwards. A
// Reader that is used all the same delivers what was read before, and ends.
func TestReadAheadStopped(t *testing.T) {
	b := synthetic(4<<20, 100)
	for n := range 20 {
		src := bytes.NewReader(b)
		r := parse.NewReader(src, parse.All)
		stop := r.ReadAhead()
		for range 2000 * n {
			r.Scan()
		}
		stop()
		left := src.Len()
		for r.Scan() {
			continue
		}
		if err := r.Err(); src.Len() != left || left > 0 && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("stopped after %d events: %d bytes were left, now %d, error %v", 2000*n, left, src.Len(), err)
		}
	}
}
