package gclog

import "slices"

// Missing counts records that could not be passed on, and keeps the numbers of their collections.
// The zero value is empty.
type Missing struct {
	Records    uint64 // of all kinds
	LostEvents uint64 // reported by gaps among those records
	runs       [MissingGaps + 1]run
	n          int // number of runs; they are in ascending order and not adjacent
}

// MissingGaps is the maximum number of gaps that a Missing yields. Missing numbers usually form one
// run; exceptions are a background collection, whose record comes late, and numbers reported by
// other gaps.
const MissingGaps = 4

// A run is a range of consecutive numbers.
type run struct{ from, to uint32 }

// Add counts a record, with what a gap among them reports.
func (m *Missing) Add(r Record) {
	m.Records++
	switch r := r.(type) {
	case *Pause:
		m.addNumber(r.UsedNumber)
	case *GCDetails:
		m.addNumber(r.Number)
	case *Gap:
		m.AddGap(r)
	}
}

func (m *Missing) addNumber(number uint32) {
	if number > 0 {
		m.name(run{number, number})
	}
}

// AddGap adds the contents of a gap that cannot be passed on. The collections that a gap of lost
// events names are not missing: they were in progress, and have records of their own.
func (m *Missing) AddGap(g *Gap) {
	m.Records += g.Records
	m.LostEvents += g.LostEvents
	if g.Reason != GapLostEvents && g.To > 0 && g.From <= g.To {
		m.name(run{g.From, g.To})
	}
}

// name adds numbers. If that would make too many runs, the two runs with the fewest numbers between
// them are merged: naming too many collections as missing is better than naming too few.
func (m *Missing) name(r run) {
	m.insert(r)
	if m.n <= MissingGaps {
		return
	}
	at := 0
	distance := func(i int) uint32 { return m.runs[i+1].from - m.runs[i].to }
	for i := range m.n - 1 {
		if distance(i) <= distance(at) {
			at = i
		}
	}
	m.insert(run{m.runs[at].from, m.runs[at+1].to})
}

// insert adds a run, merged with those that it touches.
func (m *Missing) insert(r run) {
	from := 0
	for from < m.n && uint64(m.runs[from].to)+1 < uint64(r.from) {
		from++
	}
	to := from
	for to < m.n && uint64(m.runs[to].from) <= uint64(r.to)+1 {
		r.from, r.to = min(r.from, m.runs[to].from), max(r.to, m.runs[to].to)
		to++
	}
	m.n = len(slices.Replace(m.runs[:m.n], from, to, r))
}

// Names reports whether one of the runs contains all collections of g.
func (m *Missing) Names(g *Gap) bool {
	return slices.ContainsFunc(m.runs[:m.n], func(r run) bool { return r.from <= g.From && g.To <= r.to })
}

// Gaps calls f with each gap, made from g; at least one if anything is missing. No number is in two
// of them. The first has the total number of records and events.
func (m *Missing) Gaps(g Gap, f func(*Gap)) {
	g.Records, g.LostEvents = m.Records, m.LostEvents
	for _, r := range m.runs[:m.n] {
		g.From, g.To = r.from, r.to
		f(&g)
		g.Records, g.LostEvents = 0, 0
	}
	if m.n == 0 && (m.Records > 0 || m.LostEvents > 0) {
		f(&g)
	}
}
