package analysis

import (
	"slices"
	"sort"

	"github.com/gclog/gclog/gclog"
)

// Missing is a stretch of time that was not observed, or not completely: there may have been pauses
// that are unknown. Its ends belong to it.
type Missing struct {
	Window
	Why string
}

// noSession is why nothing is known between two sessions. Logs without numbers of collections and
// without records of sessions may contain a session there, and not report it.
const noSession = "no known session"

// missingOf returns where and why something is missing for a Gap, given when the last record was
// seen. It reports whether nothing was observed there: after lost events the rest was, and times
// without a session are reported by Begin.
func missingOf(g *gclog.Gap, since int64) (m Missing, unobserved bool) {
	m = Missing{Window{since, g.Time}, "records were dropped"}
	if g.Since != 0 {
		m.From = g.Since
	}
	switch g.Reason {
	case gclog.GapLostEvents:
		m.Why = "events were lost"
		return m, false
	case gclog.GapReattached:
		m.Why = noSession
		return m, false
	case gclog.GapMissedGCs:
		m.Why = "collection numbers are missing"
		if g.From == 0 {
			m.Why = "the collection numbers start over"
		}
	}
	return m, true
}

// gaps are stretches in order. None touches another.
type gaps []Missing

// add adds a stretch. Stretches that touch are merged, with the reason of the first.
func (list *gaps) add(m Missing) {
	m.From = min(m.From, m.To)
	at, all := list.near(m.From, m.To)
	if len(all) > 0 {
		m = Missing{Window{min(m.From, all[0].From), max(m.To, all[len(all)-1].To)}, all[0].Why}
	}
	*list = slices.Replace(*list, at, at+len(all), m)
}

// near returns the stretches that touch [from, to], and the index of the first.
func (list gaps) near(from, to int64) (at int, all gaps) {
	at = sort.Search(len(list), func(i int) bool { return list[i].To >= from })
	end := at + sort.Search(len(list)-at, func(i int) bool { return list[at+i].From > to })
	return at, list[at:end]
}

// in calls f with the parts that are in a Window.
func (list gaps) in(w Window, f func(from, to int64)) {
	_, all := list.near(w.From, w.To)
	for _, m := range all {
		if from, to := w.Clip(m.From, m.To); from < to {
			f(from, to)
		}
	}
}

// length returns the total of the stretches in a Window.
func (list gaps) length(w Window) (sum int64) {
	list.in(w, func(from, to int64) { sum += to - from })
	return sum
}

// touch reports whether any of [from, to) is missing.
func (list gaps) touch(from, to int64) (yes bool) {
	list.in(Window{from, to}, func(int64, int64) { yes = true })
	return yes
}

// between returns the other parts of a Window.
func (list gaps) between(w Window) (parts []Window) {
	list.in(w, func(from, to int64) {
		if from > w.From {
			parts = append(parts, Window{w.From, from})
		}
		w.From = to
	})
	if w.From < w.To {
		parts = append(parts, w)
	}
	return parts
}

// extend adds a pause that begins in the latest stretch or at its end, and ends later. The program
// ran before that pause, at least partially within the stretch: neither time nor number of the
// pause may count for a share or a rate, or these would include a pause without the running time
// before it.
func (list gaps) extend(start, end int64) bool {
	if len(list) == 0 {
		return false
	}
	last := &list[len(list)-1]
	if start > last.To || end <= last.To {
		return false
	}
	last.To = end
	return true
}
