package gclog_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestTruth compares the records with what the program itself reported about the same collections:
// GC.GetGCMemoryInfo of each one that it caught, its counters at two marks and around each call
// that induced a collection.
func TestTruth(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		path := tr.Beside(".truth.jsonl.gz")
		if _, err := os.Stat(path); err != nil {
			t.Skip("the program of this recording said nothing")
		}
		x := reduce(t, recordings.Read(t, tr.Path))
		if len(x.recorders) != 1 {
			t.Fatalf("%d processes", len(x.recorders))
		}
		checkTruth(t, x, recordings.Read(t, path))
	})
}

// said is a line of the program, with the fields that only tests of old runtimes and of induced
// collections use.
type said struct {
	gcload.Line
	Counts        [3]int // .NET Core 3.1: collections so far of gen0, gen1, gen2, each including higher generations
	Before, After [3]int // the same before and after a call
	QPC0, QPC1    int64  // of the call
}

// truth compares one recording.
type truth struct {
	t      *testing.T
	x      *reduction
	o      *recorder
	server bool
}

func checkTruth(t *testing.T, x *reduction, lines []byte) {
	c := &truth{t: t, x: x, o: x.recorders[0]}
	byNumber := map[uint32]*gclog.GCDetails{}
	for _, d := range c.o.gcs {
		byNumber[d.Number] = d
	}
	first := x.processes.Reducer(c.o.process).First()
	var begin, end *said
	compared := 0
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		l := &said{}
		if err := json.Unmarshal(scanner.Bytes(), l); err != nil {
			t.Fatal(err)
		}
		switch {
		case l.Event == "ready":
			c.server = l.Server
			if v := c.o.process.RuntimeVersion; v != "" && v != l.Runtime {
				t.Errorf("runtime version %s, want %s", v, l.Runtime)
			}
			// A process with DATAS or several heaps has server GC; for others it may be unknown.
			got := c.o.process.Server
			shown := l.Server && (string(l.Config["GCDynamicAdaptationMode"]) == "1" || c.o.process.HeapCount > 1)
			if got != gclog.KnownBool(l.Server) && (shown || got != gclog.Unknown) {
				t.Errorf("server GC: %v, the program says %v", got, l.Server)
			}
		case l.Event == "mark" && l.Label == "begin":
			begin = l
		case l.Event == "mark" && l.Label == "end" && end == nil:
			end = l
		case l.Event == "step":
			c.step(l)
		case l.Event == "gc" && l.Kind == "counters":
			if d := byNumber[uint32(l.Counts[0])]; d != nil && d.Kind == gclog.KindBlocking {
				c.old(d, l)
				compared++
			}
		case l.Event == "gc" && !l.Phantom && l.HeapSizeBytes != 0:
			d := byNumber[l.Number()]
			switch {
			case d != nil && d.Complete:
				c.compare(d, l)
				compared++
			case l.Number() >= first && end == nil: // not those before the session, or after it
				t.Errorf("the program tells of #%d, and there is no record of it", l.Number())
			}
		}
	}
	if begin != nil && end != nil { // not if the session started in the middle, or the program died
		c.counters(begin, end)
		c.allocated(begin, end)
	}
	// The program looks at its collections from time to time: if they follow each other closely it
	// misses some, in the recordings of induced ones up to three in four.
	if compared*5 < len(c.o.gcs) {
		t.Errorf("the program says something about %d of %d records", compared, len(c.o.gcs))
	}
}

func (c *truth) check(d *gclog.GCDetails, what string, got, want uint64) {
	if got != want {
		c.t.Errorf("#%d %s is %d, the program says %d", d.Number, what, got, want)
	}
}

