package analysis

import "github.com/gclog/gclog/gclog"

// parts is how many parts a standing divides its width into.
const parts = 600

// A standing finds the stretch of a given width in which the program stood longest. It
// looks at stretches that end at a multiple of width/parts: what it finds is short of
// the worst by one such part at most, 0.17 % of the width.
type standing struct {
	width, part int64
	ring        [parts]part
	current     int64 // number of the newest part
	started     bool
	sum         int64 // of the ring
	keepOver    int64 // nanoseconds; what is not more than that needs no ranking

	most  int64 // nanoseconds that the program stood in the worst stretch
	until int64 // its end
	worst ranking
}

type part struct {
	paused  int64
	longest int64 // of the pauses that ended in it and have a collection with a number
	number  uint32
}

func (s *standing) init(width int64, overPercent float64) {
	s.part = max(1, width/parts)
	s.width = s.part * parts
	s.keepOver = int64(overPercent / 100 * float64(s.width))
}

// add takes a pause. Pauses come in time order.
func (s *standing) add(d *gclog.GCDetails, start, end int64) {
	first, last := floorDiv(start, s.part), floorDiv(end-1, s.part)
	// What is longer than the ring twice over fills it as well.
	first = max(first, last-2*parts)
	for at := first; at <= last; at++ {
		s.moveTo(at)
		if at <= s.current-parts {
			continue
		}
		time := min(end, (at+1)*s.part) - max(start, at*s.part)
		x := &s.ring[index(at)]
		x.paused += time
		s.sum += time
	}
	if x := &s.ring[index(last)]; last > s.current-parts && end-start > x.longest && d != nil && d.HasNumber {
		x.longest, x.number = end-start, d.Number
	}
}

// moveTo makes part at the newest, if it is newer.
func (s *standing) moveTo(at int64) {
	if !s.started {
		s.started, s.current = true, at
		return
	}
	for s.current < at {
		s.weigh()
		if at-s.current >= parts { // nothing of the ring remains
			s.ring, s.sum, s.current = [parts]part{}, 0, at
			return
		}
		s.current++
		x := &s.ring[index(s.current)]
		s.sum -= x.paused
		*x = part{}
	}
}

// weigh looks at the stretch that ends with the newest part.
func (s *standing) weigh() {
	if s.sum <= s.most {
		return
	}
	s.most, s.until = s.sum, (s.current+1)*s.part
	if s.most <= s.keepOver {
		return
	}
	s.worst = ranking{}
	least := int64(0)
	for i := range s.ring {
		x := &s.ring[i]
		if x.longest <= least {
			continue
		}
		s.worst.addNumber(x.number, float64(x.longest))
		if s.worst.n == len(s.worst.list) {
			least = int64(s.worst.list[s.worst.n-1].weight)
		}
	}
}

func index(part int64) int64 { return (part%parts + parts) % parts }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}
