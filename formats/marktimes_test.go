package formats_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"
	"time"

	fieldtable "github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A markedGC is a collection in json, with what the events say of its marking.
type markedGC struct {
	Event struct {
		Action     string
		Start, End time.Time
	}
	Dotnet struct {
		GC struct {
			Complete bool
			Flaws    []string
			Ticks    *struct{}
			Mark     map[string]struct {
				Times []struct {
					Heap uint32
					NS   int64
				}
			}
		}
	}
	took  map[string]map[uint32]int64 // by kind of root and heap
	until map[uint32]time.Time
}

// TestMarkTimesInJSON compares the mark times of the heaps in json with the events themselves: a
// heap reports that it is done with a kind of root, after it was done with the one before.
func TestMarkTimesInJSON(t *testing.T) {
	compared := 0
	all := recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		x := convert(stream, everything, nil, "json")
		if len(x.processes) != 1 {
			return
		}
		var gcs []*markedGC
		for line := range bytes.Lines(x.outputs["json"].text()) {
			gc := &markedGC{took: map[string]map[uint32]int64{}, until: map[uint32]time.Time{}}
			if err := json.Unmarshal(line, gc); err != nil {
				t.Fatal(err)
			}
			if gc.Event.Action == "gc" {
				gcs = append(gcs, gc)
			}
		}
		eachMark(stream, func(at int64, e *clr.GCMarkWithType) {
			if gc := openAt(gcs, x.processes[0].process.Sync.Add(time.Duration(at))); gc != nil {
				gc.mark(x.processes[0].process.Sync.Add(time.Duration(at)), e)
			}
		})
		for _, gc := range gcs {
			if gc.Dotnet.GC.Complete && len(gc.Dotnet.GC.Flaws) == 0 {
				compared += gc.compare(t)
			}
		}
	})
	if all && compared == 0 {
		t.Error("no recording has mark times of several heaps")
	}
}

// eachMark reads the mark events of a stream.
func eachMark(stream []byte, each func(at int64, e *clr.GCMarkWithType)) {
	r := parse.NewReader(bytes.NewReader(stream), func(m *parse.Metadata) parse.Want {
		return parse.Want{Deliver: m.Provider == clr.RuntimeProvider && m.EventID == clr.IDGCMarkWithType}
	})
	trace, err := r.ReadTrace()
	if err != nil {
		return
	}
	d := clr.NewDecoder(trace.PointerSize)
	for r.Scan() {
		if r.Event() == nil {
			continue
		}
		if typed, err := d.Decode(r.Event()); err == nil {
			each(r.Event().Time, typed.(*clr.GCMarkWithType))
		}
	}
}

// openAt returns the collection that was started last of those that were running: a background
// collection waits for those inside it.
func openAt(gcs []*markedGC, at time.Time) (open *markedGC) {
	for _, gc := range gcs {
		if !at.Before(gc.Event.Start) && !at.After(gc.Event.End) && (open == nil || gc.Event.Start.After(open.Event.Start)) {
			open = gc
		}
	}
	return open
}

func (gc *markedGC) mark(at time.Time, e *clr.GCMarkWithType) {
	from, before := gc.until[e.Heap]
	if !before {
		from = gc.Event.Start
	}
	kind := fieldtable.Roots[e.Type]
	if gc.took[kind] == nil {
		gc.took[kind] = map[uint32]int64{}
	}
	gc.took[kind][e.Heap] += at.Sub(from).Nanoseconds()
	gc.until[e.Heap] = at
}

// compare compares what json has with the events, and returns how many times it has.
func (gc *markedGC) compare(t *testing.T) (compared int) {
	t.Helper()
	for kind, want := range gc.took {
		if len(want) < 2 || gc.Dotnet.GC.Ticks == nil {
			want = nil
		}
		got := map[uint32]int64{}
		for _, x := range gc.Dotnet.GC.Mark[kind].Times {
			got[x.Heap] = x.NS
		}
		if !maps.Equal(got, want) {
			t.Errorf("collection of %v, %s: %v ns, the events say %v", gc.Event.Start, kind, got, want)
		}
		compared += len(got)
	}
	return compared
}
