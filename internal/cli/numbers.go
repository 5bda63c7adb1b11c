package cli

import (
	"slices"

	"github.com/gclog/gclog/gclog"
)

// numbers finds out which numbers of collections are missing in a history, whatever it is
// read from, and when those were: between the pauses that are known before and behind.
//
// Pauses come in the order of time, and so do their numbers, but for those in the first
// suspension of a background collection, and those of a log with very many collections in a
// background one. What is missing is told once that is over.
type numbers struct {
	tell    func(*gclog.Gap)
	newest  uint32 // number
	end     int64  // of its pause
	seen    bool   // there was one
	session *jump  // times only: the end of a session behind that, and the begin of the next
	jumps   []jump // of which it is not told yet what is missing
	known   []jump // numbers only: what somebody else told to be missing
}

// A jump is a run of numbers that did not come, and the time in which they would have.
type jump struct {
	from, to    uint32
	since, time int64
}

const (
	numbersBehind = 1024 // that a number comes late at most
	mostKnown     = 1024 // runs that are remembered
)

// begin tells that a session began, and when the one before had ended. One that goes on
// where that ended begins earlier.
func (n *numbers) begin(end, at int64) {
	if at <= end {
		return
	}
	if n.session == nil {
		n.session = &jump{since: end}
	}
	n.session.time = at
}

// pause takes a pause.
func (n *numbers) pause(p *gclog.Pause) {
	end := p.Start + p.Duration
	switch d := p.GC; {
	case d == nil && p.UsedNumber != 0:
		n.next(p.UsedNumber, p.Start, end, false)
	case d == nil || !d.HasNumber:
	case d.Flaws&gclog.FlawNoStart != 0 || p.Kind == gclog.PauseFinal:
		n.fill(d.Number) // it began long ago
	default:
		n.next(d.Number, p.Start, end, p.Kind == gclog.PauseBlocking)
	}
}

// gc takes a record. Mostly its pauses were there before.
func (n *numbers) gc(d *gclog.GCDetails) {
	switch {
	case !d.HasNumber:
	case len(d.Pauses) == 0 && d.Flaws&gclog.FlawNoStart == 0:
		n.next(d.Number, d.Start, max(d.Start, d.End), false)
	default:
		n.fill(d.Number)
	}
}

// gap takes what is missing and known to be.
func (n *numbers) gap(g *gclog.Gap) {
	if g.From == 0 {
		return
	}
	if len(n.known) == mostKnown {
		n.known = slices.Delete(n.known, 0, 1)
	}
	n.known = append(n.known, jump{from: g.From, to: g.To})
}

// next takes a number in turn, with the time that it stood for. ordered says that it is not
// smaller than those before, unless they begin anew.
func (n *numbers) next(number uint32, start, end int64, ordered bool) {
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
	for len(n.jumps) > 0 && n.newest-n.jumps[0].to > numbersBehind {
		n.settle()
	}
}

// fill takes a number that comes late. It is false if that was not missing.
func (n *numbers) fill(number uint32) bool {
	for i := range n.jumps {
		if j := n.jumps[i]; j.from <= number && number <= j.to {
			n.jumps = slices.Replace(n.jumps, i, i+1, j.without(jump{from: number, to: number})...)
			return true
		}
	}
	return false
}

// without are the runs that remain without a part.
func (j jump) without(part jump) (rest []jump) {
	if part.to < j.from || part.from > j.to {
		return []jump{j}
	}
	if before := j; part.from > j.from {
		before.to = part.from - 1
		rest = append(rest, before)
	}
	if behind := j; part.to < j.to {
		behind.from = part.to + 1
		rest = append(rest, behind)
	}
	return rest
}

// anew begins with the numbers of another process.
func (n *numbers) anew(at int64) {
	n.finish()
	n.known = nil
	n.tell(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: n.end, Time: max(n.end, at)})
}

// settle tells what is missing of the first jump.
func (n *numbers) settle() {
	rest := []jump{n.jumps[0]}
	n.jumps = slices.Delete(n.jumps, 0, 1)
	for _, k := range n.known {
		var left []jump
		for _, j := range rest {
			left = append(left, j.without(k)...)
		}
		rest = left
	}
	for _, j := range rest {
		n.tell(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: j.since, Time: j.time, From: j.from, To: j.to})
	}
}

// finish tells what is missing when nothing more comes.
func (n *numbers) finish() {
	for len(n.jumps) > 0 {
		n.settle()
	}
}
