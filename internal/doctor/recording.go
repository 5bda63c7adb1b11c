package doctor

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A tally is what a recording, or a log, holds of one process.
type tally struct {
	gclog.NopObserver
	process    *gclog.Process
	gcs        int64
	background int64
	incomplete int64
	lost       uint64
	lostFrom   int64 // nanoseconds since the sync point
	lostTo     int64
	missing    uint64 // numbers of collections
	gaps       map[string]int64
}

// GC implements gclog.Observer.
func (t *tally) GC(d *gclog.GCDetails) {
	t.gcs++
	if d.Kind == gclog.KindBackground {
		t.background++
	}
	if !d.Complete {
		t.incomplete++
	}
}

// Gap implements gclog.Observer.
func (t *tally) Gap(g *gclog.Gap) {
	if t.gaps == nil {
		t.gaps = map[string]int64{}
	}
	t.gaps[g.Reason.String()]++
	if g.Reason == gclog.GapMissedGCs {
		t.missing += uint64(g.To) - uint64(g.From) + 1
	}
}

// An inventory is what kinds of events a recording has.
type inventory struct {
	kinds []kind // by parse.Metadata.Index
}

type kind struct {
	meta   *parse.Metadata
	count  int64
	wanted bool // by the Reducer
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

// count is how many events of a provider there are, of these ids, or of all if none is
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

// maxProcesses is how many processes of a recording are told apart.
const maxProcesses = 10000

// recording reads a recording to its end. head is its begin, size that of the file,
// packed or not.
func (r *Report) recording(src *unpacked, head []byte, size int64) {
	reader := parse.NewReader(src, parse.All)
	trace, err := reader.ReadTrace()
	if err != nil {
		if kind, ok := errors.AsType[*parse.KindError](err); ok {
			r.notRecording(kind, head)
			return
		}
		r.broken(src, reader, err, nil)
		return
	}
	r.fact("kind", "nettrace V%d, 1 tick is %g ns", trace.Major, 1e9/float64(trace.TicksPerSecond))
	r.fact("begin", "%s", trace.SyncTime.UTC().Format(time.RFC3339Nano))
	var events inventory
	var tallies []*tally
	lost := &tally{}
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		t := &tally{process: p}
		tallies = append(tallies, t)
		return t
	})
	pids := map[int64]bool{}
	newest := int64(0)
	for reader.Scan() {
		if l := reader.Loss(); l != nil {
			if lost.lost == 0 {
				lost.lostFrom = l.From
			}
			lost.lost += uint64(l.Events)
			lost.lostTo = l.To
			processes.Take(reader)
			continue
		}
		e := reader.Event()
		newest = max(newest, e.Time)
		k := events.of(e.Meta)
		k.count += 1 + int64(e.More)
		if k.wanted {
			if len(pids) < maxProcesses {
				pids[e.Process] = true
			}
			processes.Take(reader)
		}
	}
	processes.Finish()
	r.fact("readable", "%s of what is in it", output.SizeText(reader.Stats().Bytes))
	r.fact("length", "%s", time.Duration(newest).Round(time.Millisecond))
	r.processes(processes.List())
	r.fact("events", "%s", events.text())
	sum := sum(tallies)
	r.fact("collections", "%d, %d of them background, %d incomplete", sum.gcs, sum.background, sum.incomplete)
	if err := reader.Err(); err != nil || src.err != nil {
		r.broken(src, reader, err, &sum)
	}
	r.missingEvents(&events, &sum)
	r.losses(trace, lost, &sum)
	if n := reader.Stats().Late; n > 0 {
		r.add(Note, "late-events", "%d events came later than younger ones", n)
	}
	delete(pids, 0)
	switch {
	case len(pids) > 1:
		r.add(Note, "several-processes", "it holds %d processes with events of the GC", len(pids))
	case len(pids) == 0 && trace.ProcessID == 0:
		r.add(Note, "no-process-info", "it does not tell which process it is of")
	}
}

