package top

import (
	"sync"

	"github.com/gclog/gclog/gclog"
)

// feedMost is how many records wait for the model, which takes them every second.
const feedMost = 8192

// A feed collects the records of a source until the model takes them. It observes sessions,
// histories and logs.
type feed struct {
	mu      sync.Mutex
	list    []gclog.Record
	dropped int
	latest  int64 // the time of the latest record
}

func (f *feed) add(at int64, r gclog.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latest = max(f.latest, at)
	if len(f.list) >= feedMost {
		f.dropped++
		return
	}
	f.list = append(f.list, gclog.CloneRecord(r))
}

// reach reports that time has passed without a record.
func (f *feed) reach(at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latest = max(f.latest, at)
}

// take returns what has been collected since the last call.
func (f *feed) take() (list []gclog.Record, dropped int, latest int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, dropped = f.list, f.dropped
	f.list, f.dropped = nil, 0
	return list, dropped, f.latest
}

// Observe keeps a copy of a record that the model shows.
func (f *feed) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause, *gclog.GCDetails, *gclog.Gap, *gclog.Stall:
		f.add(endOfRecord(r), r)
	}
}

// endOfRecord returns when what a record is about had ended.
func endOfRecord(r gclog.Record) int64 {
	switch r := r.(type) {
	case *gclog.Pause:
		return r.Start + r.Duration
	case *gclog.GCDetails:
		return ended(r)
	}
	at, _ := r.When()
	return at
}
