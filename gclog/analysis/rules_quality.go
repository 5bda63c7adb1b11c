package analysis

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
)

func qualityRules() []Rule {
	return []Rule{{
		Number: 26, ID: "data-quality", Severity: Warning,
		Thresholds: []Threshold{
			{Name: "incomplete", Default: 2},
		},
		Basis: BasisHeuristic, need: needNothing,
		judge: func(l limits) judge { return &dataQuality{incomplete: uint64(l["incomplete"])} },
	}}
}

// losses are what is missing in a stretch.
type losses struct {
	damage        string // why the input ends early, "" if it does not
	gaps          uint64
	numbers       uint64 // gaps that only numbers of collections reveal
	lostEvents    uint64
	lostInexact   bool // some losses do not say how many
	missedGCs     uint64
	missedInexact bool   // some numbers are unknown
	records       uint64 // dropped
	complete      uint64 // collections
	incomplete    uint64 // others
	cut           uint64 // incomplete ones without an end or pauses that began in the session
	flawed        ranking
}

func (l *losses) gap(g *gclog.Gap) {
	if g.Reason == gclog.GapReattached && g.From == 0 {
		return // nothing is missing because of that
	}
	l.gaps++
	l.lostEvents += g.LostEvents
	l.lostInexact = l.lostInexact || g.Reason == gclog.GapLostEvents && g.LostEvents == 0
	l.records += g.Records
	switch missed := g.Missed(); {
	case missed > 0:
		l.missedGCs += missed
		l.numbers++
	case g.Reason == gclog.GapMissedGCs:
		l.missedInexact = true
	}
}

func (l *losses) record(d *gclog.GCDetails) {
	if d.Complete {
		l.complete++
		return
	}
	l.incomplete++
	if d.Flaws&gclog.FlawNoStart == 0 && d.Flaws&^gclog.FlawNoSizes != 0 {
		l.cut++
		l.flawed.add(d, 1)
	}
}

type dataQuality struct {
	incomplete uint64
}

func (dataQuality) gc(*judgedGC) {}

func (j *dataQuality) verdict(s *stretch) (f Finding, why string) {
	l := &s.loss
	short := l.gaps > 0 || l.cut > j.incomplete
	switch {
	case l.damage != "":
	case !short:
		return f, ""
	case s.collectionsOnly && l.gaps == l.numbers && l.cut <= j.incomplete:
		return f, noNumbers(l.missedGCs)
	}
	var says []string
	say := func(n uint64, what string, unsure bool) {
		switch {
		case n > 0 && unsure:
			says = append(says, "at least "+plural(n, what))
		case n > 0:
			says = append(says, plural(n, what))
		}
	}
	say(l.lostEvents, "lost event", l.lostInexact)
	missing := "missing collection"
	if s.collectionsOnly {
		missing = "missing GC number"
	}
	say(l.missedGCs, missing, l.missedInexact)
	say(l.records, "dropped record", false)
	say(l.incomplete, "incomplete collection", false)
	if len(says) == 0 {
		says = []string{"an unknown number of missing events or collections"}
	}
	gaps := ""
	if l.gaps > 0 {
		gaps = plural(l.gaps, "gap") + ": "
	}
	if short {
		f.Text = fmt.Sprintf("The data has %s%s.", gaps, strings.Join(says, ", "))
		if s.collectionsOnly && l.missedGCs > 0 {
			f.Text += " No-GC regions use numbers, too, and logs of this format do not record which: some may not be " +
				"collections."
		}
	}
	if l.damage != "" {
		f.Text = strings.TrimSpace(
			fmt.Sprintf("The input is damaged, and everything after the damage is missing: %s. %s", l.damage, f.Text))
	}
	f.GCs = l.flawed.numbers()
	f.Evidence = []Fact{countFact("gaps", l.gaps)}
	if !l.lostInexact {
		f.Evidence = append(f.Evidence, countFact("events.lost", l.lostEvents))
	}
	if !l.missedInexact {
		f.Evidence = append(f.Evidence, countFact("collections.missing", l.missedGCs))
	}
	f.Evidence = append(f.Evidence, []Fact{
		countFact("records.dropped", l.records), countFact("collections.incomplete", l.incomplete),
		countFact("collections.complete", l.complete),
	}...)
	return f, ""
}
