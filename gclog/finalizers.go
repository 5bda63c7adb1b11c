package gclog

import "github.com/gclog/gclog/parse/clr"

// finalizers counts the runs of the finalizer thread, of which a process has one.
type finalizers struct {
	now   FinalizerDetails // since the previous collection
	begun int64            // of the run that goes on
	on    bool
	lost  bool // the start or the end of a run may be, since the previous collection
}

func (f *finalizers) begin(at Stamp) {
	f.now.Known = true
	f.begun, f.on = at.Time, true
}

func (f *finalizers) end(at Stamp, e *clr.GCFinalizersEnd) {
	f.now.Known = true
	f.now.Runs++
	f.now.Objects += uint64(e.Count)
	if f.on {
		f.now.Longest = max(f.now.Longest, at.Time-f.begun)
	} else {
		f.lost = true
	}
	f.on = false
}

// lose notes that events were lost.
func (f *finalizers) lose() { f.on, f.lost = false, true }

// running is for how long a run has been going on.
func (f *finalizers) running(at Stamp) int64 {
	if !f.on {
		return 0
	}
	return max(1, at.Time-f.begun)
}

// since gives what was counted to d and begins anew; nil is nobody.
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
