package analysis

import "math"

// slot is the resolution of recent.
const slot = 100_000_000

// recentSlots is the longest window of recent.
const recentSlots = int(5 * 60 * 1e9 / slot)

// recent finds the worst windows while time goes on, in bounded memory: windows
// begin at multiples of slot since the start.
type recent struct {
	stood   [recentSlots + 1]int64 // of each slot, at its number modulo the length
	now     int64                  // number of the slot that is open
	first   int64                  // number of the first one after what was not observed
	windows [len(shareLengths)]struct {
		sum, worst int64
		at         int64 // slot with which the worst began
		full       bool  // there was one
	}
}

// latest is where time ends for recent: a damaged log may hold any.
const latest = math.MaxInt64 - slot

// add adds a stop, in nanoseconds since the start. Stops come in order. Of one that
// fills all windows, enough to fill them counts.
func (r *recent) add(start, end int64) {
	end = min(end, latest)
	start = max(start, 0, end-2*slot*int64(recentSlots))
	for start < end {
		r.upTo(start)
		next := min(end, (r.now+1)*slot)
		*r.at(r.now) += max(0, next-max(start, r.now*slot)) // what is in a slot that is closed is too late
		start = next
	}
}

// skip leaves out the time [from, to), and all windows that reach into it.
func (r *recent) skip(from, to int64) {
	r.upTo(from)
	r.first = max(r.first, (min(to, latest)+slot-1)/slot)
}

// upTo closes the slots that are over at a time.
func (r *recent) upTo(at int64) {
	at = min(at, latest)
	for n := 0; r.now < at/slot; n++ {
		if n > len(r.stood) { // nothing is left in any window
			r.now = at / slot
			return
		}
		r.close()
	}
}

func (r *recent) at(number int64) *int64 { return &r.stood[number%int64(len(r.stood))] }

func (r *recent) close() {
	for i := range r.windows {
		w, length := &r.windows[i], int64(shareLengths[i])/slot
		w.sum += *r.at(r.now)
		if r.now >= length {
			w.sum -= *r.at(r.now - length)
		}
		if first := r.now - length + 1; first >= r.first && (w.sum > w.worst || !w.full) {
			w.worst, w.at, w.full = w.sum, first, true
		}
	}
	r.now++
	*r.at(r.now) = 0
}
