package top

import (
	"sync"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// feedMost is how many records wait for the model, which takes them every second.
const feedMost = 8192

// A feed collects the records of a source until the model takes them. It observes sessions,
// histories and logs.
type feed struct {
	mu      sync.Mutex
	list    []Record
	dropped int
	latest  int64 // the time of the latest record
}

func (f *feed) add(at int64, r Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latest = max(f.latest, at)
	if len(f.list) >= feedMost {
		f.dropped++
		return
	}
	f.list = append(f.list, r)
}

// reach reports that time has passed without a record.
func (f *feed) reach(at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latest = max(f.latest, at)
}

// take returns what has been collected since the last call.
func (f *feed) take() (list []Record, dropped int, latest int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, dropped = f.list, f.dropped
	f.list, f.dropped = nil, 0
	return list, dropped, f.latest
}

// Pause implements gclog.Observer.
func (f *feed) Pause(p *gclog.Pause) {
	x := *p
	if p.GC != nil {
		x.GC = p.GC.Clone()
	}
	f.add(p.Start+p.Duration, Record{Pause: &x})
}

// Phase implements gclog.Observer.
func (f *feed) Phase(*gclog.Phase) {}

// GC implements gclog.Observer.
func (f *feed) GC(d *gclog.GCDetails) { f.add(ended(d), Record{GC: d.Clone()}) }

// Gap implements gclog.Observer.
func (f *feed) Gap(g *gclog.Gap) {
	x := *g
	f.add(g.Time, Record{Gap: &x})
}

// Stall implements attach.StallObserver.
func (f *feed) Stall(s *gclog.Stall) {
	x := *s
	f.add(s.Now, Record{Stall: &x})
}

// Begin implements gclog.SpanObserver.
func (f *feed) Begin(int64) {}

// Suspension implements formats.Observer.
func (f *feed) Suspension(*gclog.Suspension) {}

// HeapGrowth implements formats.Observer.
func (f *feed) HeapGrowth(*formats.HeapGrowth) {}
