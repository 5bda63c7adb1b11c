package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func limitRules() []Rule {
	return []Rule{{
		Number: 19, ID: "hard-limit", Severity: Warning,
		Thresholds: []Threshold{
			{Name: "over", Unit: "%", Default: 80},
		},
		Basis: BasisMicrosoft, need: needCollections,
		judge: func(l limits) judge { return &hardLimit{over: l["over"]} },
	}}
}

// beforeOOM are the conditions of what the GC considers the last attempt.
const beforeOOM = clr.CondemnedBeforeOOM | clr.CondemnedLimitBeforeOOM

// nearLimit are the conditions of collections caused by the limit, or by the last attempt.
const nearLimit = beforeOOM | clr.CondemnedLimitLOHFragmented | clr.CondemnedLimitLOHReclaim

// hardLimit keeps sizes, because the limit may be reported later.
type hardLimit struct {
	over      float64
	condemned bool
	last      uint64 // last attempts before an OutOfMemoryException
	limited   uint64 // collections caused by the limit
	causes    causeCount
	facts     ranking
	paused    int64   // by these and by gen2 collections
	most      float64 // most committed memory after a collection, or else the largest heap
	committed bool    // most is committed memory
	bySize    ranking
	cgroup    uint64 // latest limit
}

func (j *hardLimit) gc(x *judgedGC) {
	j.condemned = j.condemned || x.condemned
	if limited := x.conditions & nearLimit; limited != 0 {
		j.causes.add(limited)
		j.limited++
		if limited&beforeOOM != 0 {
			j.last++
		}
		j.facts.add(x.GCDetails, float64(x.pause))
	}
	if x.isGen2 || x.conditions&nearLimit != 0 {
		j.paused += x.pause
	}
	if x.Memory.CgroupLimit != 0 {
		j.cgroup = x.Memory.CgroupLimit
	}
	size, committed := 0.0, x.Known.Has(gclog.GroupCommittedAfter)
	switch {
	case committed:
		size = float64(x.CommittedAfter)
	case x.Known.Has(gclog.GroupAfter):
		size = x.after
	}
	if size > j.most {
		j.most, j.committed = size, committed
	}
	j.bySize.add(x.GCDetails, size)
}

func (j *hardLimit) verdict(s *stretch) (f Finding, why string) {
	limit, name := float64(j.cgroup), "memory limit of the control group"
	if s.process.HasLimits && s.process.Limits.HardLimit > 0 {
		limit, name = float64(s.process.Limits.HardLimit), "hard limit of the heap"
	}
	what, measure := "the heap was", "size.max"
	if j.committed { // the limit applies to that
		what, measure = "the GC had committed", "committed.max"
	}
	if j.most > 0 {
		f.Evidence = append(f.Evidence, bytesFact(measure, j.most))
	}
	share := 0.0
	against := "; no limit is reported"
	if j.causes.any(nearLimit &^ clr.CondemnedBeforeOOM) {
		against = "; the hard limit is not reported"
	}
	if limit > 0 && j.most > 0 {
		share = percent(j.most, limit)
		against = fmt.Sprintf(", %s of the %s (%s)", valueText(share, "%"), name, sizeText(limit))
		f.Evidence = append(f.Evidence, bytesFact("limit", limit), percentFact("limit.share.max", share))
	}
	size := ""
	switch {
	case j.most == 0 && limit == 0:
		size = against
	case j.most > 0:
		size = fmt.Sprintf("; %s up to %s after a collection%s", what, sizeText(j.most), against)
	}
	switch {
	case j.last > 0:
		f.Severity = Error
		f.Text = fmt.Sprintf("%s considered the last attempt before an OutOfMemoryException by the GC%s.",
			were(j.last, "collection"), size)
		f.GCs = j.facts.numbers()
	case limit > 0 && share > j.over:
		f.Text = fmt.Sprintf("%s up to %s after a collection%s.", upperFirst(what), sizeText(j.most), against)
		f.GCs = j.bySize.numbers()
	case j.limited > 0:
		f.Text = fmt.Sprintf("%s caused by a heap near its limit%s.", were(j.limited, "collection"), size)
		f.GCs = j.facts.numbers()
	case limit == 0 && !s.process.HasLimits:
		why = "no limit is known: .NET 9 and later report the hard limit, live sessions the limit of the control group"
		if !j.condemned {
			why += "; and no collection reports why its generation was chosen"
		}
		return Finding{}, why
	default:
		return Finding{}, ""
	}
	if j.limited > 0 {
		f.Evidence = append(f.Evidence, countFact("collections.before-oom", j.last),
			countFact("collections.near-limit", j.limited))
	}
	switch {
	case share > 0:
		f.says = fmt.Sprintf("%s up to %s, %s of the %s (%s)",
			what, sizeText(j.most), valueText(share, "%"), name, sizeText(limit))
	default:
		f.says = were(j.limited, "collection") + " caused by it"
	}
	if !s.process.HasLimits && !j.causes.any(nearLimit) {
		f.cause = CauseContainerLimit
	}
	f.Explains = Explained{Paused: s.ofPauses(j.paused), Bytes: uint64(j.most), memory: share / 100}
	f.Evidence = j.causes.evidence(f.Evidence)
	return f, ""
}
