package heap_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// detection returns what a detector found.
func detection(t *testing.T, list []heap.Detection, id heap.Detector) heap.Detection {
	t.Helper()
	for _, d := range list {
		if d.Detector == id {
			return d
		}
	}
	t.Fatalf("no detector %s", id)
	return heap.Detection{}
}

// TestKnownDetections finds what a program says about itself, and the free space that ClrMD found in
// its regions.
func TestKnownDetections(t *testing.T) {
	for _, path := range captures(t, "*-graph.truth.json") {
		name := strings.TrimSuffix(filepath.Base(path), ".truth.json")
		t.Run(name, func(t *testing.T) {
			var want struct {
				account
				Handles       struct{ Pinned, Dependent uint64 }
				FinalizeQueue struct{ Waiting uint64 }
				Arrays        struct{ LOH uint64 }
				Dynamic       struct{ Count uint64 }
			}
			if err := json.Unmarshal([]byte(text(t, path)), &want); err != nil {
				t.Fatal(err)
			}
			g := read(t, filepath.Join(filepath.Dir(path), name+".nettrace.gz"))
			list := g.Dominators().Inspect(g.Paths(), 1)
			of := func(id heap.Detector, typ string) (r heap.Detail) {
				for _, row := range detection(t, list, id).Rows {
					if row.Type != heap.NoType && g.Types[row.Type].Name == typ {
						return row
					}
				}
				t.Errorf("%s has no row of type %s", id, typ)
				return r
			}
			if r := of(heap.DetectHandlers, "GcLoad.Graph.ChangedHandler"); r.Objects != want.EventLeak.Subscribers || g.Types[r.Other].Name != "GcLoad.Graph.Subscriber" || r.Holder != "static Publisher" {
				t.Errorf("event: %+v", r)
			}
			if r := of(heap.DetectFinalizers, "GcLoad.Graph.QueuedFinalizable"); r.Objects != want.FinalizeQueue.Waiting || r.Retained != want.typ("GcLoad.Graph.QueuedFinalizable").Bytes {
				t.Errorf("finalizer queue: %+v", r)
			}
			if r := of(heap.DetectPinned, "GcLoad.Graph.PinCell[]"); r.Objects != want.Handles.Pinned || r.Name != "pinned handle" || r.Bytes != want.typ("GcLoad.Graph.PinCell[]").Bytes {
				t.Errorf("pinned: %+v", r)
			}
			if r := of(heap.DetectWeakTables, "GcLoad.Graph.CwtKey"); r.Objects != want.Handles.Dependent || g.Types[r.Other].Name != "GcLoad.Graph.CwtValue" {
				t.Errorf("weak table: %+v", r)
			}
			if r := of(heap.DetectCollectible, "System.Reflection.LoaderAllocator"); r.Objects != want.Dynamic.Count || g.Types[r.Other].Name != "GcLoad.Dynamic.Thing" {
				t.Errorf("collectible: %+v", r)
			}
			if r := of(heap.DetectCollections, "System.Collections.Generic.List`1[GcLoad.Graph.LeakedItem]"); r.Objects != want.LeakCount || r.Retained != want.LeakRetainedBytesOfArray+32 {
				t.Errorf("leak: %+v", r)
			}
			large := uint64(0)
			for _, r := range detection(t, list, heap.DetectLargeObjects).Rows {
				if g.Types[r.Type].Name == "GcLoad.Graph.LohCell[]" {
					large++
				}
			}
			if large != want.Arrays.LOH {
				t.Errorf("%d large arrays, want %d", large, want.Arrays.LOH)
			}
			if strings.HasPrefix(name, "net") { // core31 has segments, with several generations in each
				sameRegions(t, detection(t, list, heap.DetectFragmentation), filepath.Join(filepath.Dir(path), name+".heaptruth.json.gz"))
			}
		})
	}
}

// sameRegions compares regions with those that ClrMD found some collections later, when one region
// may have changed.
func sameRegions(t *testing.T, found heap.Detection, path string) {
	var clrmd struct {
		Segments []struct {
			Start                      string
			Length, Objects, FreeBytes uint64
		}
	}
	if err := json.NewDecoder(unpacked(t, path)).Decode(&clrmd); err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, r := range found.Rows {
		for _, s := range clrmd.Segments {
			start, err := strconv.ParseUint(s.Start, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if start == r.Start && s.Length == r.Bytes && s.Objects == r.Objects && s.FreeBytes == r.Waste {
				same++
			}
		}
	}
	if same < 2 || same < len(found.Rows)-1 {
		t.Errorf("%d of %d regions are as ClrMD found them: %+v", same, len(found.Rows), found.Rows)
	}
}
