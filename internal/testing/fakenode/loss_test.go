//go:build linux

package fakenode

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestLossAnywhere: whichever events a runtime drops, and however many, a record that is marked
// complete is right: it contains the pauses of its collection and no others.
func TestLossAnywhere(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, heaps := range []int{1, 2} {
		p := plan{random: random, rate: 300, background: 0.2, heaps: heaps, due: monotonic()}
		all := slices.Clone(p.until(p.due + int64(time.Second)/2))
		pauses := pausesOf(all)
		// What a thread loses before its first event in a stream cannot be detected.
		from := 0
		for _, thread := range threadsOf(nil, all) {
			from = max(from, 1+slices.IndexFunc(all, func(e event) bool { return e.thread == thread }))
		}
		whole := 0
		for range 400 {
			at, drop := from+random.IntN(len(all)-from), 1+random.IntN(30)
			s := &stream{}
			appendHead(&s.w, 1, 0)
			s.add(all[:at], heaps, 0)
			s.add(all[at:min(at+40, len(all))], heaps, drop)
			s.add(all[min(at+40, len(all)):], heaps, 0)
			s.w.End()
			s.take()
			for _, d := range reduce(t, s.pending) {
				if !d.Complete {
					continue
				}
				whole++
				var got []time.Duration
				for _, p := range d.Pauses {
					got = append(got, time.Duration(p.Duration))
				}
				if want := pauses[d.Number]; !slices.Equal(got, want) {
					t.Fatalf("%d heaps, %d events dropped from %+v on: #%d has pauses %v, want %v", heaps, drop, all[at], d.Number, got, want)
				}
				if !d.Known.Has(gclog.GroupHistory) {
					t.Fatalf("%d heaps, %d events dropped from %+v on: #%d has no histories", heaps, drop, all[at], d.Number)
				}
			}
		}
		if whole == 0 {
			t.Error("no record is complete")
		}
	}
}

// pausesOf returns the pauses of each collection.
func pausesOf(events []event) map[uint32][]time.Duration {
	pauses := map[uint32][]time.Duration{}
	started := map[uint64]int64{} // by thread
	for _, e := range events {
		switch e.id {
		case clr.IDGCSuspendEEBegin:
			started[e.thread] = e.at
		case clr.IDGCRestartEEEnd:
			pauses[e.number] = append(pauses[e.number], time.Duration(e.at-started[e.thread]))
		}
	}
	return pauses
}

func reduce(t *testing.T, stream []byte) []*gclog.GCDetails {
	t.Helper()
	s := &emitted{}
	reader := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return s.Observe })
	s.read(reader, p)
	if reader.Err() != nil {
		t.Fatal(reader.Err())
	}
	return s.gcs
}
