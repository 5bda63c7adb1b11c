package attach

import (
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// typical returns the record of a collection of server GC.
func typical() *gclog.GCDetails {
	return &gclog.GCDetails{
		Number: 1, Known: gclog.GroupNumber | gclog.GroupEnd | gclog.GroupGlobal, Start: 1e9, StartTicks: 1e9, End: 1_002e6,
		Pauses: []gclog.PausePart{{Start: 1e9, Duration: 2e6, Suspend: 1e5, HasSuspend: true, Resume: 1e4, HasResume: true}},
		Heaps:  make([]gclog.HeapDetails, 4),
	}
}

// passes puts the record of a collection into a queue and takes slot out.
func passes(q *queue, d *gclog.GCDetails) *gclog.Slot {
	d.Number++
	q.put(d)
	slot, _ := q.take()
	<-q.more
	return slot
}

func BenchmarkQueue(b *testing.B) {
	q, d := newQueue(), typical()
	b.ReportAllocs()
	for b.Loop() {
		q.give(passes(q, d))
	}
}

// BenchmarkRecord measures how a record gets from the queue into a JSON file.
func BenchmarkRecord(b *testing.B) {
	l, s, q, d := fileLog(b), &Session{o: SessionOptions{Progress: &Progress{}}}, newQueue(), typical()
	b.ReportAllocs()
	for b.Loop() {
		slot := passes(q, d)
		l.write(s, slot.Record)
		q.give(slot)
	}
}

// TestRecordAllocatesNothing: neither writing nor the queue allocates.
func TestRecordAllocatesNothing(t *testing.T) {
	l, s, q, d := fileLog(t), &Session{o: SessionOptions{Progress: &Progress{}}}, newQueue(), typical()
	record := func() {
		slot := passes(q, d)
		l.write(s, slot.Record)
		q.give(slot)
	}
	for range 10 { // until all memory is allocated
		record()
	}
	if n := testing.AllocsPerRun(100, record); n > 0 {
		t.Errorf("%v allocations for a record", n)
	}
}

// fileLog returns a log with a JSON file and an observer.
func fileLog(t testing.TB) *Log {
	path := filepath.Join(t.TempDir(), "gc.json")
	l := &Log{
		Outputs:  []output.Spec{{Path: path, Format: formats.ForFile(path)}},
		Opener:   &output.Opener{Warn: func(s string) { t.Error(s) }},
		observer: gclog.Tee(),
	}
	var err error
	if l.set, err = l.Opener.Open(l.Outputs, l.format()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}
