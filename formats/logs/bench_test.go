package logs_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A sink is an Observer that only counts records.
type sink struct{ records int }

// Observe takes a record.
func (s *sink) Observe(r gclog.Record) {
	if _, ok := r.(*gclog.GCDetails); ok {
		s.records++
	}
}

// benchmarkRead reads a log of about 20 MB, that of a recording with background collections,
// repeatedly.
func benchmarkRead(b *testing.B, format string) {
	path := filepath.Join(recordings.Root(), "testdata", "traces", "net9-wks-attach.nettrace.gz")
	one, _ := record(b, recordings.Read(b, path), format, facts)
	heads := 1
	if format == "unified" {
		heads = 3
	}
	benchmarkText(b, one, heads)
}

// benchmarkText reads a log whose header has heads lines, with its rows repeated.
func benchmarkText(b *testing.B, one []byte, heads int) {
	rows := one
	for range heads {
		_, rows, _ = bytes.Cut(rows, []byte{'\n'})
	}
	text := one
	for i := 1; len(text) < 20<<20; i++ {
		text = append(text, renumbered(rows, i*100_000)...)
	}
	h, _ := logs.Recognize(text[:logs.HeadSize])
	var out sink
	src := bytes.NewReader(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(text)
		r, err := logs.NewReader(h, func(*gclog.Process) gclog.Observer { return out.Observe })
		if err != nil {
			b.Fatal(err)
		}
		if skipped, err := r.Read(src); err != nil || skipped.Count != 0 {
			b.Fatal(skipped, err)
		}
		r.Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(out.records), "ns/record")
}

// numbers matches the numbers of collections in the formats.
var numbers = regexp.MustCompile(`(?m)(GC\(|"number":|^[0-9.]*,)([0-9]+)`)

// renumbered returns rows with higher numbers: a log that contains a collection twice is rejected.
func renumbered(rows []byte, more int) []byte {
	return numbers.ReplaceAllFunc(rows, func(b []byte) []byte {
		digits := bytes.TrimRight(b, "0123456789")
		n, _ := strconv.Atoi(string(b[len(digits):]))
		return strconv.AppendInt(bytes.Clone(digits), int64(n+more), 10)
	})
}

func BenchmarkReadUnified(b *testing.B) { benchmarkRead(b, "unified") }
func BenchmarkReadJSON(b *testing.B)    { benchmarkRead(b, "json") }
func BenchmarkReadCSV(b *testing.B)     { benchmarkRead(b, "csv") }
