package analysis

import (
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// A sliding finds the stretches of given lengths in which the program was paused longest, as time
// advances. It only considers stretches that begin with a pause, or where the observation began:
// any other can be moved to one of these and loses nothing.
//
// The slot bounds its memory: of pauses that begin within a slot only the first begins a stretch,
// so that the result is short of the worst by less than a slot. With a slot of 0 it is exact. No
// stretch may be shorter than the slot.
type sliding struct {
	slot    int64
	starts  pages[start] // those that the longest stretch still reaches, and some earlier ones
	end     int64        // end of the latest pause
	windows []longest
}

// A start is where a stretch may begin: with a pause, or with the pauses in a slot.
type start struct {
	at, paused int64
	most       uint32 // microseconds of the longest of the pauses whose collection has a number
	number     uint32
}

// longest is the stretch of a length in which the program was paused longest.
type longest struct {
	length int64
	head   int   // index of the first start whose stretch has not ended
	sum    int64 // sum of the pauses from there on
	paused int64 // in the worst stretch; negative: no stretch of this length was observed completely
	at     int64 // where that begins
	worst  ranking
	// Stretches with at most this much pause are not ranked.
	unranked int64
}

func newSliding[D ~int64](slot int64, lengths ...D) sliding {
	s := sliding{slot: slot}
	for _, length := range lengths {
		s.windows = append(s.windows, longest{length: int64(length), paused: -1, unranked: math.MaxInt64})
	}
	return s
}

// begin starts over, after a time that was not observed.
func (s *sliding) begin(at int64) {
	s.end, s.starts.n = at, 0
	s.starts.add(start{at: at})
	for i := range s.windows {
		s.windows[i].head, s.windows[i].sum = 0, 0
	}
}

// skip leaves out a time, and all stretches that overlap it.
func (s *sliding) skip(from, to int64) {
	s.finish(from)
	if s.starts.n > 0 {
		to = max(to, s.end)
	}
	s.begin(to)
}

// add adds a pause. Pauses come in the order of their starts; the overlap of two counts once.
func (s *sliding) add(from, to int64, d *gclog.GCDetails) {
	if s.starts.n == 0 {
		s.begin(from)
	}
	if from = max(from, s.end); from >= to {
		return
	}
	s.upTo(from)
	if last := s.starts.at(s.starts.n - 1); from != last.at && from-last.at >= s.slot {
		s.forget()
		s.starts.add(start{at: from})
	}
	last := s.starts.at(s.starts.n - 1)
	last.paused += to - from
	most := uint32(min((to-from)/1000, math.MaxUint32))
	if d != nil && d.Known.Has(gclog.GroupNumber) && (most > last.most || last.number == 0) {
		last.most, last.number = most, d.Number
	}
	for i := range s.windows {
		s.windows[i].sum += to - from
	}
	s.end = to
}

// forget drops, from time to time, the starts that no stretch can reach any more.
func (s *sliding) forget() {
	if s.starts.n%pageSize != 0 {
		return
	}
	old := s.starts.n
	for i := range s.windows {
		old = min(old, s.windows[i].head-1)
	}
	old = s.starts.drop(old)
	for i := range s.windows {
		s.windows[i].head -= old
	}
}

// upTo considers the stretches that have ended by a time.
func (s *sliding) upTo(now int64) {
	for i := range s.windows {
		w := &s.windows[i]
		for w.head < s.starts.n && s.starts.at(w.head).at <= now-w.length {
			begin := s.starts.at(w.head).at
			s.weigh(w, begin, w.sum-max(0, s.end-begin-w.length))
			w.sum -= s.starts.at(w.head).paused
			w.head++
		}
	}
}

// worst returns the worst stretches if the observation ends, or is interrupted, at a time. It may
// continue after that.
func (s *sliding) worst(end int64) []longest {
	last := *s
	last.windows = slices.Clone(s.windows)
	last.finish(end)
	return last.windows
}

// finish also considers the last stretches: those that end with the observation.
func (s *sliding) finish(end int64) {
	end = max(end, s.end)
	s.upTo(end)
	for i := range s.windows {
		w := &s.windows[i]
		if w.head == 0 { // the observation was shorter
			continue
		}
		begin, before := end-w.length, s.starts.at(w.head-1)
		w.head--
		s.weigh(w, begin, w.sum+max(0, before.paused-(begin-before.at)))
		w.head++
	}
}

// weigh considers a stretch that begins with the start at the head of w.
func (s *sliding) weigh(w *longest, begin, paused int64) {
	if paused <= w.paused {
		return
	}
	w.paused, w.at = paused, begin
	if paused <= w.unranked {
		return
	}
	w.worst = ranking{}
	for i := w.head; i < s.starts.n; i++ {
		if x := s.starts.at(i); x.number > 0 {
			w.worst.addNumber(x.number, float64(x.most))
		}
	}
}
