package gclog

// Missing counts records that could not be passed on, and says of which collections they
// were. The zero value is empty.
type Missing struct {
	Records uint64 // of all kinds
	ranges  [MissingGaps]numbers
	n       int
}

// MissingGaps is how many gaps a Missing comes to at most. Numbers are missing in one run,
// but for that of a background collection, whose record comes late.
const MissingGaps = 4

// numbers is a run of numbers.
type numbers struct{ from, to uint32 }

// Add counts a record. number is that of the collection whose record it is, 0 if it is
// none.
func (m *Missing) Add(number uint32) {
	m.Records++
	if number == 0 {
		return
	}
	for i := range m.ranges[:m.n] {
		switch r := &m.ranges[i]; {
		case number >= r.from && number <= r.to:
			return
		case number == r.to+1:
			r.to = number
			m.join()
			return
		case number+1 == r.from:
			r.from = number
			m.join()
			return
		}
	}
	if m.n < len(m.ranges) {
		m.ranges[m.n] = numbers{number, number}
		m.n++
		return
	}
	last := &m.ranges[m.n-1] // more than it should be is better than less
	last.from, last.to = min(last.from, number), max(last.to, number)
}

// join makes one run of two between which no number is missing any more.
func (m *Missing) join() {
	for i := range m.ranges[:m.n] {
		for j := range m.ranges[:m.n] {
			if m.ranges[i].to+1 == m.ranges[j].from {
				m.ranges[i].to = m.ranges[j].to
				m.n--
				m.ranges[j] = m.ranges[m.n]
				return
			}
		}
	}
}

// Gaps calls f with the gaps that it comes to, made of g, at least one if there is
// anything. The first has the records of all.
func (m *Missing) Gaps(g Gap, f func(*Gap)) {
	g.Records = m.Records
	for i := range m.ranges[:m.n] {
		g.From, g.To = m.ranges[i].from, m.ranges[i].to
		f(&g)
		g.Records = 0
	}
	if m.n == 0 && m.Records > 0 {
		f(&g)
	}
}
