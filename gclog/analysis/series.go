package analysis

// A series is a value over time, in a bounded number of points. When there are too many, neighbours
// are merged to their mean, with the sum of their weights.
type series struct {
	n      int
	points []point
	width  int64 // points that are closer to each other are merged
}

// mostPoints is how many points a series has at most.
const mostPoints = 128

type point struct {
	first, last int64 // times
	at, value   float64
	weight      float64
}

// forget drops the points before a time.
func (s *series) forget(before int64) {
	old := 0
	for old < s.n && s.points[old].last < before {
		old++
	}
	if old > 0 {
		s.n = copy(s.points, s.points[old:s.n])
	}
}

// add adds a value.
func (s *series) add(at int64, value float64) {
	p := point{at, at, float64(at), value, 1}
	if s.n > 0 && at-s.points[s.n-1].first < s.width {
		s.points[s.n-1].merge(&p)
		return
	}
	if s.n == mostPoints {
		for i := range s.n / 2 {
			s.points[i] = s.points[2*i]
			s.points[i].merge(&s.points[2*i+1])
		}
		s.n /= 2
		s.width = max(2*s.width, (at-s.points[0].first)/int64(s.n))
	}
	s.points = append(s.points[:s.n], p)
	s.n++
}

func (p *point) merge(q *point) {
	weight := p.weight + q.weight
	p.at = (p.at*p.weight + q.at*q.weight) / weight
	p.value = (p.value*p.weight + q.value*q.weight) / weight
	p.last, p.weight = max(p.last, q.last), weight
}

// ends returns the first and the last value.
func (s *series) ends() (first, last float64) {
	if s.n == 0 {
		return 0, 0
	}
	return s.points[0].value, s.points[s.n-1].value
}

// flattens reports whether the values rise more slowly in the end than so much of the rate at which they
// rose in the beginning.
func (s *series) flattens(part float64) bool {
	if s.n < 3 {
		return false
	}
	third := func(k int) (mean point) {
		mean = s.points[k*s.n/3]
		for i := k*s.n/3 + 1; i < (k+1)*s.n/3; i++ {
			mean.merge(&s.points[i])
		}
		return mean
	}
	a, b, c := third(0), third(1), third(2)
	return quotient(c.value-b.value, c.at-b.at) < part*quotient(b.value-a.value, b.at-a.at)
}

// A line is the least-squares fit of a series.
type line struct {
	values float64 // number of values
	span   int64   // from the first to the last, nanoseconds
	begin  float64 // value of the line at the first
	end    float64 // at the last
	fit    float64 // coefficient of determination: 1 for a straight line
}

func (s *series) line() (l line) {
	if s.n == 0 {
		return l
	}
	from := s.points[0].first
	l.span = s.points[s.n-1].last - from
	var t, v float64
	for i := range s.points[:s.n] {
		p := &s.points[i]
		l.values += p.weight
		t += p.weight * (p.at - float64(from))
		v += p.weight * p.value
	}
	t /= l.values
	v /= l.values
	var tt, tv, vv float64
	for i := range s.points[:s.n] {
		p := &s.points[i]
		dt, dv := p.at-float64(from)-t, p.value-v
		tt += p.weight * dt * dt
		tv += p.weight * dt * dv
		vv += p.weight * dv * dv
	}
	slope := 0.0
	if tt > 0 {
		slope = tv / tt
	}
	if tt > 0 && vv > 0 {
		l.fit = tv * tv / (tt * vv)
	}
	l.begin = v - slope*t
	l.end = l.begin + slope*float64(l.span)
	l.begin = max(0, l.begin)
	return l
}

// perHour returns the rise of the line per hour, as a percentage of its start. The start counts as
// at least a hundredth of the end, so that a series that starts near 0 has a percentage.
func (l *line) perHour() float64 {
	return 100 * (l.end - l.begin) / max(1, l.begin, l.end/100) * quotient(3600e9, float64(l.span))
}
