package harmless

import (
	"math/rand/v2"
	"time"
)

// upTo returns a random duration less than d.
func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

// coin returns true or false at random.
func coin(r *rand.Rand) bool { return r.IntN(2) == 0 }
