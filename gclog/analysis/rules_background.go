package analysis

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
)

func backgroundRules() []Rule {
	return []Rule{{
		Number: 20, ID: "background-behind", Severity: Warning,
		Thresholds: []Threshold{
			{Name: "wait", Unit: "ns", Default: 200e6},
			{Name: "final", Unit: "ns", Default: 50e6},
			{Name: "foreground", Default: 20},
			{Name: "gap", Unit: "ns", Default: 1e9},
			{Name: "count", Default: 3},
		},
		Basis: BasisPerfView, need: needGen2,
		judge: func(l limits) judge {
			return &backgroundLag{
				wait: int64(l["wait"]), final: int64(l["final"]), gap: int64(l["gap"]),
				foreground: uint64(l["foreground"]), least: l.count(),
			}
		},
	}}
}

type backgroundLag struct {
	wait, final, gap  int64
	foreground, least uint64

	all         uint64
	private     bool   // waits are reported
	foregrounds uint64 // since the last background collection
	lastEnd     int64

	crowded, following uint64
	mostForegrounds    uint64
	longestWait        int64
	waits              int64
	longestFinal       int64
	finals             uint64
	paused             int64 // by long second pauses
	worst              ranking
}

func (j *backgroundLag) gc(x *judgedGC) {
	if x.Kind == gclog.KindForeground {
		j.foregrounds++
	}
	if !x.background {
		return
	}
	j.all++
	bad := false
	final := x.FinalPause()
	j.longestFinal = max(j.longestFinal, final)
	if final > j.final {
		j.finals++
		j.paused += final
		bad = true
	}
	if j.foregrounds > j.foreground {
		j.crowded++
		bad = true
	}
	j.mostForegrounds = max(j.mostForegrounds, j.foregrounds)
	j.foregrounds = 0
	if j.all > 1 && x.Start-j.lastEnd < j.gap {
		j.following++
		bad = true
	}
	j.lastEnd = x.End
	if b := x.Background; b != nil {
		for _, at := range b.Phase {
			j.private = j.private || at != 0
		}
		j.private = j.private || b.WaitCount > 0
		j.longestWait = max(j.longestWait, b.WaitMax)
		if b.WaitMax > j.wait {
			j.waits++
			bad = true
		}
	}
	if bad {
		j.worst.add(x.GCDetails, float64(x.pause))
	}
}

func (j *backgroundLag) verdict(s *stretch) (f Finding, why string) {
	if j.all == 0 {
		return f, "no background collection was recorded"
	}
	var says []string
	if j.waits > 0 {
		f.Severity = Warning // the pauses are not what it costs
		says = append(says, fmt.Sprintf("allocations of large objects waited for %s, up to %s",
			plural(uint64(j.waits), "background collection"), durationText(float64(j.longestWait))))
	}
	if j.finals > 1 {
		says = append(says, fmt.Sprintf("%s had a second pause of up to %s",
			plural(j.finals, "background collection"), durationText(float64(j.longestFinal))))
	}
	if j.crowded >= j.least {
		says = append(says, fmt.Sprintf("%s had more than %d foreground collections, up to %d",
			plural(j.crowded, "background collection"), j.foreground, j.mostForegrounds))
	}
	if j.following >= j.least {
		says = append(says, fmt.Sprintf("%s started within %s of the end of the previous one",
			plural(j.following, "background collection"), durationText(float64(j.gap))))
	}
	if len(says) == 0 {
		if !j.private {
			return f, "no event reports whether allocations waited for background collections (level normal records " +
				"that); the other checks of the rule found nothing"
		}
		return f, ""
	}
	text := strings.Join(says, "; ")
	f.Text = fmt.Sprintf("%s%s (of %s).", strings.ToUpper(text[:1]), text[1:], plural(j.all, "background collection"))
	f.Explains.Paused = s.ofPauses(j.paused)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("background", j.all), countFact("background.long-final", j.finals),
		timeFact("final-pause.max", j.longestFinal), countFact("background.crowded", j.crowded),
		countFact("foreground.over", j.foreground), countFact("foreground.max", j.mostForegrounds),
		countFact("background.following", j.following), timeFact("background.following.gap", j.gap),
	}
	if j.private {
		f.Evidence = append(f.Evidence, countFact("background.waited-for", j.waits),
			timeFact("wait.max", j.longestWait))
	}
	return f, ""
}
