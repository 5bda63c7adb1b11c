package analysis

import (
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse"
)

// The long recordings in testdata/long are of .NET runtimes under steady load (README.md there). The
// halves of one are two samples of the same program under the same circumstances.

const (
	pairs      = 200
	leastHalf  = 500 // pauses
	mostWrong  = 5   // percent of the pairs that may be called different
	leastFound = 95  // percent of those with pauses half as long again that must be
)

// TestCalibration checks how often chance is mistaken for a difference, and how often a difference
// is found.
func TestCalibration(t *testing.T) {
	extent.Long(t)
	all := longRecordings(t)
	random := rand.New(rand.NewPCG(7, 7))
	wrong, small, found := 0, 0, 0
	names := map[string]int{}
	for i := range pairs {
		s := all[i%len(all)]
		a, b := adjacent(s, random)
		if i/len(all)%2 == 1 {
			a, b = interleaved(s, random)
		}
		before := []*Sample{part(s, a, 4)}
		c := Compare(before, []*Sample{part(s, b, 4)})
		if c.Differs() {
			wrong++
			for _, d := range c.Differences {
				if d.Verdict >= Better {
					names[d.Name]++
				}
			}
		}
		stretched := func(quarters int64) int {
			c := Compare(before, []*Sample{part(s, b, quarters)})
			if slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Verdict == Worse && strings.Contains(d.Name, "pause") }) {
				return 1
			}
			return 0
		}
		small += stretched(5)
		found += stretched(6)
	}
	t.Logf("%d of %d pairs of the same recording are called different %v; of those stretched by a quarter %d are found, of those stretched by half %d", wrong, pairs, names, small, found)
	if 100*wrong > mostWrong*pairs {
		t.Errorf("%d of %d pairs of the same recording are called different", wrong, pairs)
	}
	if 100*found < leastFound*pairs {
		t.Errorf("pauses stretched by half are found in %d of %d pairs", found, pairs)
	}
}

// longRecordings returns the samples of the long recordings.
func longRecordings(t *testing.T) (list []*Sample) {
	t.Helper()
	pattern := filepath.Join("testdata", "long", "*.nettrace.gz")
	if other := os.Getenv("GCLOG_CALIBRATE"); other != "" {
		pattern = other
	}
	files, err := filepath.Glob(pattern)
	if err != nil || files == nil {
		t.Fatalf("no long recordings %s: %v", pattern, err)
	}
	for _, name := range files {
		s := longRecording(t, name)
		if s.stops.n < 2*leastHalf {
			t.Errorf("%s has %d pauses", name, s.stops.n)
			continue
		}
		list = append(list, s)
	}
	return list
}

func longRecording(t *testing.T, name string) *Sample {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stream, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var s *Sample
	processes := gclog.NewProcesses(func(*gclog.Process) gclog.Observer {
		s = NewSample(Always())
		s.Observe(&gclog.Start{At: 0})
		return s.Observe
	})
	if err := processes.Drain(parse.NewReader(stream, gclog.Wanted)); err != nil {
		t.Fatal(err)
	}
	processes.Finish()
	s.Observe(&gclog.End{At: processes.Latest()})
	return s
}

// adjacent returns two stretches of a recording, one after the other, with equally many pauses: at least
// leastHalf, and at least a sixth of all, because 500 pauses may be no more than 10 s.
func adjacent(s *Sample, random *rand.Rand) (a, b []Window) {
	least := max(leastHalf, s.stops.n/6)
	n := least + random.IntN(s.stops.n/2-least+1)
	from := random.IntN(s.stops.n - 2*n + 1)
	begin, middle, end := s.stops.at(from).start, s.stops.at(from+n).start, s.stops.at(from+2*n-1).end()
	return []Window{{begin, middle}}, []Window{{middle, end}}
}

// interleaved divides a recording into many stretches of time, and deals them out at random.
func interleaved(s *Sample, random *rand.Rand) (a, b []Window) {
	n := 40 + random.IntN(60)&^1
	for i, at := range random.Perm(n) {
		w := Window{int64(at) * s.span.end / int64(n), int64(at+1) * s.span.end / int64(n)}
		if i%2 == 0 {
			a = append(a, w)
		} else {
			b = append(b, w)
		}
	}
	for _, list := range [][]Window{a, b} {
		slices.SortFunc(list, func(x, y Window) int { return int(x.From - y.From) })
	}
	return a, b
}

// part returns some parts of a sample, with all pauses as long as so many quarters of them.
func part(s *Sample, parts []Window, quarters int64) *Sample {
	x := NewSample(Always())
	x.Sync = time.Unix(0, 0)
	for _, w := range parts {
		x.Observe(&gclog.Start{At: w.From})
		x.Observe(&gclog.End{At: w.To})
	}
	inside := func(at int64) bool {
		return slices.ContainsFunc(parts, func(w Window) bool { return w.Contains(at) })
	}
	for i := range s.stops.n {
		if p := *s.stops.at(i); inside(p.start) {
			x.stops.add(newStop(p.start, p.duration()*quarters/4, p.suspend, p.class(), p.first()))
		}
	}
	for i := range s.collections.n {
		c := *s.collections.at(i)
		if !inside(c.at) {
			continue
		}
		x.collections.add(c)
		for _, class := range [...]Class{c.class, ClassAll} { // what the Summary says is known
			r := &x.classes[class]
			r.Count++
			r.after.add(max(0, c.after))
			r.promoted.add(max(0, c.promoted))
		}
		x.allocated.time += float64(c.ended - c.since)
	}
	return x
}
