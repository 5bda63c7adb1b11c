package extent

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns the seed of a test whose input is random: GCLOG_SEED if that is set. If the test
// fails, the last thing that it says is the seed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64N(1 << 32)
	if s := os.Getenv("GCLOG_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("GCLOG_SEED: %v", err)
		}
	}
	SaySeed(t, seed)
	return seed
}

// SaySeed makes the seed the last thing that a test says if it fails. It is called before anything
// else is registered for the end of the test.
func SaySeed(t testing.TB, seed uint64) {
	t.Helper()
	t.Cleanup(func() { // what is registered first runs last
		if t.Failed() {
			t.Logf("GCLOG_SEED=%d", seed)
		}
	})
}
