package formats_test

import (
	"log"
	"os"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A Writer is a gclog.Observer: it can be given to gclog.NewReducer, or to
// gclog.NewProcesses for each process.
func ExampleWriter() {
	format, err := formats.Find("text")
	if err != nil {
		log.Fatal(err)
	}
	process := gclog.Process{ID: 4711, Sync: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	w := formats.NewWriter(format, formats.NewStream(os.Stdout, false), formats.Options{Process: process})
	w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 12, Time: 1_500_000_000})
	w.Observe(&gclog.End{At: 2_000_000_000, Reason: gclog.EndExited})
	if err := w.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// time             gc   gen  kind        reason        exceeded       compact  suspend ms      pause ms    before  ->     after  promoted      free
	// 12:00:01.500  ! 12 events are missing: the runtime dropped them because its buffer was full, or the stream is damaged
	// 12:00:02.000  process 4711 exited
}
