package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

const (
	// mostRows is how many collections and pauses a page has; of more, those with maximums.
	mostRows = 100_000
	// MostExplained is how many collections are explained in the page.
	MostExplained = 500
	// mostGaps is how many times without data are marked.
	mostGaps = 1000
)

// A Recorder is the observer of a report: it copies what tables and charts show from the records that it
// is passed.
type Recorder struct {
	window   analysis.Window
	findings func() []analysis.Finding

	gcs        *table
	pauses     *table // pauses without a record of their own: two of each background collection, and pauses without one
	histogram  [analysis.Classes][buckets]uint64
	conditions map[string]uint64 // collections by the reasons for their generation
	condemned  uint64            // collections that report these
	peers      *analysis.Peers
	kept       []kept
	gaps       []gap
	heapDumps  int
	end        int64
	began      bool
}

// A kept record may be explained.
type kept struct {
	id    int
	pause int64
	d     *gclog.GCDetails
}

// A gap is a time in which nothing was observed.
type gap struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Why  string `json:"why"`
}

// NewRecorder returns an empty Recorder for a part of a history. findings returns those so far: the
// collections that they name are explained in any case.
func NewRecorder(w analysis.Window, findings func() []analysis.Finding) *Recorder {
	return newRecorder(w, findings, mostRows)
}

func newRecorder(w analysis.Window, findings func() []analysis.Finding, rows int) *Recorder {
	r := &Recorder{
		window: w, findings: findings, conditions: map[string]uint64{}, peers: analysis.NewPeers(),
		gcs: newTable(allColumns(), rows, "pause.total", "suspend", "heap.peak", "heap.after", "heap.committed",
			"alloc_rate.bytes_per_s", "process.memory.rss"),
		pauses: newTable(pauseColumns(), rows, "duration", "suspend"),
	}
	r.gcs.keep = r.keptRows
	return r
}

// keptRows returns the rows of the records that may be explained.
func (r *Recorder) keptRows() map[int]bool {
	ids := map[int]bool{}
	for _, k := range r.kept {
		ids[k.id] = true
	}
	return ids
}

// pauseColumns are the columns of pauses, which Recorder.Pause fills in.
func pauseColumns() []column {
	return []column{
		{Key: "start", Unit: "time"},
		{Key: "duration", Unit: "ns"},
		{Key: "suspend", Unit: "ns"},
		{Key: "class", Unit: "name"},
		{Key: "kind", Unit: "name"},
		{Key: "number"},
	}
}

// Observe keeps what the page shows of a record.
func (r *Recorder) Observe(x gclog.Record) {
	switch x := x.(type) {
	case *gclog.Start:
		if r.began {
			r.gap(gap{r.end, x.At, "no session"})
		}
		r.began = true
		r.end = max(r.end, x.At)
	case *gclog.End:
		r.end = max(r.end, x.At)
	case *gclog.Gap:
		if x.Since > 0 {
			r.gap(gap{x.Since, x.Time, x.Reason.String()})
		}
	case *gclog.Pause:
		start, end := r.window.Clip(x.Start, x.Start+x.Duration)
		if start == end && !r.window.Contains(x.Start) {
			return
		}
		class := analysis.ClassOf(x.GC)
		r.histogram[class][bucketOf(end-start)]++
		if x.GC != nil && x.Kind == gclog.PauseBlocking {
			return // it is in the row of the collection
		}
		suspend, number := int64(unknown), int64(unknown)
		if x.HasSuspend {
			suspend = x.Suspend
		}
		if x.GC != nil && x.GC.Known.Has(gclog.GroupNumber) {
			number = int64(x.GC.Number)
		}
		r.pauses.addValues(start, end-start, suspend, r.pauses.names[3].number(class.String()),
			r.pauses.names[4].number(x.Kind.String()), number)
	case *gclog.GCDetails:
		if !r.window.Contains(started(x)) {
			return
		}
		id := r.gcs.add(x)
		if x.HeapDump {
			r.heapDumps++
		}
		r.peers.Observe(x)
		if _, conditions, known := x.Condemned(); known {
			r.condemned++
			for _, name := range conditions.Names(nil) {
				r.conditions[name]++
			}
		}
		r.kept = append(r.kept, kept{id, x.Pause(), x.Clone()})
		if len(r.kept) > 2*MostExplained {
			r.forget()
		}
	}
}

func (r *Recorder) gap(g gap) {
	if g.From, g.To = r.window.Clip(g.From, g.To); g.From < g.To && len(r.gaps) < mostGaps {
		r.gaps = append(r.gaps, g)
	}
}

// HeapDumps returns the number of collections for heap snapshots.
func (r *Recorder) HeapDumps() int { return r.heapDumps }

// forget drops the records that cannot be explained any more. The longest collections, and the ones that
// findings name now, are kept: findings name the worst of their kind, so no earlier one joins them later.
func (r *Recorder) forget() {
	named := map[uint32]bool{}
	for _, f := range r.findings() {
		for _, number := range f.GCs {
			named[number] = true
		}
	}
	first := func(k *kept) bool { return k.d.Known.Has(gclog.GroupNumber) && named[k.d.Number] }
	slices.SortStableFunc(r.kept, func(a, b kept) int {
		if x, y := first(&a), first(&b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.pause, a.pause)
	})
	n := min(len(r.kept), MostExplained)
	clear(r.kept[n:])
	r.kept = r.kept[:n]
}

// buckets is the number of buckets of the histogram of pauses: ten for each power of ten from 1 µs
// to 1000 s.
const (
	buckets       = 90
	perDecade     = 10
	firstBucketNS = 1000
)

// bucketOf returns the bucket of a pause.
func bucketOf(ns int64) int {
	if ns < firstBucketNS {
		return 0
	}
	return min(buckets-1, int(perDecade*math.Log10(float64(ns)/firstBucketNS)))
}

// bucketStart returns the shortest pause in a bucket, in nanoseconds.
func bucketStart(i int) float64 {
	return firstBucketNS * math.Pow(10, float64(i)/perDecade)
}
