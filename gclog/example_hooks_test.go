package gclog_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// recording opens a recording of .NET 10. A live process yields the same kind of stream: see
// session.Client.StartTracing.
func recording() io.ReadCloser {
	f, err := os.Open("../testdata/traces/net10-datas-bgc.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	return unpacked
}

// This prints every collection until one takes longer than a limit: a second in a program that
// watches a process, a tenth of a second here.
func ExampleObserver() {
	const limit = 100 * time.Millisecond
	done := false
	observe := func(r gclog.Record) {
		if d, ok := r.(*gclog.GCDetails); ok {
			fmt.Printf("#%d gen%d: %v\n", d.Number, d.Generation, time.Duration(d.Pause()).Round(time.Millisecond))
			done = time.Duration(d.Pause()) > limit
		}
	}
	processes := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return observe })
	stream := recording()
	defer stream.Close()
	r := parse.NewReader(stream, gclog.Wanted)
	for !done && r.Scan() {
		processes.Take(r)
	}
	fmt.Println("stopped")
	// Output:
	// #1 gen0: 6ms
	// #2 gen1: 4ms
	// #3 gen0: 11ms
	// #4 gen2: 133ms
	// stopped
}

// A note is what this program keeps about a collection while it runs.
type note struct {
	roots    int           // times that a heap finished marking from one kind of root
	promoted uint64        // bytes kept alive by those roots
	after    time.Duration // time from the start of the first collection
}

// An EventObserver receives the events, each with its collection, to which it can attach its own
// data: here a note at GCStart, to which each event adds, and which is read when the collection is
// complete.
func ExampleEventObserver() {
	var first int64
	event := func(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
		switch e := e.(type) {
		case *clr.GCStart:
			if first == 0 {
				first = at.Time
			}
			d.UserData = &note{after: time.Duration(at.Time - first)}
		case *clr.GCMarkWithType:
			if d == nil {
				return // its GCStart was not seen
			}
			if x, ok := d.UserData.(*note); ok {
				x.roots++
				x.promoted += e.Promoted
			}
		}
	}
	processes := gclog.NewProcesses(func(*gclog.Process) gclog.Observer {
		return func(r gclog.Record) {
			d, ok := r.(*gclog.GCDetails)
			if !ok {
				return
			}
			if x, ok := d.UserData.(*note); ok && x.roots > 0 {
				fmt.Printf("#%d after %v: %d KB kept alive, in %d reports\n", d.Number, x.after.Round(time.Millisecond), x.promoted>>10, x.roots)
			}
		}
	})
	processes.Events = func(*gclog.Process) gclog.EventObserver { return event }
	stream := recording()
	defer stream.Close()
	if err := processes.Read(stream); err != nil {
		log.Fatal(err)
	}
	// Output:
	// #1 after 0s: 2140 KB kept alive, in 7 reports
	// #2 after 15ms: 4656 KB kept alive, in 7 reports
	// #3 after 45ms: 12847 KB kept alive, in 7 reports
	// #4 after 312ms: 40961 KB kept alive, in 6 reports
	// #6 after 1.106s: 6095 KB kept alive, in 14 reports
	// #7 after 2.004s: 6830 KB kept alive, in 14 reports
	// #8 after 2.852s: 6490 KB kept alive, in 14 reports
	// #9 after 3.697s: 6413 KB kept alive, in 14 reports
	// #10 after 4.547s: 6491 KB kept alive, in 14 reports
}

// A Reducer takes events from any source: here from a table, in a real program perhaps from another
// tool's log.
func ExampleReducer() {
	const ms = int64(time.Millisecond)
	source := []struct {
		time  int64
		event clr.Event
	}{
		{10 * ms, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC}},
		{11 * ms, &clr.GCSuspendEEEnd{}},
		{11 * ms, &clr.GCStart{Count: 7, Depth: 1, Reason: clr.ReasonAllocSmall}},
		{15 * ms, &clr.GCEnd{Count: 7, Depth: 1}},
		{15 * ms, &clr.GCHeapStats{Size: [gclog.Generations]uint64{1 << 20, 2 << 20, 5 << 20}}},
		{16 * ms, &clr.GCRestartEEBegin{}},
		{17 * ms, &clr.GCRestartEEEnd{}},
	}
	newest := gclog.NewHistory(100)
	r := gclog.NewReducer(newest.Observe)
	for _, s := range source {
		r.Event(gclog.Stamp{Time: s.time, Thread: 1}, s.event)
		if d := r.Current(); d != nil {
			fmt.Printf("at %v #%d is open\n", time.Duration(s.time), d.Number)
		}
	}
	r.Finish(20 * ms)
	for d := range newest.All() {
		suspend, _ := d.Suspend()
		fmt.Printf("#%d gen%d: suspended in %v, stood for %v, %d MB after\n", d.Number, d.Generation,
			time.Duration(suspend), time.Duration(d.Pause()), d.SizeAfter()>>20)
	}
	// Output:
	// at 11ms #7 is open
	// #7 gen1: suspended in 1ms, stood for 7ms, 8 MB after
}
