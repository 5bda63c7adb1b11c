package gclog_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A dumped is a collection that may be that of a heap snapshot: how it was requested, and how long
// its end took.
type dumped struct {
	trigger uint64 // thread; 0: not reported
	gen     uint32
	typ     clr.GCType
	reason  clr.Reason
	after   int64 // microseconds from the last history to GCEnd
	roots   bool  // the walk is in the session
	lost    bool  // events were lost
	silent  bool  // no history is reported
}

const diagnosticsThread, programThread, gcThread = 77, 5, 9

// play feeds the collection to a Reducer. With server GC, its own thread suspends the others.
func (x dumped) play(s *story, server bool) {
	suspends := x.trigger
	if server || x.trigger == 0 {
		suspends = gcThread
	}
	if server && x.trigger != 0 {
		s.triggered(x.trigger)
	}
	s.suspend(suspends, clr.SuspendForGC)
	if !server && x.trigger != 0 {
		s.triggered(x.trigger)
	}
	s.start(suspends, 1, x.gen, x.typ, x.reason)
	if !x.silent {
		s.event(suspends, &clr.GCGlobalHeapHistory{CondemnedGeneration: x.gen, Heaps: map[bool]int32{false: 1, true: 2}[server]})
		s.event(suspends, perHeap(0))
		if server {
			s.event(suspends+1, perHeap(1)) // that thread has reported no global history
			s.event(suspends, perHeap(1))
		}
	}
	end := s.now - 1 + x.after
	if x.roots {
		s.event(suspends, &clr.GCBulkRootEdge{})
	}
	if x.lost {
		s.Loss(gclog.Stamp{Time: s.now * 1000, Thread: 3}, 0, 1)
	}
	s.at(end).finish(suspends, 1, x.gen).restart(suspends)
}

// A requesting is a story whose gclog has requested something.
type requesting struct {
	*story
	request gclog.Request
	asked   int
	pauses  []gclog.GCDetails
}

func (r *requesting) requested() gclog.Request { r.asked++; return r.request }

// Observe takes a record.
func (r *requesting) Observe(x gclog.Record) {
	switch x := x.(type) {
	case *gclog.Pause:
		r.story.Observe(x)
		if x.GC != nil {
			r.pauses = append(r.pauses, *x.GC)
		}
	default:
		r.story.Observe(x)
	}
}

// TestHeapDumps: what shows that a collection is that of a heap snapshot, and who requested it. The
// pause, which comes before the record, shows the same.
func TestHeapDumps(t *testing.T) {
	const (
		none, other, own = "", "other", "gclog"
		unknown, known   = false, true
	)
	dump := func(changes ...func(*dumped)) dumped {
		x := dumped{trigger: diagnosticsThread, gen: 2, reason: clr.ReasonInduced, after: 1100}
		for _, change := range changes {
			change(&x)
		}
		return x
	}
	byProgram := func(x *dumped) { x.trigger = programThread }
	noWalk := func(x *dumped) { x.after = 99 }
	roots := func(x *dumped) { x.roots = true }
	for _, tc := range []struct {
		name     string
		gc       dumped
		threads  bool // the diagnostics thread is known
		request  gclog.Request
		snapshot bool // the recording is of gclog's own snapshot
		want     string
		asks     bool // what gclog requested decides
	}{
		{"of a tool", dump(), known, gclog.RequestNone, false, other, true},
		{"at the threshold", dump(func(x *dumped) { x.after = 100 }), known, gclog.RequestNone, false, other, true},
		{"below it", dump(noWalk), known, gclog.RequestNone, false, none, true},
		{"of gclog", dump(), known, gclog.RequestSnapshot, false, own, true},
		{"of gclog, with a tiny heap", dump(noWalk), known, gclog.RequestSnapshot, false, own, true},
		{"gclog gc on a busy machine", dump(), known, gclog.RequestGC, false, none, true},
		{"in a recording of gclog's", dump(), known, gclog.RequestNone, true, own, true},
		{"GC.Collect", dump(byProgram), known, gclog.RequestNone, false, none, false},
		{"GC.Collect during a snapshot", dump(byProgram), known, gclog.RequestSnapshot, false, none, false},
		{"unknown thread", dump(), unknown, gclog.RequestNone, false, none, true},
		{"unknown thread, of gclog", dump(), unknown, gclog.RequestSnapshot, false, own, true},
		{"unknown thread, without a walk", dump(noWalk), unknown, gclog.RequestSnapshot, false, none, false},
		{"unknown thread, gclog gc", dump(), unknown, gclog.RequestGC, false, none, true},
		{"no trigger", dump(func(x *dumped) { x.trigger = 0 }), known, gclog.RequestSnapshot, false, none, false},
		{"no trigger, unknown thread", dump(func(x *dumped) { x.trigger = 0 }), unknown, gclog.RequestSnapshot, false, none, false},
		{"no history", dump(func(x *dumped) { x.silent = true }), known, gclog.RequestSnapshot, false, none, false},
		{"gen1", dump(func(x *dumped) { x.gen = 1 }), known, gclog.RequestSnapshot, false, none, false},
		{"another reason", dump(func(x *dumped) { x.reason = clr.ReasonAllocSmall }), known, gclog.RequestSnapshot, false, none, false},
		{"not forced", dump(func(x *dumped) { x.reason = clr.ReasonInducedNotForced }), known, gclog.RequestSnapshot, false, none, false},
		{"demoted", dump(func(x *dumped) { x.typ = clr.TypeBackground }), known, gclog.RequestSnapshot, false, none, false},
		{"lossy", dump(func(x *dumped) { x.lost = true }), known, gclog.RequestSnapshot, false, none, false},
		{"with the walk", dump(roots), unknown, gclog.RequestNone, false, other, true},
		{"with the walk, of gclog", dump(roots), unknown, gclog.RequestSnapshot, false, own, true},
		{"with the walk, while gclog gc runs", dump(roots), unknown, gclog.RequestGC, false, other, true},
		{"with the walk, of a recording of gclog's", dump(roots), unknown, gclog.RequestNone, true, own, true},
		{"with the walk, gen1", dump(roots, byProgram, func(x *dumped) { x.gen, x.reason = 1, clr.ReasonAllocSmall }), known, gclog.RequestNone, false, other, true},
		{"with the walk, lossy", dump(roots, func(x *dumped) { x.lost = true }), known, gclog.RequestNone, false, other, true},
	} {
		for _, server := range []bool{false, true} {
			r := &requesting{story: &story{}, request: tc.request}
			r.Reducer = gclog.NewReducer(r.Observe)
			r.Reducer.Requested = r.requested
			p := &gclog.Process{Snapshot: tc.snapshot}
			if tc.threads {
				p.DiagnosticsThreads = []uint64{12, diagnosticsThread}
			}
			r.SetProcess(p)
			tc.gc.play(r.story, server)
			if len(r.gcs) != 1 {
				t.Fatalf("%s, server %v: emitted %q", tc.name, server, r.emitted)
			}
			for _, d := range append(r.pauses, *r.gcs[0]) {
				if got := dumpText(&d); got != tc.want {
					t.Errorf("%s, server %v: %q, want %q", tc.name, server, got, tc.want)
				}
			}
			if asks := r.asked > 0; asks != tc.asks || r.asked > 1 {
				t.Errorf("%s, server %v: what gclog requested is asked for %d times", tc.name, server, r.asked)
			}
		}
	}
}

