package formats_test

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// negative matches a negative number where a log has durations and sizes.
var negative = regexp.MustCompile(`[ :,+>\[(=]-\d[\d.]*(?:[,}\]KMG)msB]|$)`)

// noTimes matches a row of CSV around its three points in time, the last of which is in front of
// five columns, of memory, a suspension and a heap snapshot: the times may be before the start of the recording.
var noTimes = regexp.MustCompile(`^[^,]*(,(?:[^,]*,){24})[^,]*(.*,)[^,]*((?:,[^,]*){5})$`)

// TestCorruption: whatever a stream contains, every line made from it is whole, and contains
// nothing negative.
func TestCorruption(t *testing.T) {
	extent.Long(t)
	n := extent.Pick(300, 1_500)
	seed := extent.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, name := range []string{"net10-datas-bgc", "net9-wks-attach", "v6-wksb"} {
		stream := recordings.Read(t, filepath.Join("..", "testdata", "traces", name+".nettrace.gz"))
		damaged := slices.Clone(stream)
		seen := map[string]bool{} // most damage changes few lines
		for range n / 3 {
			at, b := rnd.IntN(len(stream)), byte(rnd.Uint32())
			damaged[at] = b
			x := convert(damaged, everything, nil)
			for _, c := range x.processes {
				for format, out := range c.outputs {
					for _, line := range lines(out.text()) {
						of := format + line
						if seen[of] {
							continue
						}
						seen[of] = true
						if format == "json" && line != "" && !json.Valid([]byte(line)) {
							t.Errorf("%s with byte %d = %d (GCLOG_SEED=%d): no JSON: %s", name, at, b, seed, line)
						}
						if format == "csv" {
							line = noTimes.ReplaceAllString(line, "$1$2$3")
						}
						if m := negative.FindString(line); m != "" {
							t.Errorf("%s with byte %d = %d (GCLOG_SEED=%d): %s has %q: %s", name, at, b, seed, format, m, line)
						}
					}
				}
			}
			if t.Failed() {
				return
			}
			damaged[at] = stream[at]
		}
	}
}