func (c *truth) compare(d *gclog.GCDetails, l *said) {
	t := c.t
	compacting, _ := d.Compacting()
	background := d.Kind == gclog.KindBackground
	kind := "ephemeral"
	switch {
	case background:
		kind = "background"
	case d.Generation == gclog.Gen2:
		kind = "fullBlocking"
	}
	if d.Generation != l.Generation || kind != l.Kind || background != l.Concurrent || compacting != l.Compacted {
		t.Errorf("#%d is gen%d %s background=%v compacting=%v, the program says gen%d %s %v %v",
			d.Number, d.Generation, kind, background, compacting, l.Generation, l.Kind, l.Concurrent, l.Compacted)
	}
	if !d.Known.Has(gclog.GroupHistory) || len(l.GenerationInfo) != d.GenerationCount {
		t.Errorf("#%d lacks the histories of its heaps, or has not %d generations", d.Number, len(l.GenerationInfo))
		return
	}
	// A background collection with foreground ones inside can report an earlier state to the program,
	// that of the histories, than at its end.
	inside := background && c.hasForeground(d)
	for g, want := range l.GenerationInfo {
		got := &d.Generations[g]
		name := gclog.GenerationName(g)
		c.check(d, name+" before", got.Before, want.SizeBefore)
		c.check(d, name+" after by the histories", historyAfter(d, g), want.SizeAfter)
		if !inside {
			c.check(d, name+" after", got.After, want.SizeAfter)
		}
		c.check(d, name+" fragmentation before", got.FreeBefore, want.FragBefore)
		c.check(d, name+" fragmentation after", got.Fragmentation, want.FragAfter)
	}
	if background {
		// The program's sum is from another moment, with stale numbers of the young generations,
		// and without pinned objects and finalization.
		if d.PromotedBytes > l.PromotedBytes {
			t.Errorf("#%d promoted %d, the program says %d with stale numbers", d.Number, d.PromotedBytes, l.PromotedBytes)
		}
		return
	}
	c.check(d, "heap size", d.SizeAfter(), l.HeapSizeBytes)
	c.check(d, "fragmentation", d.Fragmentation, l.FragmentedBytes)
	c.check(d, "promoted", d.PromotedBytes, l.PromotedBytes)
	c.check(d, "pinned objects", uint64(d.PinnedObjects), l.PinnedObjectsCount)
	c.check(d, "finalization pending", d.FinalizationCount, l.FinalizationPending)
	if d.Known.Has(gclog.GroupCommittedAfter) && d.CommittedAfter < l.TotalCommittedBytes {
		t.Errorf("#%d committed %d, the program says %d without the GC's own books", d.Number, d.CommittedAfter, l.TotalCommittedBytes)
	}
}

// hasForeground reports whether foreground collections ran during d.
func (c *truth) hasForeground(d *gclog.GCDetails) bool {
	return slices.ContainsFunc(c.o.gcs, func(o *gclog.GCDetails) bool {
		return o.Kind == gclog.KindForeground && o.Start > d.Start && o.Start < d.End
	})
}

// historyAfter returns the size of a generation after the collection, from the heap histories.
func historyAfter(d *gclog.GCDetails, g int) (n uint64) {
	for i := range d.Heaps {
		n += d.Heaps[i].History.Generation[g].SizeAfter
	}
	return n
}

// old is for .NET Core 3.1, which reports only the size of the heap and its free space, without a
// number: the collection is the one it has counted up to. While a background collection runs, the
// values may be of another one.
func (c *truth) old(d *gclog.GCDetails, l *said) {
	c.check(d, "heap size", d.SizeAfter(), l.HeapSizeBytes)
	c.check(d, "fragmentation", d.Fragmentation, l.FragmentedBytes)
}

// step checks that during a call there were as many collections as the program counted.
func (c *truth) step(l *said) {
	got := c.count(l.QPC0, l.QPC1)
	want := [3]int{l.After[0] - l.Before[0], l.After[1] - l.Before[1], l.After[2] - l.Before[2]}
	if got != want {
		c.t.Errorf("%v collections of gen0, 1, 2 and up in a call at %d, the program counts %v", got, l.QPC0, want)
	}
}

