package clr_test

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// Decode fills in a struct that belongs to the Decoder: it is valid until the next event of its
// kind.
func ExampleDecoder() {
	f, err := os.Open("../../testdata/traces/net10-datas-bgc.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	r := parse.NewReader(unpacked, parse.All)
	trace, err := r.ReadTrace()
	if err != nil {
		log.Fatal(err)
	}
	d := clr.NewDecoder(trace.PointerSize)
	for r.Scan() {
		if r.Loss() != nil {
			continue
		}
		event, err := d.Decode(r.Event())
		if err != nil {
			log.Fatal(err)
		}
		if start, ok := event.(*clr.GCStart); ok {
			fmt.Println(start.Count, start.Depth, start.Type, start.Reason)
		}
	}
	// Output:
	// 1 0 NonConcurrentGC AllocSmall
	// 2 1 NonConcurrentGC AllocSmall
	// 3 0 NonConcurrentGC AllocSmall
	// 4 2 NonConcurrentGC AllocSmall
	// 5 2 BackgroundGC AllocSmall
	// 6 0 NonConcurrentGC AllocSmall
	// 7 0 NonConcurrentGC AllocSmall
	// 8 0 NonConcurrentGC AllocSmall
	// 9 0 NonConcurrentGC AllocSmall
	// 10 0 NonConcurrentGC AllocSmall
}
