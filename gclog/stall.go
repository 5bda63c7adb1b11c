package gclog

// A Stall is something that has been open for longer than a threshold.
type Stall struct {
	Open
	Now       int64 // nanoseconds since the sync point
	Threshold int64 // threshold that was exceeded, in nanoseconds
}

// StallThresholds are the ages at which a Stall is reported, in nanoseconds.
var StallThresholds = [...]int64{1e9, 10e9, 60e9}

// A StallWatch reports what stays open, once for each threshold that it exceeds. The runtime sends
// its events even while the program is paused, so that a pause can be reported before it ends.
type StallWatch struct {
	reported []stallKey // what was open at the last Check
	open     []Open     // what is open now, for Check only
	next     []stallKey // replaces reported at the end of Check
}

type stallKey struct {
	kind      OpenKind
	since     int64
	threshold int // how many thresholds were reported
}

// Check examines what is open at the time now and reports each Stall that is due.
func (w *StallWatch) Check(r *Reducer, now int64, report func(*Stall)) {
	w.open = r.AppendOpen(w.open[:0])
	w.next = w.next[:0]
	for i := range w.open {
		o := &w.open[i]
		key := stallKey{kind: o.Kind, since: o.Since}
		for _, old := range w.reported {
			if old.kind == key.kind && old.since == key.since {
				key.threshold = old.threshold
			}
		}
		for key.threshold < len(StallThresholds) && now-o.Since >= StallThresholds[key.threshold] {
			// If several thresholds are due at once, only the last is reported.
			if key.threshold+1 == len(StallThresholds) || now-o.Since < StallThresholds[key.threshold+1] {
				report(&Stall{Open: *o, Now: now, Threshold: StallThresholds[key.threshold]})
			}
			key.threshold++
		}
		w.next = append(w.next, key)
	}
	w.reported, w.next = w.next, w.reported
}
