package analysis_test

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// A wanted observes the collections of a recording, to explain one of them.
type wanted struct {
	*analysis.Peers
	number uint32
	found  *gclog.GCDetails
}

// Observe takes a record.
func (w *wanted) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		w.Peers.Observe(r)
		if r.Number == w.number {
			w.found = r.Clone()
		}
	default:
		w.Peers.Observe(r)
	}
}

// A collection is explained after all others have been seen, because it is compared with them.
func ExampleExplain() {
	f, err := os.Open("../../testdata/traces/net10-wks-verbose.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	w := &wanted{Peers: analysis.NewPeers(), number: 14}
	var process *gclog.Process
	if err := gclog.Read(unpacked, func(p *gclog.Process) gclog.Observer {
		process = p
		return w.Observe
	}); err != nil {
		log.Fatal(err)
	}

	e := analysis.Explain(w.found, analysis.Context{Process: process, Peers: w.Peers})
	fmt.Println(e.Title)
	for _, part := range e.Parts {
		fmt.Println(part.Name, time.Duration(part.Time.Value))
	}
	for _, s := range e.Comparison {
		fmt.Println(s.Text)
	}
	// Output:
	// Collection 14: blocking gen1 collection, AllocSmall, paused for 13.4 ms
	// until all threads were suspended 12.541µs
	// until the collection started 75.242µs
	// mark 3.832ms
	// plan 2.274ms
	// relocate 3.379ms
	// compact 3.669ms
	// unaccounted for 117.396µs
	// from its end until resuming began 13.164µs
	// until all threads resumed 40.749µs
	// Its pause was the 2nd longest of 3 blocking gen1 collections, about their median of 13.4 ms.
	// It promoted 3.87 MB, 0.55 times their median of 6.99 MB.
}
