package logs_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
)

// lineReader returns a line with each Read, and calls before in front of each.
type lineReader struct {
	rest   []byte
	before func()
}

func (r *lineReader) Read(b []byte) (int, error) {
	r.before()
	i := bytes.IndexByte(r.rest, '\n') + 1
	if i == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest[:i])
	r.rest = r.rest[n:]
	return n, nil
}

// counter counts what it is passed.
type counter struct {
	starts, gcs int
}

// Observe takes a record.
func (c *counter) Observe(r gclog.Record) {
	switch r.(type) {
	case *gclog.GCDetails:
		c.gcs++
	case *gclog.Start:
		c.starts++
	}
}

// TestLive: a live Reader passes on each record before it reads the next line; another one holds
// them back.
func TestLive(t *testing.T) {
	var log bytes.Buffer
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	w := formats.NewWriter(format, formats.NewStream(&log, false), formats.Options{Process: gclog.Process{ID: 4711, Sync: time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)}})
	w.Observe(&gclog.Start{})
	const gcs = 20
	for n := range uint32(gcs) {
		w.Observe(&gclog.GCDetails{Number: n + 1, Known: gclog.GroupNumber, Start: int64(n+1) * 1e9, Complete: true})
	}
	for live, want := range map[bool]int{true: gcs, false: 0} {
		var c counter
		r, err := logs.NewReader(logs.Head{Format: "json"}, func(*gclog.Process) gclog.Observer { return c.Observe })
		if err != nil {
			t.Fatal(err)
		}
		r.Live = live
		seen, reads := 0, 0
		src := &lineReader{rest: log.Bytes()}
		src.before = func() {
			if reads++; c.gcs > 0 && c.gcs >= reads-3 { // the first line is the header, the second the start
				seen = c.gcs
			}
		}
		if _, err := r.Read(src); err != nil {
			t.Fatal(err)
		}
		if seen != want {
			t.Errorf("live %v: %d collections were passed on in time, want %d", live, seen, want)
		}
		if r.Finish(); c.gcs != gcs || c.starts != 1 {
			t.Errorf("live %v: %d collections, %d starts", live, c.gcs, c.starts)
		}
	}
}