// count counts collections as the program does, between two times in ticks.
func (c *truth) count(from, to int64) (counts [3]int) {
	from, to = c.x.trace.Nanoseconds(from), c.x.trace.Nanoseconds(to)
	for _, d := range c.o.gcs {
		// A background collection counts when it starts.
		if d.Start < from || d.Start > to || d.Flaws&gclog.FlawNoStart != 0 {
			continue
		}
		for g := 0; g <= d.Generation; g++ {
			counts[g]++
		}
	}
	for _, p := range c.o.pauses {
		if p.Start >= from && p.Start <= to && p.UsedNumber != 0 {
			for g := range counts {
				counts[g]++
			}
		}
	}
	return counts
}

// counters checks that between two marks there were as many collections as the program counted, and
// that the suspensions are 1.00 to 1.12 times the pauses it measured. Its own account of a pause ends
// when the threads begin to resume: until then they are within 5 % of it.
func (c *truth) counters(begin, end *said) {
	got := c.count(begin.QPC, end.QPC)
	want := [3]int{end.Gen0 - begin.Gen0, end.Gen1 - begin.Gen1, end.Gen2 - begin.Gen2}
	if got != want {
		c.t.Errorf("%v collections of gen0, 1, 2 and up between the marks, the program counts %v", got, want)
	}
	if begin.PauseTotal == nil || end.PauseTotal == nil {
		return
	}
	from, to := c.x.trace.Nanoseconds(begin.QPC), c.x.trace.Nanoseconds(end.QPC)
	sum, paused := int64(0), int64(0)
	for _, p := range c.o.pauses {
		if p.Start >= from && p.Start <= to {
			sum += p.Duration
			paused += p.Paused()
		}
	}
	total := (*end.PauseTotal - *begin.PauseTotal) * 1000
	if ratio := float64(sum) / total; total > 1e6 && (ratio < 0.999 || ratio > 1.12) {
		c.t.Errorf("suspensions of %d ns, the program counts %.0f: %.3f times", sum, total, ratio)
	}
	if ratio := float64(paused) / total; total > 1e6 && (ratio < 0.99 || ratio > 1.05) {
		c.t.Errorf("until the threads are resumed %d ns, the program counts %.0f: %.3f times", paused, total, ratio)
	}
}

// allocated checks that between two marks the program allocated what the records report.
//
// No record can know what it allocated before the first record and after the last one. The former
// is there when the first collection starts, the latter is less than what triggered collections
// before.
func (c *truth) allocated(begin, end *said) {
	from, to := c.x.trace.Nanoseconds(begin.QPC), c.x.trace.Nanoseconds(end.QPC)
	before, after, sum := begin.Allocated, uint64(0), uint64(0)
	collections, background := 0, 0
	for _, d := range c.o.gcs {
		if d.Start < from || d.Start > to {
			continue
		}
		if !d.Known.Has(gclog.GroupAllocated) {
			if d.Number != 1 {
				c.t.Errorf("#%d does not know what was allocated", d.Number)
			}
			before = 0
			for g := range d.Generations {
				before += d.Generations[g].ObjectsBefore
			}
		}
		collections++
		if d.Kind == gclog.KindBackground {
			background++
		}
		sum += d.Allocated
		after = max(after, d.Allocated)
	}
	want := float64(end.Allocated - before)
	// A background collection turns gen0 objects into free space that the program may allocate in:
	// for heaps other than the fullest, nothing reports that. If server GC runs one after the
	// other, that is up to 3 % (the churn, provisional and verbose recordings of flavour svr). In
	// one recording (conserve) small objects triggered a collection before they had used up the
	// budget, which counts as if they had.
	under, over := 0.015, 0.004
	if background > 0 {
		over = 0.0125
	}
	if c.server && background*20 > collections {
		under = 0.03
	}
	if float64(sum) > (1+over)*want || float64(sum+after) < (1-under)*want {
		c.t.Errorf("%d bytes were allocated, and at most %d behind the last collection; the program says %.0f", sum, after, want)
	}
}
