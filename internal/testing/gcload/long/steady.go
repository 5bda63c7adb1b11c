package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A probe measures how fast the machine is, by the time of work that is always the same: following
// references through memory, as a collection does.
type probe struct {
	next  []uint32
	at    uint32
	times []time.Duration
	stop  chan struct{}
	ended chan struct{}
}

const (
	probeSize  = 16 << 20 // elements: 64 MB
	probeSteps = 50_000   // some 5 ms
	probeEvery = 500 * time.Millisecond
	// mostDrift is how much slower one quarter of a recording may be than another.
	mostDrift = 1.1
)

func newProbe() *probe {
	p := &probe{next: make([]uint32, probeSize)}
	order := rand.New(rand.NewPCG(1, 1)).Perm(probeSize)
	for i, x := range order {
		p.next[x] = uint32(order[(i+1)%len(order)])
	}
	return p
}

func (p *probe) start() {
	p.times, p.stop, p.ended = nil, make(chan struct{}), make(chan struct{})
	go p.run()
}

func (p *probe) run() {
	defer close(p.ended)
	for {
		began := time.Now()
		for range probeSteps {
			p.at = p.next[p.at]
		}
		p.times = append(p.times, time.Since(began))
		select {
		case <-p.stop:
			return
		case <-time.After(probeEvery):
		}
	}
}

// end ends what start began. It returns how many times slower the slowest quarter was than the fastest.
func (p *probe) end() float64 {
	close(p.stop)
	<-p.ended
	if len(p.times) < 4 {
		return 1
	}
	var medians []time.Duration
	for i := range 4 {
		quarter := slices.Clone(p.times[i*len(p.times)/4 : (i+1)*len(p.times)/4])
		slices.Sort(quarter)
		medians = append(medians, quarter[len(quarter)/2])
	}
	return float64(slices.Max(medians)) / float64(slices.Min(medians))
}
