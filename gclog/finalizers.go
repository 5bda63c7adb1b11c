package gclog

import "github.com/gclog/gclog/parse/clr"

// finalizers counts the runs of the finalizer thread; a process has one such thread.
type finalizers struct {
	now     FinalizerDetails // since the previous collection
	started int64            // start of the run in progress
	on      bool             // a run is in progress
	lost    bool             // the start or end of a run may have been lost since the previous collection
}

func (f *finalizers) begin(at Stamp) {
	f.now.Known = true
	f.started, f.on = at.Time, true
}

func (f *finalizers) end(at Stamp, e *clr.GCFinalizersEnd) {
	f.now.Known = true
	f.now.Runs++
	f.now.Objects += uint64(e.Count)
	if f.on {
		f.now.Longest = max(f.now.Longest, at.Time-f.started)
	} else {
		f.lost = true
	}
	f.on = false
}

// lose records that events were lost.
func (f *finalizers) lose() { f.on, f.lost = false, true }

// running returns how long the current run has been in progress, 0 if there is none.
func (f *finalizers) running(at Stamp) int64 {
	if !f.on {
		return 0
	}
	return max(1, at.Time-f.started)
}

// since moves the counts to d, unless d is nil, and starts over.
func (f *finalizers) since(d *FinalizerDetails) {
	if d != nil {
		running := d.Running
		*d = f.now
		d.Running = running
		if d.HasLongest = d.Known && !f.lost; !d.HasLongest {
			d.Longest = 0
		}
	}
	f.now, f.lost = FinalizerDetails{Known: f.now.Known}, false
}
