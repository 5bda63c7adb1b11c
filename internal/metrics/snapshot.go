package metrics

// A Snapshot is the numbers of a process at a moment.
type Snapshot struct{ state state }

// Save makes s a copy of the view's numbers.
func (v *View) Save(s *Snapshot) { s.state.copyFrom(v.state) }

// Since returns a view whose counters and histograms have what was added since a snapshot of the
// same process; of a histogram without an addition nothing. Its other numbers are those of now.
func (v *View) Since(before *Snapshot) *View {
	now := &state{}
	now.copyFrom(v.state)
	now.subtract(&before.state)
	x := *v
	x.state = now
	return &x
}

func (s *state) subtract(b *state) {
	for g := range s.collections {
		for r := range s.collections[g] {
			s.collections[g][r] -= b.collections[g][r]
		}
		for t := range s.pauses[g] {
			s.pauses[g][t] = difference(s.pauses[g][t], b.pauses[g][t])
		}
		for k := range s.durations[g] {
			for r := range s.durations[g][k] {
				s.durations[g][k][r] = difference(s.durations[g][k][r], b.durations[g][k][r])
			}
		}
	}
	s.suspends = difference(s.suspends, b.suspends)
	for g := range s.allocated {
		s.allocated[g] -= b.allocated[g]
	}
	for i := range s.stalls {
		s.stalls[i] -= b.stalls[i]
	}
	s.paused -= b.paused
	s.otherPaused -= b.otherPaused
	s.promoted -= b.promoted
	s.incomplete -= b.incomplete
	s.missed -= b.missed
	s.lost -= b.lost
	s.dropped -= b.dropped
}

// difference returns what was added to a histogram, nil if that is nothing.
func difference(now, before *Histogram) *Histogram {
	if now == nil || before == nil {
		return now
	}
	if now.add(before, true); now.Count() == 0 {
		return nil
	}
	return now
}
