package parse_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// synthetic returns a stream of about size bytes in blocks of 100 KB. The rows of a block have
// payloads of n bytes and come from two threads alternately.
func synthetic(size, n int) []byte {
	var w nettracetest.V4
	w.Begin(nettracetest.DefaultClock())
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 4, Level: 5})
	ticks := nettracetest.DefaultClock().Ticks
	payload := make([]byte, n)
	for thread := uint64(100); len(w.Bytes) < size; thread ^= 1 {
		var rows []nettracetest.Row
		for total := 0; total < 100_000; total += n + 3 {
			ticks += 2000
			rows = append(rows, nettracetest.Row{Kind: 1, Thread: thread, Ticks: ticks, Sorted: total == 0, Payload: payload})
		}
		w.Events(rows...)
	}
	w.End()
	return w.Bytes
}

// BenchmarkWalk walks the headers of rows that the filter does not want.
func BenchmarkWalk(b *testing.B) { benchmarkRead(b, parse.None) }

// BenchmarkRead delivers every row in time order.
func BenchmarkRead(b *testing.B) { benchmarkRead(b, parse.All) }

func benchmarkRead(b *testing.B, filter func(*parse.Metadata) parse.Want) {
	for _, n := range []int{26, 42, 110} {
		data := synthetic(16<<20, n)
		b.Run(fmt.Sprintf("row=%dB", n+3), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			src := bytes.NewReader(data)
			r := parse.NewReader(src, filter)
			var rows int64
			for b.Loop() {
				src.Reset(data)
				r.Reset(src, filter)
				for r.Scan() {
				}
				if err := r.Err(); err != nil {
					b.Fatal(err)
				}
				rows += r.Stats().Rows
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
