package parse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// TestSorter: rows of many threads come out oldest first, those with equal times in the order of
// their arrival, up to the limit and no further. Reused memory holds nothing of its former content.
func TestSorter(t *testing.T) {
	extent.Long(t)
	type key struct {
		ticks int64
		n     uint64 // arrival number
	}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var s sorter
		threads := make([]captureThread, 1+rnd.IntN(60))
		newest := make([]int64, len(threads))
		var waiting []key
		for n := range uint64(400) {
			if rnd.IntN(8) > 0 {
				i := rnd.IntN(len(threads))
				newest[i] += rnd.Int64N(40)
				w := s.add(&threads[i], newest[i])
				if w.more != 0 {
					t.Fatalf("seed %d: a new row says that %d were folded into it", seed, w.more)
				}
				w.more, w.sum = 3, n
				waiting = append(waiting, key{newest[i], n})
				if last := threads[i].newest(); last != w {
					t.Fatalf("seed %d: the newest is not the last one that came: %+v", seed, last)
				}
				continue
			}
			limit := rnd.Int64N(600)
			if rnd.IntN(4) == 0 {
				limit = math.MaxInt64
			}
			slices.SortFunc(waiting, func(a, b key) int {
				if a.ticks != b.ticks {
					return int(a.ticks - b.ticks)
				}
				return int(a.n) - int(b.n)
			})
			for w := s.next(limit); w != nil; w = s.next(limit) {
				if len(waiting) == 0 || waiting[0] != (key{w.ticks, w.sum}) || w.ticks > limit {
					t.Fatalf("seed %d: %d:%d comes, waiting are %v, the limit is %d", seed, w.ticks, w.sum, waiting, limit)
				}
				waiting = waiting[1:]
			}
			if len(waiting) != s.waiting || len(waiting) > 0 && waiting[0].ticks <= limit {
				t.Fatalf("seed %d: %d wait, it says %d; the limit was %d", seed, len(waiting), s.waiting, limit)
			}
			segments := 0
			for i := range threads {
				for g := threads[i].first; g != nil; g = g.next {
					segments++
				}
			}
			if s.used != segments {
				t.Fatalf("seed %d: %d segments are in use, it says %d", seed, segments, s.used)
			}
		}
	}
}

// TestArena: a payload is unchanged until it is released, and memory is held exactly as long as it
// holds a payload.
func TestArena(t *testing.T) {
	extent.Long(t)
	for seed := range uint64(extent.Pick(20, 50)) {
		rnd, content := rand.New(rand.NewPCG(seed, 2)), rand.NewChaCha8([32]byte{byte(seed)})
		var a arena
		type kept struct {
			w    *row
			want []byte
		}
		var live []kept
		var rows []*row                                                // reused
		made := map[int]map[*chunk]bool{chunkSize: {}, largeChunk: {}} // all chunks that ever existed, by size
		most := map[int]int{}                                          // largest number of these in use at a time
		for range 2000 {
			if n := len(live); n > 0 && rnd.IntN(100) < 50 {
				i := rnd.IntN(n)
				if got := slices.Concat(live[i].w.payload(), live[i].w.addresses()); !slices.Equal(got, live[i].want) {
					t.Fatalf("seed %d: %d bytes have changed", seed, len(live[i].want))
				}
				a.release(live[i].w.chunk)
				rows = append(rows, live[i].w)
				live = slices.Delete(live, i, i+1)
			} else {
				size, room := rnd.IntN(1<<rnd.IntN(18)), chunkSize
				before := a.current
				if before != nil {
					room = cap(before.b)
				}
				if slices.ContainsFunc(live, func(k kept) bool { return before != nil && k.w.chunk == before }) {
					room -= len(before.b)
				}
				if rnd.IntN(4) == 0 {
					size = room + rnd.IntN(2)
				}
				k := kept{want: make([]byte, size)}
				_, _ = content.Read(k.want)
				if n := len(rows); n > 0 {
					k.w, rows = rows[n-1], rows[:n-1]
				} else {
					k.w = &row{}
				}
				part := rnd.IntN(size/stackUnit+1) * stackUnit // the stack
				a.copy(k.w, k.want[:size-part], k.want[size-part:])
				live = append(live, k)
				if fits := size <= room; size > 0 && before != nil && (k.w.chunk == before) != fits {
					t.Fatalf("seed %d: of %d bytes, for %d, the chunk is used: %v", seed, room, size, !fits)
				}
			}
			held := map[*chunk]bool{}
			if a.current != nil {
				held[a.current] = true
			}
			for _, k := range live {
				if k.w.chunk != nil {
					held[k.w.chunk] = true
				}
			}
			bytes, inUse := 0, map[int]int{}
			for c := range held {
				bytes += cap(c.b)
				if made[cap(c.b)] != nil {
					inUse[cap(c.b)]++
					made[cap(c.b)][c] = true
				}
			}
			for size, n := range inUse {
				most[size] = max(most[size], n)
			}
			if a.inUse != bytes {
				t.Fatalf("seed %d: %d bytes in use, not %d", seed, bytes, a.inUse)
			}
		}
		for size, chunks := range made {
			if len(chunks) != most[size] {
				t.Errorf("seed %d: %d chunks of %d bytes, of which %d were in use at a time", seed, len(chunks), size, most[size])
			}
		}
	}
}
