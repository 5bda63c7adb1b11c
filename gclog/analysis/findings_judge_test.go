package analysis_test

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// A call is one call of an Observer: with a pause, a record or a gap.
type call struct {
	pause *gclog.Pause
	gc    *gclog.GCDetails
	gap   *gclog.Gap
}

// An account keeps what an Observer is passed about a process.
type account struct {
	process *gclog.Process
	list    []call
	end     int64
	copies  map[*gclog.GCDetails]*gclog.GCDetails // of records whose pauses came first
}

func (a *account) copy(d *gclog.GCDetails) *gclog.GCDetails {
	if d == nil {
		return nil
	}
	if a.copies[d] == nil {
		a.copies[d] = &gclog.GCDetails{}
	}
	a.copies[d].CopyFrom(d)
	return a.copies[d]
}

// Observe takes a record.
func (a *account) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		c := *r
		c.GC = a.copy(r.GC)
		a.list = append(a.list, call{pause: &c})
	case *gclog.GCDetails:
		a.list = append(a.list, call{gc: a.copy(r)})
		delete(a.copies, r) // the Reducer reuses it
	case *gclog.Gap:
		c := *r
		a.list = append(a.list, call{gap: &c})
	}
}

// accounts returns those of the processes in a recording.
func accounts(t *testing.T, stream []byte) (list []*account) {
	t.Helper()
	processes := read(t, stream, func(p *gclog.Process) gclog.Observer {
		a := &account{process: p, copies: map[*gclog.GCDetails]*gclog.GCDetails{}}
		list = append(list, a)
		return a.Observe
	})
	for _, a := range list {
		a.end = processes.Latest()
	}
	return list
}

// findings replays the account.
func (a *account) findings(w analysis.Window) *analysis.Findings {
	f := analysis.NewFindings(a.process, analysis.Thresholds{}, w)
	f.Observe(&gclog.Start{At: 0})
	for _, x := range a.list {
		switch {
		case x.pause != nil:
			f.Observe(x.pause)
		case x.gc != nil:
			f.Observe(x.gc)
		default:
			f.Observe(x.gap)
		}
	}
	f.Observe(&gclog.End{At: a.end})
	return f
}

// A judged contains the part of an account that findings about a window cover, by the simplest
// rules.
type judged struct {
	a        *account
	w        analysis.Window
	gcs      []*gclog.GCDetails // complete ones
	complete int
	partial  int
	pauses   []clipped
	gaps     []*gclog.Gap
}

// A clipped is the part of a pause in the window.
type clipped struct {
	pause         *gclog.Pause
	took, suspend int64
}

func (a *account) in(w analysis.Window) *judged {
	j := &judged{a: a, w: analysis.Window{From: max(0, w.From), To: min(w.To, a.end)}}
	for _, x := range a.list {
		switch {
		case x.pause != nil && (x.pause.GC == nil || !x.pause.GC.HeapDump):
			p := x.pause
			from, to := max(w.From, p.Start), min(w.To, p.Start+p.Duration)
			if from < to {
				j.pauses = append(j.pauses, clipped{p, to - from, min(to, p.Start+max(0, p.Suspend)) - from})
			}
		case x.gc != nil:
			d := x.gc
			at := d.Start
			switch {
			case d.Flaws&gclog.FlawNoStart == 0:
			case len(d.Pauses) > 0:
				at = d.Pauses[0].Start
			default:
				at = d.End
			}
			if at < w.From || at >= w.To {
				continue
			}
			if d.Complete {
				j.complete++
			} else {
				j.partial++
			}
			if d.Flaws&^gclog.FlawNoSizes == 0 && !d.HeapDump {
				j.gcs = append(j.gcs, d)
			}
		case x.gap != nil && x.gap.Time >= w.From && x.gap.Time < w.To:
			j.gaps = append(j.gaps, x.gap)
		}
	}
	return j
}

// count returns how many collections satisfy a condition.
func (j *judged) count(is func(*gclog.GCDetails) bool) float64 {
	n := 0
	for _, d := range j.gcs {
		if is(d) {
			n++
		}
	}
	return float64(n)
}

func (j *judged) sum(of func(*gclog.GCDetails) float64) (sum float64) {
	for _, d := range j.gcs {
		sum += of(d)
	}
	return sum
}

