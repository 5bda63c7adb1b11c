package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A tally counts what a recording, or a log, contains of one process.
type tally struct {
	process    *gclog.Process
	gcs        int64
	background int64
	incomplete int64
	pauses     int64
	missing    uint64 // numbers of missing collections
	gaps       map[string]int64
	starts     int64 // starts of sessions
	ends       int64
	unended    int64 // sessions without an end, of all processes
	end        gclog.End
	numbers    *history.Numbers
	findings   *analysis.Findings // nil of the sum
}

func newTally(p *gclog.Process) *tally {
	t := &tally{process: p, gaps: map[string]int64{}}
	t.numbers = history.NewNumbers(func(g *gclog.Gap) { t.missing += g.Missed() })
	return t
}

// Observe counts a record.
func (t *tally) Observe(r gclog.Record) {
	t.findings.Observe(r)
	switch r := r.(type) {
	case *gclog.GCDetails:
		t.gcs++
		if r.Kind == gclog.KindBackground {
			t.background++
		}
		if !r.Complete {
			t.incomplete++
		}
		t.numbers.Observe(r)
	case *gclog.Pause:
		t.pauses++
		t.numbers.Observe(r)
	case *gclog.Gap:
		t.gaps[r.Reason.String()]++
		t.missing += r.Missed()
		t.numbers.Observe(r)
	case *gclog.Start:
		t.starts++
		t.end = gclog.End{}
	case *gclog.End:
		t.ends++
		t.end = *r
	}
}

// tallies reads files. What is wrong with them is recorded in the files themselves.
func tallies(in *history.Source) (list []*tally, sum *tally) {
	_ = in.ReadAll(func(p *gclog.Process) gclog.Observer {
		t := newTally(p)
		t.findings = analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())
		if !in.IsLog() {
			t.findings.Observe(&gclog.Start{At: 0})
		}
		list = append(list, t)
		return t.Observe
	})
	sum = newTally(nil)
	for _, t := range list {
		t.numbers.Finish()
		if !in.IsLog() {
			t.findings.Observe(&gclog.End{At: int64(in.Length())})
		}
		sum.gcs += t.gcs
		sum.background += t.background
		sum.incomplete += t.incomplete
		sum.pauses += t.pauses
		sum.missing += t.missing
		for reason, n := range t.gaps {
			sum.gaps[reason] += n
		}
		sum.unended += max(0, t.starts-t.ends) // the start may be in a file that was deleted
	}
	return list, sum
}

// everything wants all events.
func everything(m *parse.Metadata) parse.Want {
	return parse.Want{Deliver: true, Rundown: gclog.Wanted(m).Rundown}
}

// An inventory counts what a recording contains.
type inventory struct {
	kinds            []kind // by parse.Metadata.Index
	pids             map[int64]bool
	lost             uint64 // lost events
	lostFrom, lostTo int64  // nanoseconds since the sync point
}

type kind struct {
	meta   *parse.Metadata
	count  int64
	wanted bool // by the Reducer
}

// take counts what r has found, and reports whether the Reducer wants it.
func (v *inventory) take(r *parse.Reader) bool {
	if l := r.Loss(); l != nil {
		if v.lost == 0 {
			v.lostFrom = l.From
		}
		v.lost += uint64(l.Events)
		v.lostTo = l.To
		return true
	}
	e := r.Event()
	k := v.of(e.Meta)
	k.count += 1 + int64(e.More)
	if k.wanted && e.Process != 0 && len(v.pids) < maxProcesses {
		if v.pids == nil {
			v.pids = map[int64]bool{}
		}
		v.pids[e.Process] = true
	}
	return k.wanted
}

func (v *inventory) of(m *parse.Metadata) *kind {
	if m.Index >= len(v.kinds) {
		v.kinds = append(v.kinds, make([]kind, m.Index+1-len(v.kinds))...)
	}
	k := &v.kinds[m.Index]
	if k.meta == nil {
		k.meta, k.wanted = m, gclog.Wanted(m).Deliver
	}
	return k
}