// dumpText returns who requested the snapshot that a collection is for, "" if it is for none.
func dumpText(d *gclog.GCDetails) string {
	if !d.HeapDump {
		return ""
	}
	return d.HeapDumpBy.String()
}

// TestHeapDumpNobodyAsked: a Reducer without facts and whose Observer knows nothing marks only what
// the events of a walk show.
func TestHeapDumpNobodyAsked(t *testing.T) {
	for _, roots := range []bool{false, true} {
		s := newStory()
		dumped{trigger: diagnosticsThread, gen: 2, reason: clr.ReasonInduced, after: 1100, roots: roots}.play(s, false)
		if got := dumpText(s.gcs[0]); (got == "other") != roots {
			t.Errorf("walk %v: %q", roots, got)
		}
	}
}

// TestRequesters: names are read as they are written.
func TestRequesters(t *testing.T) {
	for _, r := range []gclog.Requester{gclog.RequesterOther, gclog.RequesterGclog} {
		if got, ok := gclog.ParseRequester([]byte(r.String())); got != r || !ok {
			t.Errorf("%q: %v, %v", r, got, ok)
		}
	}
	if r, ok := gclog.ParseRequester([]byte("Gclog")); ok {
		t.Errorf("read as %v", r)
	}
}

// walkJudge finds the collections that were walked: those with nodes between their start and their
// end, in the order of the stream's time.
type walkJudge struct {
	open   map[uint32]bool // those open, and whether nodes came
	walked []uint32
}

func (j *walkJudge) event(e clr.Event) {
	switch e := e.(type) {
	case *clr.GCStart:
		j.open[e.Count] = false
	case *clr.GCEnd:
		if j.open[e.Count] {
			j.walked = append(j.walked, e.Count)
		}
		delete(j.open, e.Count)
	case *clr.GCBulkNode:
		last := uint32(0)
		for n := range j.open {
			last = max(last, n)
		}
		if last != 0 {
			j.open[last] = true
		}
	}
}

// TestHeapDumpRecordings: in every recording exactly the collections that were walked are marked.
func TestHeapDumpRecordings(t *testing.T) {
	check := func(t *testing.T, tr recordings.Trace) (marked []uint32) {
		j := &walkJudge{open: map[uint32]bool{}}
		stream := recordings.Read(t, tr.Path)
		r := parse.NewReader(bytes.NewReader(stream), parse.All)
		trace, err := r.ReadTrace()
		if err != nil {
			t.Fatal(err)
		}
		d := clr.NewDecoder(trace.PointerSize)
		for r.Scan() {
			if r.Loss() != nil {
				continue
			}
			if e, err := d.Decode(r.Event()); err == nil && e != nil {
				j.event(e)
			}
		}
		for _, o := range reduce(t, stream).recorders {
			for _, gc := range o.gcs {
				if gc.HeapDump {
					marked = append(marked, gc.Number)
				}
				if gc.HeapDumpBy != gclog.RequesterOther {
					t.Errorf("%d is by %s", gc.Number, gc.HeapDumpBy)
				}
			}
		}
		slices.Sort(marked)
		slices.Sort(j.walked)
		if !slices.Equal(marked, j.walked) {
			t.Errorf("marked %v, walked %v", marked, j.walked)
		}
		return marked
	}
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) { check(t, tr) })
	t.Run("heap-traces", func(t *testing.T) {
		for _, tr := range recordings.Traces(t, "heap-traces") {
			t.Run(tr.Name, func(t *testing.T) {
				marked := check(t, tr)
				if len(marked) == 0 || tr.Name == "three-walks" && len(marked) != 3 {
					t.Errorf("marked %v", marked)
				}
			})
		}
	})
}
