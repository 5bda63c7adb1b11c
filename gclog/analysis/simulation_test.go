package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
)

const simulated = 1000 // pairs

// TestSimulated checks how often Compare calls equal programs different that are recorded at the same
// time, as a canary and what it is compared with are. Each side is made up from a long recording: pauses
// of the same lengths, and of the same autocorrelation, by an autoregressive process. What is seen of one
// pause is seen of the next fifty, and more: 1,000 pauses say no more than 20 to 100 independent ones.
func TestSimulated(t *testing.T) {
	extent.NeedFull(t)
	extent.Long(t)
	models := []*model{}
	for _, s := range longRecordings(t) {
		models = append(models, newModel(s))
	}
	random := rand.New(rand.NewPCG(11, 11))
	wrong := 0
	names := map[string]int{}
	for i := range simulated {
		m := models[i%len(models)]
		pauses := leastHalf + random.IntN(2000)
		c := Compare([]*Sample{m.simulate(pauses, random)}, []*Sample{m.simulate(pauses, random)})
		if c.Differs() {
			wrong++
		}
		for _, d := range c.Differences {
			if d.Verdict >= Better {
				names[d.Name]++
			}
		}
	}
	t.Logf("%d of %d simulated pairs are called different: %v", wrong, simulated, names)
	if least, most := simulated*35/1000, simulated*65/1000; wrong < least || wrong > most {
		t.Errorf("%d of %d simulated pairs are called different, not %d to %d", wrong, simulated, least, most)
	}
}

// A model is what a recording is made up from again: the kinds of its pauses in their order, and the
// lengths of the pauses and of the times between them that a kind has, in a random order of the same
// autocorrelation.
type model struct {
	kinds           []kind          // of the pauses, in their order
	stops           map[kind][]stop // by duration
	collections     map[stop]sampled
	gaps            map[kind][]int64 // from the start of the pause before, sorted
	ofStops, ofGaps *autoregression
}

type kind struct {
	class Class
	first bool
}

func newModel(s *Sample) *model {
	m := &model{stops: map[kind][]stop{}, collections: map[stop]sampled{}, gaps: map[kind][]int64{}}
	s.stops.sort()
	for i := range s.stops.n - 1 {
		p := *s.stops.at(i + 1)
		k := kind{p.class(), p.first()}
		m.kinds = append(m.kinds, k)
		m.stops[k] = append(m.stops[k], p)
		m.gaps[k] = append(m.gaps[k], p.start-s.stops.at(i).start)
	}
	for i := range s.collections.n {
		c := *s.collections.at(i)
		for _, list := range m.stops {
			j, _ := slices.BinarySearchFunc(list, c.at, func(p stop, at int64) int { return cmp.Compare(p.end(), at) })
			if j < len(list) && list[j].class() == c.class && list[j].first() && list[j].start-c.at < 1e6 {
				m.collections[list[j]] = c
			}
		}
	}
	var durations, gaps []float64
	at := map[kind]int{}
	scoresOfStops, scoresOfGaps := map[kind][]float64{}, map[kind][]float64{}
	for k, list := range m.stops {
		scoresOfStops[k] = scores(list, func(x, y stop) int { return cmp.Compare(x.duration(), y.duration()) })
		scoresOfGaps[k] = scores(m.gaps[k], cmp.Compare[int64])
	}
	for _, k := range m.kinds {
		durations, gaps = append(durations, scoresOfStops[k][at[k]]), append(gaps, scoresOfGaps[k][at[k]])
		at[k]++
	}
	m.ofStops, m.ofGaps = newAutoregression(durations), newAutoregression(gaps)
	for k := range m.stops {
		slices.SortFunc(m.stops[k], func(x, y stop) int { return cmp.Compare(x.duration(), y.duration()) })
		slices.Sort(m.gaps[k])
	}
	return m
}

// scores returns the quantiles of a normal distribution that belong to the ranks of values.
func scores[T any](values []T, compare func(a, b T) int) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(values[a], values[b]) })
	z := make([]float64, len(values))
	for rank, i := range order {
		z[i] = normalQuantile(1 - (float64(rank)+0.5)/float64(len(values)))
	}
	return z
}

func (m *model) simulate(n int, random *rand.Rand) *Sample {
	s := NewSample(Always())
	s.Sync = time.Unix(0, 0)
	s.Observe(&gclog.Start{At: 0})
	lengths, gaps := m.ofStops.draw(n, random), m.ofGaps.draw(n, random)
	at, first := int64(0), random.IntN(len(m.kinds))
	for i := range n {
		k := m.kinds[(first+i)%len(m.kinds)]
		p := m.stops[k][int(lengths[i]*float64(len(m.stops[k])))]
		at += max(m.gaps[k][int(gaps[i]*float64(len(m.gaps[k])))], 1)
		s.stops.add(newStop(at, p.duration(), p.suspend, p.class(), p.first()))
		if c, ok := m.collections[p]; ok {
			c.since, c.ended, c.at = c.since+at-c.at, c.ended+at-c.at, at
			s.collections.add(c)
			for _, class := range [...]Class{c.class, ClassAll} {
				r := &s.classes[class]
				r.Count++
				r.after.add(max(0, c.after))
				r.promoted.add(max(0, c.promoted))
			}
			s.allocated.time += float64(c.ended - c.since)
		}
	}
	s.Observe(&gclog.End{At: at})
	return s
}

// An autoregression is a process of normal variables with the autocorrelation of others.
type autoregression struct {
	factors []float64 // of the values before
	noise   float64   // standard deviation
}

const lags = 100

// newAutoregression solves the equations of Yule and Walker as Levinson and Durbin do.
func newAutoregression(z []float64) *autoregression {
	n := len(z)
	r := make([]float64, lags+1)
	for k := range r {
		for i := k; i < n; i++ {
			r[k] += z[i] * z[i-k] / float64(n)
		}
	}
	a := &autoregression{}
	noise := r[0]
	for k := 1; k <= lags; k++ {
		x := r[k]
		for j, f := range a.factors {
			x -= f * r[k-1-j]
		}
		x /= noise
		next := append(slices.Clone(a.factors), x)
		for j, f := range a.factors {
			next[j] = f - x*a.factors[k-2-j]
		}
		a.factors = next
		noise *= 1 - x*x
	}
	a.noise = math.Sqrt(noise / r[0])
	return a
}

// draw returns the ranks of n values, as shares.
func (a *autoregression) draw(n int, random *rand.Rand) []float64 {
	const before = 10 * lags
	z := make([]float64, before+n)
	for i := range z {
		z[i] = a.noise * random.NormFloat64()
		for j, f := range a.factors[:min(i, lags)] {
			z[i] += f * z[i-1-j]
		}
	}
	ranks := z[before:]
	for i, v := range ranks {
		ranks[i] = min(math.Erfc(-v/math.Sqrt2)/2, 1-1e-9)
	}
	return ranks
}
