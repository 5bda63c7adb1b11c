package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
)

// comparison compares the collection with those of its generation and kind.
func (x *explainer) comparison() {
	d := x.d
	if x.c.Peers == nil {
		x.lacks("how it compares", "there are no other collections to compare it with")
		return
	}
	of := x.c.Peers.of(d)
	switch {
	case d.HeapDump:
		x.lacks("how it compares", "it was for a heap snapshot: its pause includes a walk of the heap")
		return
	case !pauseSeen(d):
		x.lacks("how it compares", "its own pause was not fully recorded")
		return
	case len(of.pauses) < 2:
		x.lacks("how it compares", fmt.Sprintf("it was the only %s observed", collectionText(d)))
		return
	}
	pause, longer := d.Pause(), 0
	for _, v := range of.pauses {
		if v > pause {
			longer++
		}
	}
	n := len(of.pauses)
	at := nearestRank(of.pauses)
	median, p99 := at(500), at(990)
	place := fmt.Sprintf("the %s longest of %d", ordinal(longer+1), n)
	switch longer {
	case 0:
		place = fmt.Sprintf("the longest of %d", n)
	case n - 1:
		place = fmt.Sprintf("the shortest of %d", n)
	}
	text := fmt.Sprintf("Its pause was %s %ss", place, collectionText(d))
	facts := []Fact{
		timeFact("dotnet.gc.pause.total", pause), countFact("rank", longer+1), countFact("peers", n),
		timeFact("pause.median", median),
	}
	against, ratio := against(float64(pause), median, "their median of "+durationText(median))
	text += ", " + against
	facts = append(facts, ratio...)
	if uint64(n) >= leastValues(990) {
		text += fmt.Sprintf("; their p99 is %s", durationText(p99))
		facts = append(facts, timeFact("pause.p99", p99))
	}
	x.say(&x.e.Comparison, "pause", text+".", facts...)
	x.promotedAgainst(of)
}

// promotedAgainst compares the promoted bytes: a pause that is long for them is worth a look.
func (x *explainer) promotedAgainst(of *peers) {
	d := x.d
	if !d.Known.Has(gclog.GroupPromoted) {
		return // the result lists it as unknown
	}
	if len(of.promoted) < 2 {
		x.lacks("its promoted bytes compared with those of others",
			x.whyUnknown("fewer than two of them report theirs"))
		return
	}
	median := nearestRank(of.promoted)(500)
	facts := []Fact{bytesFact("dotnet.gc.heap.promoted", d.PromotedBytes), bytesFact("promoted.median", median)}
	against, ratio := against(float64(d.PromotedBytes), median, "their median of "+sizeText(median))
	x.say(&x.e.Comparison, "promoted", "It promoted "+bytesText(d.PromotedBytes)+", "+against+".",
		append(facts, ratio...)...)
}

// against compares a value with a median; if their ratio is named it is a fact.
func against(v, median float64, what string) (text string, ratio []Fact) {
	if median <= 0 {
		if v <= 0 {
			return "the same as " + what, nil
		}
		return "more than " + what, nil
	}
	if r := v / median; r < 0.95 || r > 1.05 {
		return fmt.Sprintf("%s %s", timesText(r), what), []Fact{countFact("ratio", r)}
	}
	return "about " + what, nil
}
