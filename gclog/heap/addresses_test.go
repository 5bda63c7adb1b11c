package heap

import (
	"compress/gzip"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

func TestAddressCodes(t *testing.T) {
	for _, pointerSize := range []int{8, 4} {
		x := newAddressCodes(pointerSize)
		rnd := rand.New(rand.NewPCG(1, uint64(pointerSize)))
		known := map[uint32]uint64{}
		for range 100_000 {
			at := rnd.Uint64N(1<<30) / uint64(pointerSize) * uint64(pointerSize)
			if rnd.IntN(2) == 0 {
				at += 0x7f00_0000_0000 >> (64 - 8*pointerSize)
			}
			code := x.of(at)
			if was, ok := known[code]; code == noCode || ok && was != at {
				t.Fatalf("0x%x has the code %x of 0x%x", at, code, was)
			}
			if known[code] = at; x.address(code) != at {
				t.Fatalf("the code %x of 0x%x leads to 0x%x", code, at, x.address(code))
			}
			if code := x.of(at + 1); code != noCode {
				t.Fatalf("0x%x has the code %x", at+1, code)
			}
		}
	}
}

// TestAddressCodesFull: windows for which no codes are left do not affect the others.
func TestAddressCodesFull(t *testing.T) {
	x := newAddressCodes(8)
	for i := range uint64(maxWindows + 5) {
		at := i<<windowBits | (1<<windowBits - 8)
		if code := x.of(at); (code == noCode) != (i >= maxWindows) {
			t.Fatalf("window %d: code %x", i, code)
		}
	}
	for i := range uint64(maxWindows) {
		if at := i << windowBits; x.address(x.of(at)) != at {
			t.Fatalf("window %d: code %x", i, x.of(at))
		}
	}
}

// regions returns the addresses of a walk: the regions are in any order, and one may begin where
// another one ends.
func regions(rnd *rand.Rand, objects int) (address []uint64) {
	next := map[uint64]uint64{}
	for len(address) < objects {
		region := 0x7000_0000_0000 + rnd.Uint64N(60)<<20
		if next[region] == 0 {
			next[region] = region
		}
		for range 1 + rnd.IntN(1+objects/20) {
			if next[region] >= region+1<<20-5000 {
				break
			}
			address = append(address, next[region])
			next[region] += 16 + 8*rnd.Uint64N(40)
			if rnd.IntN(20) == 0 {
				next[region] += rnd.Uint64N(4096) &^ 7
			}
		}
		next[region] = (next[region] + 4096) &^ 4095 // what follows is not in the same word
	}
	return address
}

func placesOf(address []uint64, codes *addressCodes) *places {
	p := &places{}
	for o := 0; o < len(address); {
		n := min(1+o%300, len(address)-o)
		p.add(address[o:o+n], Object(o), codes)
		o += n
	}
	return p
}

// TestPlaces: each object is found at its address, and no object elsewhere.
func TestPlaces(t *testing.T) {
	extent.Long(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		address := regions(rnd, 1+rnd.IntN(20_000))
		codes := newAddressCodes(8)
		p := placesOf(address, codes)
		if p.none {
			t.Fatal("no places for objects as a runtime lays them out")
		}
		known := map[uint64]Object{}
		for o, at := range address {
			known[at] = Object(o)
		}
		for at, o := range known {
			if got := p.find(codes.of(at)); got != o {
				t.Fatalf("0x%x is object %d, want %d", at, got, o)
			}
			for _, near := range []uint64{at - 8, at + 8, at + 4096, at + 1<<20, at + 1<<40} {
				want, ok := known[near]
				if !ok {
					want = NoObject
				}
				if got := p.find(codes.of(near)); got != want {
					t.Fatalf("0x%x is object %d, want %d", near, got, want)
				}
			}
		}
		if p.words.n > pageWords*len(address) {
			t.Fatalf("%d words for %d objects", p.words.n, len(address))
		}
	}
}

// TestNoPlaces: what contradicts the order of a walk is left to the index, and so are objects that
// are far from each other.
func TestNoPlaces(t *testing.T) {
	scattered := make([]uint64, 2000)
	for i := range scattered {
		scattered[i] = uint64(i) << windowBits
	}
	for name, address := range map[string][]uint64{
		"twice the same":         {0x1000, 0x1000},
		"downwards":              {0x1010, 0x1000},
		"others between the two": {0x1000, 0x2000, 0x1010},
		"one without a code":     {0x1000, 0x1004, 0x1010},
		"scattered":              scattered,
	} {
		if !placesOf(address, newAddressCodes(8)).none {
			t.Errorf("%s: there are places", name)
		}
	}
	if placesOf(scattered[:10], newAddressCodes(8)).none {
		t.Error("a few objects have none")
	}
}

// TestLocator: with or without places, and with addresses that have no code, objects are found as the
// index finds them.
func TestLocator(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for round := range 100 {
		address := regions(rnd, 1+rnd.IntN(2000))
		if round%2 == 0 { // those of every second region have no code
			for i := range address {
				address[i] += address[i] >> 20 & 1 << 2
			}
		}
		g := &Graph{PointerSize: 8, address: address, index: newAddressIndex(address)}
		g.first = make([]uint32, len(address)+1)
		w := &walk{codes: newAddressCodes(8)}
		var want []Object
		for range 3000 {
			o := Object(rnd.IntN(len(address)))
			at := address[o]
			if rnd.IntN(10) == 0 {
				o, at = NoObject, at+1
			}
			want = append(want, o)
			code := w.codes.of(at)
			if w.target.add(Object(code)); code == noCode {
				w.unencoded = append(w.unencoded, farReference{len(want) - 1, at})
			}
		}
		for i := range g.first {
			g.first[i] = uint32(len(want))
		}
		g.first[0] = 0
		l := &locator{g: g, codes: w.codes, places: &places{none: true}}
		if round%3 > 0 {
			if l.places = placesOf(address, w.codes); l.places.none {
				t.Fatal("no places")
			}
		}
		unresolved := len(want)
		want = slices.DeleteFunc(want, func(o Object) bool { return o == NoObject })
		unresolved -= len(want)
		l.resolveReferences(w)
		if !slices.Equal(g.target, want) || g.Walk.Unresolved != uint64(unresolved) {
			t.Fatalf("round %d: %d references, %d unresolved, want %d and %d", round, len(g.target), g.Walk.Unresolved, len(want), unresolved)
		}
	}
}

// TestRegionsInAnyOrder: the index need not sort the objects if the walk visits one region after the
// other.
func TestRegionsInAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	var address []uint64
	for _, region := range rnd.Perm(50) {
		for at := uint64(region) << 22; at < uint64(region+1)<<22-100; at += 1000 {
			address = append(address, at)
		}
	}
	if x := newAddressIndex(address); x.sorted != nil || len(x.runs) > 50 {
		t.Errorf("%d runs, %d objects sorted", len(x.runs), len(x.sorted))
	}
}

// TestReserve: the graph is the same however much memory was reserved for it.
func TestReserve(t *testing.T) {
	var want *Graph
	for _, bytes := range []int64{-1, 0, 100, 20_000, 100_000, 1 << 20, 1 << 50} {
		f, err := os.Open("testdata/small.nettrace.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBuilder(8)
		b.Reserve(bytes)
		x, decoder := parse.NewReader(z, Wanted), clr.NewDecoder(8)
		for x.Scan() {
			if e, err := decoder.Decode(x.Event()); err == nil {
				b.Event(x.Event().Time, e)
			}
		}
		g, err := b.Graph()
		if err != nil || !g.Walk.Complete() {
			t.Fatal(err)
		}
		if want == nil {
			want = g
		}
		if !slices.Equal(g.address, want.address) || !slices.Equal(g.size, want.size) || !slices.Equal(g.typ, want.typ) ||
			!slices.Equal(g.first, want.first) || !slices.Equal(g.target, want.target) {
			t.Errorf("%d bytes reserved: another graph", bytes)
		}
	}
}