// count returns how many events of a provider there are, with these ids, or in total if none is
// given.
func (v *inventory) count(provider string, ids ...int) (n int64) {
	for i := range v.kinds {
		k := &v.kinds[i]
		if k.meta != nil && k.meta.Provider == provider && (len(ids) == 0 || slices.Contains(ids, k.meta.EventID)) {
			n += k.count
		}
	}
	return n
}

// text lists the most frequent kinds.
func (v *inventory) text() string {
	list := slices.DeleteFunc(slices.Clone(v.kinds), func(k kind) bool { return k.count == 0 })
	slices.SortStableFunc(list, func(a, b kind) int { return int(min(max(b.count-a.count, -1), 1)) })
	const most = 24
	var all []string
	for _, k := range list[:min(len(list), most)] {
		name := clr.Name(k.meta.Provider, k.meta.EventID)
		if name == "" {
			name = k.meta.Name
		}
		if name == "" {
			name = strconv.Itoa(k.meta.EventID)
		}
		if k.meta.Provider != clr.RuntimeProvider {
			name = strings.TrimPrefix(k.meta.Provider, "Microsoft-Windows-") + "/" + name
		}
		all = append(all, fmt.Sprintf("%s %d", name, k.count))
	}
	if len(list) > most {
		all = append(all, fmt.Sprintf("and %d kinds more", len(list)-most))
	}
	return strings.Join(all, ", ")
}

// maxProcesses is how many processes of a recording are distinguished.
const maxProcesses = 10000

// recording reads a recording to its end.
func (r *Report) recording(in *history.Source, events *inventory) {
	f := in.Files[0]
	r.fact("kind", "nettrace V%d, 1 tick is %g ns", f.Trace.Major, 1e9/float64(f.Trace.TicksPerSecond))
	list, sum := tallies(in)
	if f.Trace.Dated() {
		r.fact("begin", "%s", f.Trace.SyncTime.UTC().Format(time.RFC3339Nano))
	} else {
		r.add(Note, "no-date", "it does not say when it was recorded")
	}
	r.fact("readable", "%s uncompressed", formats.SizeText(f.Stats().Bytes))
	r.fact("length", "%s", in.Length().Round(time.Millisecond))
	r.processes(list)
	r.verdict(list)
	r.fact("events", "%s", events.text())
	r.fact("collections", "%d, %d of them background, %d incomplete", sum.gcs, sum.background, sum.incomplete)
	before := fmt.Sprintf("; the %d collections before that are complete", sum.gcs-sum.incomplete)
	if limit, ok := errors.AsType[*unpack.LimitError](f.Err); ok {
		r.add(Failure, "unpack-limit", "%v%s", limit, before)
	} else if packed, ok := errors.AsType[*unpack.Error](f.Err); ok {
		r.add(Failure, "bad-packing",
			"it cannot be decompressed beyond byte %d of its contents: %v%s", f.Stats().Bytes, packed, before)
	} else if f.Err != nil {
		r.broken(f.Err, before)
	}
	r.missingEvents(events, sum, in.Heard())
	r.losses(f.Trace, events, sum)
	if n := f.Stats().Late; n > 0 {
		r.add(Note, "late-events", "%d events came after later ones", n)
	}
	switch {
	case len(events.pids) > 1:
		r.add(Note, "several-processes", "it contains %d processes with GC events", len(events.pids))
	case len(events.pids) == 0 && f.Trace.ProcessID == 0:
		r.add(Note, "no-process-info", "it does not say which process it is from")
	}
}

