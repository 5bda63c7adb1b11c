package main

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"time"
)

// repeats makes the unit about a second, so that costs resemble CPU seconds.
const repeats = 40

// fixed returns how long a fixed computation takes here and now, repeats times over: sorting, a map, a
// checksum, so that no single unit of the processor decides. It is measured a few times, and the
// shortest counts, since other work can only make it longer.
func fixed() time.Duration {
	shortest := time.Duration(0)
	for range 3 {
		began := time.Now()
		compute()
		if d := time.Since(began); shortest == 0 || d < shortest {
			shortest = d
		}
	}
	return repeats * shortest
}

func compute() (sum [sha256.Size]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]uint64, 300_000)
	for i := range numbers {
		numbers[i] = random.Uint64()
	}
	slices.Sort(numbers)
	counts := map[uint64]int{}
	text := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		counts[n%50_000]++
		for range 8 {
			text = append(text, byte(n))
			n >>= 8
		}
	}
	text = append(text, byte(len(counts)))
	return sha256.Sum256(text)
}