func (j *judged) most(of func(*gclog.GCDetails) float64) (most float64) {
	for _, d := range j.gcs {
		most = max(most, of(d))
	}
	return most
}

func (j *judged) paused() (sum, most int64) {
	for _, p := range j.pauses {
		sum += p.took
		most = max(most, p.took)
	}
	return sum, most
}

// has reports whether one of the conditions held, of any heap or of all.
func has(d *gclog.GCDetails, c clr.Condemned) bool {
	_, conditions, known := d.Condemned()
	return known && conditions&c != 0
}

func pauseSum(d *gclog.GCDetails) (sum float64) {
	for _, p := range d.Pauses {
		sum += float64(p.Duration)
	}
	return sum
}

func isGen2(d *gclog.GCDetails) bool     { return d.Generation == gclog.Gen2 }
func background(d *gclog.GCDetails) bool { return d.Kind == gclog.KindBackground }
func blockingGen2(d *gclog.GCDetails) bool {
	return isGen2(d) && !background(d)
}

func byProgram(d *gclog.GCDetails) bool {
	return d.Known.Has(gclog.GroupReason) && slices.Contains([]clr.Reason{clr.ReasonInduced, clr.ReasonInducedNotForced, clr.ReasonInducedCompacting, clr.ReasonInducedAggressive}, d.Reason)
}

func bothOf(a, b func(*gclog.GCDetails) bool) func(*gclog.GCDetails) bool {
	return func(d *gclog.GCDetails) bool { return a(d) && b(d) }
}

const (
	nearLimit    = clr.CondemnedBeforeOOM | clr.CondemnedLimitBeforeOOM | clr.CondemnedLimitLOHFragmented | clr.CondemnedLimitLOHReclaim
	memoryBlocks = clr.CondemnedHighMemory | clr.CondemnedVeryHighMemory | clr.CondemnedFragmentedGen2HighMemory | clr.CondemnedFragmentedGen2VeryHighMemory
	provisional  = clr.CondemnedAvoidUnproductive | clr.CondemnedPMInducedFull | clr.CondemnedPMAllocLOH | clr.CondemnedGen1InPM
)

func inProvisionalMode(d *gclog.GCDetails) bool {
	return d.Known.Has(gclog.GroupReason) && d.Reason == clr.ReasonPMFullGC || has(d, provisional)
}

func forMemory(d *gclog.GCDetails) bool {
	steps, _, _ := d.Condemned()
	return d.Global.HasMemoryLoad && isGen2(d) && (!background(d) && has(d, memoryBlocks) && !has(d, clr.CondemnedTooSmallForBackground) ||
		has(d, memoryBlocks|clr.CondemnedAlmostMaxAlloc) && steps.Initial() < 2 && steps.BudgetExceeded() < 2 && steps.TimeTuning() < 2)
}

// TestFindingsJudged compares the findings about all recordings, and about parts of them, with
// results computed here from the records: facts are found however short the part is, and only where
// they hold; each number of the evidence is that of the records; and the sentence contains no
// number that is not in the evidence.
func TestFindingsJudged(t *testing.T) {
	extent.Long(t)
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, a := range accounts(t, recordings.Read(t, tr.Path)) {
			judgeFindings(t, a, analysis.Always())
			if a.end > int64(time.Minute) {
				continue // its start alone has no end of parts
			}
			for _, length := range []time.Duration{700 * milli, 2 * time.Second, 4 * time.Second} {
				for from := time.Duration(0); int64(from) < a.end; from += length / 2 {
					judgeFindings(t, a, analysis.Window{From: int64(from), To: int64(from + length)})
				}
			}
		}
	})
}

