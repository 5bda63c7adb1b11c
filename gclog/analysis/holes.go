package analysis

import (
	"slices"
	"sort"
)

// holes are the stretches of time that were not observed, in order. None touches another.
type holes []Window

// add adds a stretch. Those that touch become one.
func (h *holes) add(from, to int64) {
	if from >= to {
		return
	}
	list := *h
	i := sort.Search(len(list), func(i int) bool { return list[i].To >= from })
	j := i
	for ; j < len(list) && list[j].From <= to; j++ {
		from, to = min(from, list[j].From), max(to, list[j].To)
	}
	*h = slices.Replace(list, i, j, Window{from, to})
}

// behind adds a pause that begins where the newest hole ends, or goes on there. The program
// ran for it in the hole, at least in part: neither time nor number may count for a share or
// a rate, or these would have pauses without the time between them.
func (h holes) behind(start, end int64) bool {
	if len(h) == 0 {
		return false
	}
	last := &h[len(h)-1]
	if start > last.To || end <= last.To {
		return false
	}
	last.To = end
	return true
}

// touch reports whether any of [from, to) was not observed.
func (h holes) touch(from, to int64) bool {
	i := sort.Search(len(h), func(i int) bool { return h[i].To > from })
	return i < len(h) && h[i].From < to
}

// in calls f with the parts that are in a Window.
func (h holes) in(w Window, f func(from, to int64)) {
	for i := sort.Search(len(h), func(i int) bool { return h[i].To > w.From }); i < len(h) && h[i].From < w.To; i++ {
		f(w.Clip(h[i].From, h[i].To))
	}
}

// between are the parts of a Window that were observed.
func (h holes) between(w Window) (parts []Window) {
	h.in(w, func(from, to int64) {
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