// processes adds what the stream reports about its processes.
func (r *Report) processes(list []*tally) {
	var all []string
	const most = 8
	for _, t := range list[:min(len(list), most)] {
		p := t.process
		words := []string{strconv.FormatInt(p.ID, 10), p.Name, p.Flavor, p.RuntimeVersion, GC(p)}
		all = append(all, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
	}
	if len(list) > most {
		all = append(all, fmt.Sprintf("and %d more", len(list)-most))
	}
	r.fact("process", "%s", strings.Join(all, "; "))
}

// verdict adds what the garbage collection of the process comes to, before all other facts.
func (r *Report) verdict(list []*tally) {
	if len(list) != 1 || list[0].gcs == 0 {
		return
	}
	t := list[0]
	t.findings.EndedBy(&t.end)
	v := t.findings.Verdict()
	r.Facts = append([]Fact{{"verdict", v.Sentence()}}, r.Facts...)
}

// endings adds how processes ended, before all other facts.
func (r *Report) endings(list []*tally) {
	var all []string
	const most = 8
	for _, t := range list {
		if !t.end.Reason.OfProcess() {
			continue
		}
		if len(all) == most {
			all = append(all, "and more")
			break
		}
		all = append(all, fmt.Sprintf("process %d %s, at %s",
			t.process.ID, t.end.AppendTo(nil), t.process.Time(t.end.At).UTC().Format(time.RFC3339Nano)))
	}
	if len(all) > 0 {
		r.Facts = slices.Insert(r.Facts, 0, Fact{"end", strings.Join(all, "; ")})
	}
}

// missingEvents adds what is unknown because events are missing. heard reports whether other events
// show that the GC was recorded.
func (r *Report) missingEvents(v *inventory, sum *tally, heard bool) {
	has := func(ids ...int) bool { return v.count(clr.RuntimeProvider, ids...) > 0 }
	if !has(clr.IDGCStart, clr.IDGCEnd) {
		text := "it has no events of the provider " + clr.RuntimeProvider + ": it was not recorded"
		switch {
		case heard, v.count(clr.RecordingProvider) > 0: // gclog record always enables the GC's events
			text = "GC events were recorded, but no collection happened"
		case has():
			text = "it has events of the provider " + clr.RuntimeProvider +
				", but none of the keyword GC (0x1) at level 4"
		}
		r.add(Warning, "no-gc-events", "%s", text)
		return
	}
	if sum.incomplete > 0 {
		r.add(Note, "incomplete-gcs", "%d of %d collections are incomplete", sum.incomplete, sum.gcs)
	}
	if !has(clr.IDGCSuspendEEBegin) || !has(clr.IDGCRestartEEEnd) {
		r.add(Warning, "no-pauses", "it has no suspensions (GCSuspendEEBegin, GCRestartEEEnd): no pauses")
	}
	if !has(clr.IDGCHeapStats) {
		r.add(Warning, "no-heap-stats", "it has no GCHeapStats: no sizes after collections")
	}
	if !has(clr.IDGCGlobalHeapHistory) || !has(clr.IDGCPerHeapHistory) {
		r.add(Warning, "no-heap-history", "it has no GCGlobalHeapHistory or no GCPerHeapHistory: no sizes before, "+
			"budgets, free space and memory load")
	}
	if !has(clr.IDGCAllocationTick) {
		r.add(Note, "no-allocation-ticks", "it has no allocation ticks: it was recorded below level full")
	}
	if sum.background > 0 && v.count(clr.PrivateProvider) == 0 {
		r.add(Note, "no-private-events",
			"it has %d background collections but no events of the provider %s: their phases have no times",
			sum.background, clr.PrivateProvider)
	}
}

func (r *Report) losses(trace *parse.Trace, v *inventory, sum *tally) {
	if v.lost > 0 {
		at := func(ns int64) string { return trace.SyncTime.Add(time.Duration(ns)).UTC().Format(time.RFC3339Nano) }
		r.add(Warning, "lost-events", "%d events were lost between %s and %s", v.lost, at(v.lostFrom), at(v.lostTo))
	}
	if sum.missing > 0 {
		r.add(Warning, "missing-gcs", "missing collection numbers: %d", sum.missing)
	}
}