func judgeFindings(t *testing.T, a *account, w analysis.Window) {
	t.Helper()
	f := a.findings(w)
	j := a.in(w)
	list := f.List()
	facts := j.facts()
	for _, x := range list {
		at := fmt.Sprintf("%v: %s: %s", w, x.Rule.ID, x.Text)
		if want, is := facts[x.Rule.ID]; is && !want {
			t.Errorf("%s\nis no fact", at)
		}
		if rest := unproven(&x); rest != "" {
			t.Errorf("%s\nhas numbers that its evidence lacks: %q", at, rest)
		}
		want := j.numbers(x.Rule.ID)
		for _, e := range x.Evidence {
			v, judged := want[e.Name]
			switch {
			case !judged && !slices.Contains(elsewhere, x.Rule.ID+" "+e.Name):
				t.Errorf("%s\nnobody judges %s", at, e.Name)
			case judged && math.Abs(v-e.Value) > 1e-9*math.Abs(v):
				t.Errorf("%s\n%s is %v, the records say %v", at, e.Name, e.Value, v)
			}
		}
		for _, n := range x.GCs {
			if !slices.ContainsFunc(a.list, func(y call) bool { return y.gc != nil && y.gc.Known.Has(gclog.GroupNumber) && y.gc.Number == n }) {
				t.Errorf("%s\nnames %d, of which there is no record", at, n)
			}
		}
	}
	for id, want := range facts {
		if want && !slices.ContainsFunc(list, func(x analysis.Finding) bool { return x.Rule.ID == id }) {
			_, why := of(f, id)
			t.Errorf("%v: %s is not found: %q", w, id, why)
		}
	}
	if severity := j.shareSeverity(); severity > 0 {
		if x, why := of(f, "high-pause-share"); x == nil || x.Severity != severity {
			t.Errorf("%v: high-pause-share is %+v %q, want %s", w, x, why, severity)
		}
	}
}

// facts returns what needs no sample, and whether it holds.
func (j *judged) facts() map[string]bool {
	_, longest := j.paused()
	suspended := int64(0)
	for _, p := range j.pauses {
		if p.pause.Suspend > 0 {
			suspended = max(suspended, p.suspend)
		}
	}
	facts := map[string]bool{
		"long-pause":       longest > int64(200*milli),
		"provisional-mode": j.count(inProvisionalMode) > 0,
		"memory-load-gen2": j.count(forMemory) > 0,
	}
	// These may also be found for a reason that needs a sample.
	for id, is := range map[string]bool{
		"long-suspension":   suspended > int64(10*milli),
		"hard-limit":        j.count(func(d *gclog.GCDetails) bool { return has(d, nearLimit) }) > 0,
		"loh-fragmentation": j.count(func(d *gclog.GCDetails) bool { return has(d, clr.CondemnedLimitLOHFragmented) }) > 0,
		"background-behind": j.count(func(d *gclog.GCDetails) bool { return background(d) && d.FinalPause() > int64(50*milli) }) > 1,
		"blocking-gen2":     j.count(blockingGen2) >= 3 && 2*j.count(blockingGen2) > j.count(isGen2),
		"induced-gcs":       j.count(byProgram) >= 3 && (j.count(bothOf(byProgram, isGen2)) > j.count(isGen2)/10 && j.count(isGen2) >= 3 || j.count(func(d *gclog.GCDetails) bool { return byProgram(d) && !background(d) }) >= 3),
	} {
		if is {
			facts[id] = true
		}
	}
	return facts
}

// shareSeverity returns the least severity of the share of pauses, 0 if nothing is certain. For a
// time shorter than 5 s it is the share of 5 s.
func (j *judged) shareSeverity() analysis.Severity {
	sum, _ := j.paused()
	length := j.w.To - j.w.From
	if length > int64(time.Minute) {
		return 0
	}
	switch share := 100 * float64(sum) / float64(max(length, int64(5*time.Second))); {
	case share > 10:
		return analysis.Error
	case share > 5:
		return analysis.Warning
	}
	return 0
}

// elsewhere are numbers of evidence that other tests check: medians, lines and the shares of the
// heaps.
var elsewhere = strings.Split(`random-slow-gc pause
random-slow-gc pause.times
random-slow-gc pause.median
random-slow-gc promoted
random-slow-gc promoted.median
random-slow-gc generation
random-slow-gc kind.blocking
random-slow-gc kind.background
random-slow-gc kind.foreground`, "\n")

