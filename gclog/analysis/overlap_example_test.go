package analysis_test

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// Was it the GC? A request lasted from 90 ms to 150 ms after the sync point.
func ExampleTimeline() {
	ms := int64(time.Millisecond)
	t := analysis.NewTimeline(analysis.Always())
	// A Timeline is an Observer: usually a Reducer calls these methods.
	t.Observe(&gclog.Start{At: 0})
	t.Observe(&gclog.Pause{
		PausePart: gclog.PausePart{Kind: gclog.PauseBlocking, Start: 100 * ms, Duration: 40 * ms},
		GC:        &gclog.GCDetails{Number: 7, Known: gclog.GroupNumber, Generation: 1},
	})
	t.Observe(&gclog.End{At: 1000 * ms})

	o := t.Overlap(90*ms, 150*ms)
	fmt.Println(time.Duration(o.Pause), "in", o.Pauses, "pause, for the collections", t.AppendNumbers(nil, o, 10))
	before, after := t.Nearest(200*ms, 300*ms)
	fmt.Println("before 200 ms the last one ended at", time.Duration(before.End()), "and one after it:", after != nil)
	// Output:
	// 40ms in 1 pause, for the collections [7]
	// before 200 ms the last one ended at 140ms and one after it: false
}
