package gclog

import "github.com/gclog/gclog/parse/clr"

// finalizers counts the runs of the finalizer thread; a process has one such thread.
type finalizers struct {
	now     FinalizerDetails // since the previous collection
	seen    bool             // the session has seen a run start or end
	started int64            // start of the run in progress
	on      bool             // a run is in progress
	lost    bool             // the start or end of a run may have been lost since the previous collection
}

func (f *finalizers) begin(at Stamp) {
	f.seen = true
	f.started, f.on = at.Time, true
}

func (f *finalizers) end(at Stamp, e *clr.GCFinalizersEnd) {
	f.seen = true
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

// since moves the counts to c, unless c is nil, and starts over.
func (f *finalizers) since(c *collection) {
	if c != nil {
		c.Known.Set(GroupFinalizers, f.seen)
		c.Known.Set(GroupLongestFinalizers, f.seen && !f.lost)
		if f.lost {
			f.now.Longest = 0
		}
		f.now.Running = c.Finalizers.Running
		c.Finalizers = f.now
	}
	f.now, f.lost = FinalizerDetails{}, false
}