// numbers returns the numbers of the records that the evidence of a rule should have, by name.
func (j *judged) numbers(id string) map[string]float64 {
	gen := func(g int) float64 {
		return j.count(func(d *gclog.GCDetails) bool { return d.Generation == g && !byProgram(d) })
	}
	m := map[string]float64{}
	conditions := func(mask clr.Condemned, of func(*gclog.GCDetails) bool) {
		for i := range 32 {
			if bit := clr.Condemned(1 << i); mask&bit != 0 {
				m["condition."+bit.Names(nil)[0]] = j.count(func(d *gclog.GCDetails) bool { return of(d) && has(d, bit) })
			}
		}
	}
	sum, longest := j.paused()
	length := float64(j.w.To - j.w.From)
	switch id {
	case "high-pause-share":
		m["pause.sum"], m["window"], m["window.from"] = float64(sum), length, float64(j.w.From)
		m["pause.share"] = 100 * float64(sum) / length
		m["pause.share.max"] = m["pause.share"]
	case "long-pause":
		m["pauses"], m["pause.max"], m["pauses.long.over"] = float64(len(j.pauses)), float64(longest), float64(200*milli)
		for _, p := range j.pauses {
			if p.took > int64(200*milli) {
				m["pauses.long"]++
			}
			if p.took == longest {
				j.longest(m, p.pause)
				m["longest.mark"], m["longest.plan"] = 0, 0
				if d := p.pause.GC; d != nil {
					for i, took := range d.Timing {
						name := [...]string{clr.TimePlan: "longest.plan", clr.TimeRelocate: "longest.relocate", clr.TimeCompact: "longest.compact"}
						compacting, _ := d.Compacting()
						switch {
						case i < clr.TimePlan:
							m["longest.mark"] += float64(took)
						case i == clr.TimeSweep && !compacting:
							m["longest.sweep"] = float64(took)
						case i < len(name):
							m[name[i]] = float64(took)
						}
					}
				}
			}
		}
	case "dependent-handles":
		for _, d := range j.gcs {
			longest := int64(-1)
			for i := range d.Heaps {
				if took, known := d.MarkTime(i, clr.MarkDependentHandles); known {
					longest = max(longest, took)
				}
			}
			stack := slices.ContainsFunc(d.Heaps, func(h gclog.HeapDetails) bool { return h.Marked&(1<<clr.MarkStack) != 0 })
			if longest < 0 && !stack || background(d) {
				continue
			}
			longest = max(longest, 0)
			took := float64(min(longest, d.Pause()))
			m["collections"]++
			m["pause.sum"] += float64(d.Pause())
			m["dependent.sum"] += took
			m["dependent.max"] = max(m["dependent.max"], took)
		}
		m["dependent.share"] = 100 * m["dependent.sum"] / m["pause.sum"]
	case "late-start":
		m["delay.over"] = float64(100 * milli)
		for _, d := range j.gcs {
			if !d.Known.Has(gclog.GroupTrigger) || d.Suspended <= d.Triggered {
				continue
			}
			m["collections"]++
			if delay := float64(d.Suspended - d.Triggered); delay > m["delay.over"] {
				m["collections.late"]++
				m["delay.sum"] += delay
				m["delay.max"] = max(m["delay.max"], delay)
			}
		}
	case "heap-count-changes":
		var counts []float64
		for _, d := range j.gcs {
			if n := d.HeapCount(); n > 0 {
				counts = append(counts, float64(n))
			}
		}
		m["collections"], m["heaps.min"], m["heaps.max"] = float64(len(counts)), slices.Min(counts), slices.Max(counts)
		counts = slices.Compact(counts)
		m["heaps.changes"] = float64(len(counts) - 1)
		for i := 2; i < len(counts); i++ {
			if (counts[i-2] < counts[i-1]) != (counts[i-1] < counts[i]) {
				m["heaps.turns"]++
			}
		}
		m["heaps.turns.rate"] = m["heaps.turns"] / max(1, float64(j.w.To-j.w.From)/float64(time.Minute))
	case "too-many-gen1":
		m["gen0"] = j.count(func(d *gclog.GCDetails) bool { return d.Generation == 0 && !byProgram(d) })
		m["gen1"] = j.count(func(d *gclog.GCDetails) bool { return d.Generation == 1 && !byProgram(d) })
		m["gen1.share"] = 100 * m["gen1"] / (m["gen0"] + m["gen1"])
	case "high-survival", "small-gen0":
		n := 0.0
		for _, d := range j.gcs {
			if isGen2(d) || byProgram(d) {
				continue
			}
			m["gen0-and-gen1"]++
			m["pause.sum"] += pauseSum(d)
			if d.Known.Has(gclog.GroupHistory) {
				n++
				m["gen0.survived"] += float64(d.Generations[0].Survived)
				m["gen0.objects-before.sum"] += float64(d.Generations[0].ObjectsBefore)
				m["promoted.sum"] += float64(d.PromotedBytes)
			}
		}
		m["gen0.survival"] = 100 * m["gen0.survived"] / m["gen0.objects-before.sum"]
		m["gen0.objects-before.mean"] = m["gen0.objects-before.sum"] / n
		m["period"] = max(5e9, length) / m["gen0-and-gen1"]
	case "long-resume":
		for _, p := range j.pauses {
			if !p.pause.HasResume {
				continue
			}
			end := p.pause.Start + p.pause.Duration
			from, to := max(j.w.From, p.pause.Start), min(j.w.To, end)
			resuming := float64(max(0, to-max(from, end-p.pause.Resume)))
			m["pauses"]++
			m["pause.sum"] += float64(p.took)
			m["resume.sum"] += resuming
			m["resume.max"] = max(m["resume.max"], resuming)
		}
		m["resume.share"] = 100 * m["resume.sum"] / m["pause.sum"]
		m["pause.until-resume.sum"] = m["pause.sum"] - m["resume.sum"]
	case "long-suspension":
		most := slices.MaxFunc(j.pauses, func(a, b clipped) int { return cmp.Compare(a.suspendIf(), b.suspendIf()) })
		m["suspension.max"], m["suspensions.long.over"], m["suspensions.mostly.over"] = float64(most.suspend), float64(10*milli), 50
		j.longest(m, most.pause)
		m["suspensions.mostly"], m["suspensions.long"] = 0, 0
		for _, p := range j.pauses {
			if p.suspendIf() <= 0 {
				continue
			}
			m["pauses"]++
			if p.suspend > int64(10*milli) {
				m["suspensions.long"]++
			}
			if p.suspend >= int64(milli) && 2*p.suspend > p.took {
				m["suspensions.mostly"]++
			}
		}
		m["suspensions.most-of-pause"] = 100 * m["suspensions.mostly"] / m["pauses"]
	case "induced-gcs":
		m["collections"], m["induced"] = float64(len(j.gcs)), j.count(byProgram)
		m["gen2"], m["induced.gen2"] = j.count(isGen2), j.count(bothOf(byProgram, isGen2))
		m["induced.blocking"] = j.count(func(d *gclog.GCDetails) bool { return byProgram(d) && !background(d) })
		m["induced.gen2.share"], m["duration"] = 100*m["induced.gen2"]/m["gen2"], length
		m["induced.pause.sum"] = j.sum(func(d *gclog.GCDetails) float64 {
			if byProgram(d) {
				return pauseSum(d)
			}
			return 0
		})
		for r := clr.Reason(0); r <= clr.ReasonInducedAggressive; r++ {
			m["reason."+r.String()] = j.count(func(d *gclog.GCDetails) bool { return byProgram(d) && d.Reason == r })
		}
	case "blocking-gen2":
		m["gen2"], m["gen2.blocking"] = j.count(isGen2), j.count(blockingGen2)
		m["gen2.blocking.share"] = 100 * m["gen2.blocking"] / m["gen2"]
		of := func(d *gclog.GCDetails) float64 {
			if blockingGen2(d) {
				return pauseSum(d)
			}
			return 0
		}
		m["gen2.blocking.pause.sum"], m["gen2.blocking.pause.max"] = j.sum(of), j.most(of)
		conditions(math.MaxUint32, blockingGen2)
		for _, d := range j.gcs {
			if blockingGen2(d) {
				m["gen2.blocking."+j.cause(d)]++
			}
		}
	case "memory-load-gen2":
		m["gen2"] = j.count(forMemory)
		m["gen2.blocking"] = j.count(func(d *gclog.GCDetails) bool {
			return forMemory(d) && !background(d) && has(d, memoryBlocks) && !has(d, clr.CondemnedTooSmallForBackground)
		})
		m["memory.load.max"] = j.most(func(d *gclog.GCDetails) float64 {
			if forMemory(d) {
				return float64(d.Global.MemoryLoad)
			}
			return 0
		})
		m["pause.sum"] = j.sum(func(d *gclog.GCDetails) float64 {
			if forMemory(d) {
				return pauseSum(d)
			}
			return 0
		})
		conditions(memoryBlocks|clr.CondemnedAlmostMaxAlloc, forMemory)
	case "provisional-mode":
		m["collections"] = j.count(inProvisionalMode)
		m["reason.PMFullGC"] = j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupReason) && d.Reason == clr.ReasonPMFullGC })
		m["pause.sum"] = j.sum(func(d *gclog.GCDetails) float64 {
			if inProvisionalMode(d) {
				return pauseSum(d)
			}
			return 0
		})
		conditions(provisional, inProvisionalMode)
	case "too-many-gen2":
		m["gen0"], m["gen1"], m["gen2"] = gen(0), gen(1), gen(2)
		m["gen2.share"] = 100 * gen(2) / (gen(0) + gen(1) + gen(2))
		m["gen2.per-gen1"] = gen(2) / gen(1)
	case "mid-life-crisis":
		j.crises(m)
	case "loh-pressure":
		m["collections"] = j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupReason) })
		m["collections.alloc-large"] = j.count(func(d *gclog.GCDetails) bool {
			return d.Known.Has(gclog.GroupReason) && (d.Reason == clr.ReasonAllocLarge || d.Reason == clr.ReasonOutOfSpaceLOH)
		})
		m["collections.alloc-large.share"] = 100 * m["collections.alloc-large"] / m["collections"]
		loh := j.after(gclog.LOH)
		m["loh.after.mean"] = loh / j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupAfter) })
		m["loh.share"] = 100 * loh / j.after(gclog.Gen0, gclog.Gen1, gclog.Gen2, gclog.LOH, gclog.POH)
	case "poh-misuse":
		poh := j.after(gclog.POH)
		m["poh.after.mean"] = poh / j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupAfter) })
		m["poh.share"] = 100 * poh / j.after(gclog.Gen0, gclog.Gen1, gclog.Gen2, gclog.LOH, gclog.POH)
		var size, free float64
		for _, d := range j.gcs {
			if isGen2(d) && d.Known.Has(gclog.GroupAfter) && d.Known.Has(gclog.GroupFragmentation) {
				size += float64(d.Generations[gclog.POH].After)
				free += float64(d.Generations[gclog.POH].Fragmentation)
			}
		}
		m["poh.fragmentation"] = 100 * free / size
	case "loh-fragmentation":
		j.fragmentedLOH(m)
		conditions(clr.CondemnedLimitLOHFragmented, func(*gclog.GCDetails) bool { return true })
		m["loh.free-before.max"] = j.most(func(d *gclog.GCDetails) float64 {
			if has(d, clr.CondemnedLimitLOHFragmented) {
				return float64(d.Generations[gclog.LOH].FreeBefore)
			}
			return 0
		})
	case "hard-limit":
		m["committed.max"] = j.most(func(d *gclog.GCDetails) float64 { return float64(d.CommittedAfter) })
		m["size.max"] = j.most(func(d *gclog.GCDetails) float64 { return float64(d.SizeAfter()) })
		m["collections.before-oom"] = j.count(func(d *gclog.GCDetails) bool { return has(d, clr.CondemnedBeforeOOM|clr.CondemnedLimitBeforeOOM) })
		m["collections.near-limit"] = j.count(func(d *gclog.GCDetails) bool { return has(d, nearLimit) })
		conditions(nearLimit, func(*gclog.GCDetails) bool { return true })
	case "background-behind":
		j.backgroundLag(m)
	case "wrong-flavour":
		m["pause.share"] = 100 * float64(sum) / length
		m["heap.after.mean"] = j.after(gclog.Gen0, gclog.Gen1, gclog.Gen2, gclog.LOH, gclog.POH) / j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupAfter) })
		m["gen2.blocking.not-induced.pause.max"] = j.most(func(d *gclog.GCDetails) float64 {
			if blockingGen2(d) && !byProgram(d) {
				return pauseSum(d)
			}
			return 0
		})
		m["processors"] = float64(j.a.process.Processors)
		for _, d := range j.gcs {
			if d.Known.Has(gclog.GroupGlobal) {
				m["heaps"] = float64(d.Global.Heaps)
			}
		}
	case "finalizer-backlog":
		m["collections"] = j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupAfter) })
		m["collections.many"] = j.count(func(d *gclog.GCDetails) bool { return d.Known.Has(gclog.GroupAfter) && d.FinalizationCount > 10000 })
		m["finalization.objects.over"] = 10000
		m["finalization.objects.max"] = j.most(func(d *gclog.GCDetails) float64 { return float64(d.FinalizationCount) })
		m["finalization.bytes.max"] = j.most(func(d *gclog.GCDetails) float64 { return float64(d.FinalizationSize) })
		m["finalizers.run.max"] = j.most(func(d *gclog.GCDetails) float64 { return float64(max(d.Finalizers.Longest, d.Finalizers.Running)) })
	case "data-quality":
		m["collections.complete"], m["collections.incomplete"] = float64(j.complete), float64(j.partial)
		m["gaps"] = float64(len(j.gaps))
		for _, g := range j.gaps {
			m["events.lost"] += float64(g.LostEvents)
			m["records.dropped"] += float64(g.Records)
			if g.Reason == gclog.GapMissedGCs && g.From > 0 {
				m["collections.missing"] += float64(g.To-g.From) + 1
			}
		}
		for _, name := range []string{"events.lost", "records.dropped", "collections.missing"} {
			m[name] += 0
		}
	}
	return m
}

