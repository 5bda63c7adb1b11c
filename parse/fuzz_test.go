package parse_test

import (
	"bytes"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// FuzzReader: for any input, reading ends with an error or a result, and delivers no more rows than
// there are bytes.
func FuzzReader(f *testing.F) {
	for _, tr := range recordings.Repository(f) {
		if b := recordings.Read(f, tr.Path); len(b) < 100_000 {
			f.Add(b[:min(len(b), 20_000)])
		}
	}
	w := begin()
	w.Events(row(1, 10, true), row(2, 5, false))
	w.SequencePoint(t0+20, nettracetest.ThreadSeq{Thread: 1, Seq: 3})
	w.End()
	f.Add(w.Bytes)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := parse.NewReader(bytes.NewReader(b), parse.All)
		n := 0
		for r.Scan() {
			if n++; n > 2*len(b)+10 {
				t.Fatalf("%d rows from %d bytes", n, len(b))
			}
			if e := r.Event(); e != nil && len(e.Payload) > len(b) {
				t.Fatalf("a payload of %d bytes from %d", len(e.Payload), len(b))
			}
		}
		if r.Err() != nil && r.Err().Error() == "" {
			t.Error("an error without words")
		}
	})
}
