package gclog_test

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gclog/gclog/gclog"
)

// printGC prints the record of a collection. Records are valid during the call only.
func printGC(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		fmt.Printf("#%d gen%d %v: stood for %d µs, %d KB before and %d after\n",
			d.Number, d.Generation, d.Kind, d.Pause()/1e3, d.SizeBefore()>>10, d.SizeAfter()>>10)
	}
}

// Read turns a stream into records, whichever processes are in it.
func ExampleRead() {
	f, err := os.Open("../testdata/traces/net10-datas-bgc.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	if err := gclog.Read(unpacked, func(*gclog.Process) gclog.Observer { return printGC }); err != nil {
		log.Fatal(err)
	}
	// Output:
	// #1 gen0 blocking: stood for 5701 µs, 2568 KB before and 2211 after
	// #2 gen1 blocking: stood for 4265 µs, 4719 KB before and 4719 after
	// #3 gen0 blocking: stood for 11041 µs, 17613 KB before and 17613 after
	// #4 gen2 blocking: stood for 133475 µs, 58823 KB before and 41184 after
	// #6 gen0 blocking: stood for 73591 µs, 106418 KB before and 47419 after
	// #5 gen2 background: stood for 26462 µs, 106418 KB before and 59948 after
	// #7 gen0 blocking: stood for 64263 µs, 111832 KB before and 54242 after
	// #8 gen0 blocking: stood for 54615 µs, 123900 KB before and 60881 after
	// #9 gen0 blocking: stood for 88826 µs, 130347 KB before and 67442 after
	// #10 gen0 blocking: stood for 73127 µs, 137229 KB before and 74082 after
}