func (p *clipped) suspendIf() int64 {
	if p.pause.Suspend <= 0 {
		return 0
	}
	return p.suspend
}

// longest returns the numbers about the pause that a sentence names.
func (j *judged) longest(m map[string]float64, p *gclog.Pause) {
	d := p.GC
	if d == nil {
		m["longest.pause."+p.Kind.String()] = 1
		return
	}
	class := [...]string{"gen0", "gen1", "gen2.blocking"}[d.Generation]
	if background(d) {
		class = "background"
	}
	m["longest.gc"], m["longest.class."+class], m["longest.reason."+d.Reason.String()] = float64(d.Number), 1, 1
}

// cause returns why a gen2 collection blocks, according to the record.
func (j *judged) cause(d *gclog.GCDetails) string {
	small := has(d, clr.CondemnedTooSmallForBackground)
	switch {
	case byProgram(d):
		return "induced"
	case inProvisionalMode(d):
		return "provisional"
	case has(d, nearLimit):
		return "limit"
	case has(d, memoryBlocks) && !small:
		return "memory"
	case d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeBatch, j.a.process.Concurrent == gclog.No && !d.DemotedBGC && !small && !has(d, clr.CondemnedFragmentedGen2|clr.CondemnedFragmentedGen1ToGen2):
		return "off"
	case d.DemotedBGC:
		return "demoted"
	case small:
		return "small"
	case has(d, clr.CondemnedFragmentedGen2|clr.CondemnedFragmentedGen1ToGen2):
		return "fragmented"
	}
	return "other"
}

