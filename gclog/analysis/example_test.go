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

// Statistics observe the records of a recording, and summarize them.
func ExampleStatistics() {
	f, err := os.Open("../../testdata/traces/net10-datas-bgc.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	// A recording of several processes needs a Statistics for each.
	statistics := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	if err := gclog.Read(unpacked, func(*gclog.Process) gclog.Observer { return statistics.Observe }); err != nil {
		log.Fatal(err)
	}

	s := statistics.Summary()
	for c := range analysis.Classes {
		x := &s.Classes[c]
		if x.Pauses.Count > 0 {
			fmt.Printf("%s: p50 %v, longest %v of %d\n", c, duration(x.Pauses.P50), duration(x.Pauses.Max), x.Pauses.Count)
		}
	}
	fmt.Printf("the program was paused for %.1f %% of %v\n", s.Share.Value, duration(s.Duration))
	if worst := s.Worst[0].Percent; !worst.Known() {
		fmt.Println("worst 10 s: n/a:", worst.Why)
	}
	// Output:
	// gen0: p50 64ms, longest 89ms of 7
	// gen1: p50 4ms, longest 4ms of 1
	// gen2.blocking: p50 133ms, longest 133ms of 1
	// background: p50 1ms, longest 26ms of 2
	// none: p50 6ms, longest 6ms of 1
	// all: p50 26ms, longest 133ms of 12
	// the program was paused for 9.4 % of 5.767s
	// worst 10 s: n/a: the observed time, 5.77 s, is shorter than 10 s
}

func duration(n analysis.Number) time.Duration {
	return time.Duration(n.Value).Round(time.Millisecond)
}

// Metrics are the same numbers by name, for thresholds and tables.
func ExampleSummary_Metrics() {
	statistics := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	statistics.Observe(&gclog.Start{At: 0})
	statistics.Observe(&gclog.Pause{PausePart: gclog.PausePart{Start: 1e9, Duration: 80e6}, GC: &gclog.GCDetails{Generation: gclog.Gen1}})
	statistics.Observe(&gclog.End{At: 20e9})
	for _, m := range statistics.Summary().Metrics() {
		switch m.Name {
		case "pause.max", "gen1.pause.count", "pause.share.10s", "pause.share.1m":
			if m.Known() {
				fmt.Printf("%s = %v %s\n", m.Name, m.Value, m.Unit)
			} else {
				fmt.Printf("%s = n/a: %s\n", m.Name, m.Why)
			}
		}
	}
	// Output:
	// pause.share.10s = 0.8 %
	// pause.share.1m = n/a: the observed time, 20 s, is shorter than 1 min
	// pause.max = 8e+07 ns
	// gen1.pause.count = 1
}
