package parse_test

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gclog/gclog/parse"
)

// A filter decides once for each kind of event whether it is wanted. The Reader only reads the
// headers of unwanted rows.
func ExampleReader() {
	f, err := os.Open("../testdata/traces/net10-datas-bgc.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	starts := func(m *parse.Metadata) parse.Want {
		return parse.Want{Deliver: m.Provider == "Microsoft-Windows-DotNETRuntime" && m.EventID == 1}
	}
	r := parse.NewReader(unpacked, starts)
	for r.Scan() {
		if r.Loss() != nil {
			fmt.Println("events are missing")
			continue
		}
		e := r.Event()
		fmt.Printf("%.3f s: event %d, version %d, %d bytes\n", float64(e.Time)/1e9, e.Meta.EventID, e.Version, len(e.Payload))
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Stats().Rows, "rows")
	// Output:
	// 0.268 s: event 1, version 2, 26 bytes
	// 0.283 s: event 1, version 2, 26 bytes
	// 0.313 s: event 1, version 2, 26 bytes
	// 0.580 s: event 1, version 2, 26 bytes
	// 1.374 s: event 1, version 2, 26 bytes
	// 1.374 s: event 1, version 2, 26 bytes
	// 2.272 s: event 1, version 2, 26 bytes
	// 3.120 s: event 1, version 2, 26 bytes
	// 3.965 s: event 1, version 2, 26 bytes
	// 4.815 s: event 1, version 2, 26 bytes
	// 347 rows
}