// after returns the total size of generations after all collections.
func (j *judged) after(generations ...int) float64 {
	return j.sum(func(d *gclog.GCDetails) (sum float64) {
		if d.Known.Has(gclog.GroupAfter) {
			for _, g := range generations {
				sum += float64(d.Generations[g].After)
			}
		}
		return sum
	})
}

// crises returns the gen2 collections in which most of gen2 was dead although much had come into
// it, with most of gen1, since the previous one.
func (j *judged) crises(m map[string]float64) {
	m["gen2.survival.min"] = 100
	var kept, of, came, size, n float64
	for _, d := range j.gcs {
		one, two := &d.Generations[gclog.Gen1], &d.Generations[gclog.Gen2]
		if d.Generation == gclog.Gen1 && d.Known.Has(gclog.GroupHistory) {
			n, kept, of, came, size = n+1, kept+float64(one.Survived), of+float64(one.ObjectsBefore), came+float64(two.In), size+float64(two.Before)
		}
		if !isGen2(d) || !d.Known.Has(gclog.GroupHistory) {
			continue
		}
		if survival := 100 * float64(two.Survived) / float64(two.ObjectsBefore); two.ObjectsBefore > 0 && n > 0 && of > 0 && size > 0 {
			m["gen2.judged"]++
			if kept/of > 0.5 && came/size > 0.1 && survival < 50 {
				m["gen2.crises"]++
				m["gen2.in"] += came
				m["gen2.in.per-gen1.max"] = max(m["gen2.in.per-gen1.max"], 100*came/size)
				m["gen2.survival.min"] = min(m["gen2.survival.min"], survival)
			}
		}
		n, kept, of, came, size = 0, 0, 0, 0, 0
	}
}

