package gclog

// A Stall is something that has begun and not ended for so long that people want
// to know.
type Stall struct {
	Open
	Now       int64 // nanoseconds since the sync point
	Threshold int64 // nanoseconds that were exceeded
}

// StallThresholds are the ages at which a Stall is told, in nanoseconds.
var StallThresholds = [...]int64{1e9, 10e9, 60e9}

// A StallWatch tells what stays open, once for each threshold that it exceeds.
// The runtime sends its events also while the program stands, so that a pause
// can be told while it lasts.
type StallWatch struct {
	told []stallKey
	open []Open
	next []stallKey
}

type stallKey struct {
	kind      OpenKind
	since     int64
	threshold int // how many were told
}

// Check looks at what is open at the time now and tells what is due.
func (w *StallWatch) Check(r *Reducer, now int64, tell func(*Stall)) {
	w.open = r.AppendOpen(w.open[:0])
	w.next = w.next[:0]
	for i := range w.open {
		o := &w.open[i]
		key := stallKey{kind: o.Kind, since: o.Since}
		for _, old := range w.told {
			if old.kind == key.kind && old.since == key.since {
				key.threshold = old.threshold
			}
		}
		for key.threshold < len(StallThresholds) && now-o.Since >= StallThresholds[key.threshold] {
			// Of several that are due at once only the last is news.
			if key.threshold+1 == len(StallThresholds) || now-o.Since < StallThresholds[key.threshold+1] {
				tell(&Stall{Open: *o, Now: now, Threshold: StallThresholds[key.threshold]})
			}
			key.threshold++
		}
		w.next = append(w.next, key)
	}
	w.told, w.next = w.next, w.told
}
