package heap

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestWriteTrace: a recording that was made of a .gcdump file says what the file says.
func TestWriteTrace(t *testing.T) {
	check := func(t *testing.T, path string) {
		want, info := readDump(t, writeDump(t, graphOf(t, path), &DumpInfo{Process: "app", ProcessID: 7}))
		want.Process, want.Modules = Process{info.ProcessID, info.Process}, info.Modules
		var b bytes.Buffer
		if err := want.WriteTrace(&b, info); err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if want.Modules == nil {
			want.Modules = Modules{}
		}
		if d := got.Time.Sub(want.Time).Abs(); d > time.Millisecond { // a recording starts at a whole one
			t.Errorf("the collection ended at %v, not %v", got.Time, want.Time)
		}
		got.Time = want.Time
		// Not in the recording: when it was, and what the walk had that was not used.
		got.Walk.Start, got.Walk.End, got.Walk.NullRoots, got.Walk.Others = want.Walk.Start, want.Walk.End, want.Walk.NullRoots, want.Walk.Others
		if d := equal(got, want); d != "" {
			t.Error(d)
		}
	}
	t.Run("small", func(t *testing.T) { check(t, "testdata/small.nettrace.gz") })
	for _, tr := range recordings.Traces(t, "heap-traces") {
		t.Run(tr.Name, func(t *testing.T) { check(t, tr.Path) })
	}
}

// TestWriteTraceOfOthers: the types of other tools' files have no ids.
func TestWriteTraceOfOthers(t *testing.T) {
	want, info := readDump(t, recordings.Read(t, "testdata/small.gcdump"))
	var b bytes.Buffer
	if err := want.WriteTrace(&b, info); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil || !got.Walk.Complete() || got.UnknownTypes() > 0 {
		t.Fatalf("%+v, %v", got.Walk, err)
	}
	if !maps.Equal(items(got), items(want)) || len(got.Roots) != len(want.Roots) || len(got.Statics) != len(want.Statics) || got.Process.Name != "proc" {
		t.Errorf("%d objects, %d roots, %d static fields of %+v, want %d, %d, %d", got.Len(), len(got.Roots), len(got.Statics), got.Process, want.Len(), len(want.Roots), len(want.Statics))
	}
}

// TestWriteTraceIncomplete: without references there is nothing to write.
func TestWriteTraceIncomplete(t *testing.T) {
	g := graphOf(t, "testdata/small.nettrace.gz")
	g.Walk.Cut = true
	var b bytes.Buffer
	if err := g.WriteTrace(&b, &DumpInfo{}); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}