func (j *judged) backgroundLag(m map[string]float64) {
	for _, name := range []string{"background", "background.long-final", "final-pause.max", "background.crowded", "foreground.max", "background.following", "background.waited-for", "wait.max"} {
		m[name] = 0
	}
	m["foreground.over"], m["background.following.gap"] = 20, 1e9
	foregrounds, end := 0.0, int64(math.MinInt64/2)
	for _, d := range j.gcs {
		if d.Kind == gclog.KindForeground {
			foregrounds++
		}
		if !background(d) {
			continue
		}
		final := 0.0
		if n := len(d.Pauses); n > 1 {
			final = float64(d.Pauses[n-1].Duration)
		}
		m["background"]++
		m["final-pause.max"] = max(m["final-pause.max"], final)
		m["foreground.max"] = max(m["foreground.max"], foregrounds)
		m["wait.max"] = max(m["wait.max"], float64(d.Background.WaitMax))
		for name, is := range map[string]bool{
			"background.long-final": final > 50e6, "background.crowded": foregrounds > 20,
			"background.following": d.Start-end < 1e9, "background.waited-for": d.Background.WaitMax > int64(200*milli),
		} {
			if is {
				m[name]++
			}
		}
		foregrounds, end = 0, d.End
	}
}

var (
	timeStamp = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	noNumber  = regexp.MustCompile(`\.NET [\d.]+|\bgen[012]\b|gclog gc \d+|pmap -x \d+`)
	anyNumber = regexp.MustCompile(`\d`)
)

