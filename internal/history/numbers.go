package history

import (
	"slices"

	"github.com/gclog/gclog/gclog"
)

// Numbers finds out which numbers of collections are missing in what is read of a process, whatever
// it is read from, and in which time: between the pauses before and after them. Numbers that no-GC
// regions used up are not missing if their pauses say so.
//
// Pauses arrive in order of time, and their numbers in ascending order, except for those in the
// first suspension of a background collection, and those of a log with very many collections during
// a background one. What is missing is emitted once such numbers can no longer arrive.
type Numbers struct {
	emit    func(*gclog.Gap)
	newest  uint32 // number
	end     int64  // of its pause
	seen    bool   // there was a number
	session *jump  // times only: the end of the session after that pause, and the start of the next session
	jumps   []jump // jumps for which no gap was emitted yet
	known   []jump // numbers only: those that a gap reports as missing
}

// NewNumbers returns a Numbers that emits a gap for each run of missing numbers that no gap has
// reported.
func NewNumbers(emit func(*gclog.Gap)) *Numbers { return &Numbers{emit: emit} }

// A jump is a run of numbers that did not arrive, and the time in which they would have.
type jump struct {
	from, to    uint32
	since, time int64
}

const (
	numbersLate = 1024 // how late a number arrives at most
	mostKnown   = 1024 // maximum number of remembered runs
)

// begin takes the start of a session, and the end of the previous one. A session that continues
// another starts before that has ended.
func (n *Numbers) begin(end, at int64) {
	if at <= end {
		return
	}
	if n.session == nil {
		n.session = &jump{since: end}
	}
	n.session.time = at
}

// Observe takes a record. The record of a collection usually comes after its pauses; a gap may report
// missing numbers.
func (n *Numbers) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		end := r.Start + r.Duration
		switch d := r.GC; {
		case d == nil && r.UsedNumber != 0:
			n.next(r.UsedNumber, r.Start, end, false)
		case d == nil || !d.Known.Has(gclog.GroupNumber):
		case d.Flaws&gclog.FlawNoStart != 0 || r.Kind == gclog.PauseFinal:
			n.fill(d.Number) // it started long ago
		default:
			n.next(d.Number, r.Start, end, r.Kind == gclog.PauseBlocking)
		}
	case *gclog.GCDetails:
		switch {
		case !r.Known.Has(gclog.GroupNumber):
		case len(r.Pauses) == 0 && r.Flaws&gclog.FlawNoStart == 0:
			n.next(r.Number, r.Start, max(r.Start, r.End), false)
		default:
			n.fill(r.Number)
		}
	case *gclog.Gap:
		if r.From == 0 {
			return
		}
		if len(n.known) == mostKnown {
			n.known = slices.Delete(n.known, 0, 1)
		}
		n.known = append(n.known, jump{from: r.From, to: r.To})
	}
}

// next takes the next number, with the time of its pause. ordered means that it is larger than
// those before it, unless numbering has restarted.
func (n *Numbers) next(number uint32, start, end int64, ordered bool) {
	switch {
	case !n.seen:
	case number == n.newest:
		n.end = max(n.end, end)
		return
	case number < n.newest:
		if !n.fill(number) && ordered {
			n.anew(start)
			break
		}
		return
	case number > n.newest+1:
		j := jump{n.newest + 1, number - 1, n.end, max(n.end, start)}
		if n.session != nil {
			j.since, j.time = n.session.since, n.session.time
		}
		n.jumps = append(n.jumps, j)
	}
	n.newest, n.end, n.seen, n.session = number, end, true, nil
	for len(n.jumps) > 0 && n.newest-n.jumps[0].to > numbersLate {
		n.settle()
	}
}

// fill takes a number that arrives late, and reports whether it was missing.
func (n *Numbers) fill(number uint32) bool {
	for i := range n.jumps {
		if j := n.jumps[i]; j.from <= number && number <= j.to {
			n.jumps = slices.Replace(n.jumps, i, i+1, j.without(jump{from: number, to: number})...)
			return true
		}
	}
	return false
}

// without returns the runs that remain when a part is removed.
func (j jump) without(part jump) (rest []jump) {
	if part.to < j.from || part.from > j.to {
		return []jump{j}
	}
	if before := j; part.from > j.from {
		before.to = part.from - 1
		rest = append(rest, before)
	}
	if after := j; part.to < j.to {
		after.from = part.to + 1
		rest = append(rest, after)
	}
	return rest
}

// anew starts over with the numbers of another process.
func (n *Numbers) anew(at int64) {
	n.Finish()
	n.known = nil
	n.emit(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: n.end, Time: max(n.end, at)})
}

// settle emits what is missing of the first jump.
func (n *Numbers) settle() {
	all := n.jumps[0]
	rest := []jump{all}
	n.jumps = slices.Delete(n.jumps, 0, 1)
	for _, k := range n.known {
		if k.to < all.from || k.from > all.to {
			continue // as most: there may be a jump at each collection
		}
		var left []jump
		for _, j := range rest {
			left = append(left, j.without(k)...)
		}
		rest = left
	}
	for _, j := range rest {
		n.emit(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: j.since, Time: j.time, From: j.from, To: j.to})
	}
}

// Finish emits what is missing at the end of the input.
func (n *Numbers) Finish() {
	for len(n.jumps) > 0 {
		n.settle()
	}
}