// processes adds what the stream tells of its processes.
func (r *Report) processes(list []*gclog.Process) {
	var all []string
	const most = 8
	for _, p := range list[:min(len(list), most)] {
		words := []string{strconv.FormatInt(p.ID, 10), p.Name, p.Flavor, p.RuntimeVersion, GC(p)}
		all = append(all, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
	}
	if len(list) > most {
		all = append(all, fmt.Sprintf("and %d more", len(list)-most))
	}
	r.fact("process", "%s", strings.Join(all, "; "))
}

func sum(tallies []*tally) (all tally) {
	for _, t := range tallies {
		all.gcs += t.gcs
		all.background += t.background
		all.incomplete += t.incomplete
		all.missing += t.missing
	}
	return all
}

// broken says where a recording cannot be read any more; sum is what came before, nil
// if nothing did.
func (r *Report) broken(src *unpacked, reader *parse.Reader, err error, sum *tally) {
	before := ""
	if sum != nil {
		before = fmt.Sprintf("; %d collections before that are whole", sum.gcs-sum.incomplete)
	}
	format, isFormat := errors.AsType[*parse.FormatError](err)
	switch {
	case src.err != nil:
		r.add(Failure, "bad-packing", "it cannot be unpacked beyond the byte %d of what is in it: %v%s", reader.Stats().Bytes, src.err, before)
	case isFormat && errors.Is(err, io.ErrUnexpectedEOF) && format.Block == "" && sum != nil:
		r.add(Failure, "unfinished", "%v%s", err, before)
	case isFormat && errors.Is(err, io.ErrUnexpectedEOF):
		r.add(Failure, "truncated", "%v%s", err, before)
	case isFormat:
		r.add(Failure, "damaged", "%v%s", err, before)
	default:
		r.add(Failure, "unreadable", "%v%s", err, before)
	}
}

// Events that are there only where the GC was recorded: those of collections, and others.
var (
	ofCollections = [...]int{clr.IDGCStart, clr.IDGCEnd}
	ofGC          = [...]int{clr.IDGCSuspendEEBegin, clr.IDGCTriggered, clr.IDGCAllocationTick}
)

// OfGC tells whether an event shows that the GC was recorded.
func OfGC(m *parse.Metadata) bool {
	return m.Provider == clr.RuntimeProvider && (slices.Contains(ofCollections[:], m.EventID) || slices.Contains(ofGC[:], m.EventID))
}

// missingEvents says what cannot be told without the events that are missing.
func (r *Report) missingEvents(v *inventory, sum *tally) {
	has := func(ids ...int) bool { return v.count(clr.RuntimeProvider, ids...) > 0 }
	if !has(ofCollections[:]...) {
		text := "it has no event of the provider " + clr.RuntimeProvider + ": that was not recorded"
		switch {
		case has(ofGC[:]...), v.count(clr.RecordingProvider) > 0: // gclog record always asks for the GC's events
			text = "the GC was recorded, and no collection has happened"
		case has():
			text = "it has events of the provider " + clr.RuntimeProvider + ", but none of the keyword GC (0x1) at level 4"
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
		r.add(Warning, "no-heap-history", "it has no GCGlobalHeapHistory or no GCPerHeapHistory: no sizes before, budgets, free space and memory load")
	}
	if !has(clr.IDGCAllocationTick) {
		r.add(Note, "no-allocation-ticks", "it has no allocation ticks: it was recorded below level full")
	}
	if sum.background > 0 && v.count(clr.PrivateProvider) == 0 {
		r.add(Note, "no-private-events", "it has %d background collections and no event of the provider %s: their phases have no times", sum.background, clr.PrivateProvider)
	}
}

func (r *Report) losses(trace *parse.Trace, lost, sum *tally) {
	if lost.lost > 0 {
		at := func(ns int64) string { return trace.SyncTime.Add(time.Duration(ns)).UTC().Format(time.RFC3339Nano) }
		r.add(Warning, "lost-events", "%d events were lost between %s and %s", lost.lost, at(lost.lostFrom), at(lost.lostTo))
	}
	if sum.missing > 0 {
		r.add(Warning, "missing-gcs", "the numbers of %d collections are missing", sum.missing)
	}
}