// unproven returns what remains of the sentence of a finding without the numbers of its evidence,
// if there still is a number.
func unproven(x *analysis.Finding) string {
	text := noNumber.ReplaceAllString(timeStamp.ReplaceAllString(x.Text, ""), "")
	var proven []string
	for _, e := range x.Evidence {
		proven = append(proven, factText(&e), strings.TrimPrefix(e.Name, "allocation.type "))
	}
	slices.SortFunc(proven, func(a, b string) int { return len(b) - len(a) })
	for _, s := range proven {
		text = regexp.MustCompile(`(^|[^\d.])`+regexp.QuoteMeta(s)+`($|[^\w.]|\.$|\. )`).ReplaceAllString(text, "${1}#${2}")
		text = regexp.MustCompile(`(^|[^\d.])`+regexp.QuoteMeta(s)+`($|[^\w.]|\.$|\. )`).ReplaceAllString(text, "${1}#${2}")
	}
	if anyNumber.MatchString(text) {
		return text
	}
	return ""
}

// fragmentedLOH computes the evidence of loh-fragmentation: of the longest row of gen2 collections after
// which much of the large object heap was free; without a row of three, of two in three; without that, of
// the growth to the latest.
func (j *judged) fragmentedLOH(m map[string]float64) {
	type after struct{ size, free, heap float64 }
	var all []after
	for _, d := range j.gcs {
		if isGen2(d) && d.Known.Has(gclog.GroupAfter) && d.Known.Has(gclog.GroupFragmentation) {
			g := &d.Generations[gclog.LOH]
			all = append(all, after{float64(g.After), float64(g.Fragmentation), float64(d.SizeAfter())})
		}
	}
	much := func(i int) bool { return i >= 0 && all[i].free > 50e6 && all[i].free > 0.3*all[i].size }
	longest, inRows, inTwo := 0, -1, -1
	larger := func(i, than int) int {
		if than < 0 || all[i].free > all[than].free {
			return i
		}
		return than
	}
	for i := range all {
		row := 0
		for much(i - row) {
			row++
		}
		if row >= 3 {
			longest, inRows = max(longest, row), larger(i, inRows)
		}
		if i >= 2 && much(i) && (much(i-1) || much(i-2)) {
			inTwo = larger(i, inTwo)
		}
	}
	shown := len(all) - 1
	switch {
	case longest > 0:
		shown = inRows
		m["gen2.in-a-row"], m["loh.free.max"] = float64(longest), all[shown].free
	case inTwo >= 0:
		shown = inTwo
		m["gen2.fragmented"], m["gen2.latest"], m["loh.free.max"] = 2, 3, all[shown].free
	case len(all) > 0:
		first := all[slices.IndexFunc(all, func(a after) bool { return a.size > 0 || a == all[shown] })].size
		if a := all[shown]; len(all) >= 3 && a.free >= 25e6 && a.free >= 0.1*a.size && a.size >= 0.5*a.heap && a.size >= 2*first {
			m["loh.after.first"], m["loh.after.last"], m["loh.free"] = first, a.size, a.free
		}
	}
	if shown >= 0 {
		m["loh.fragmentation"] = 100 * all[shown].free / all[shown].size
	}
}
