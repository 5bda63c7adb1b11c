package clr_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// oracleEvent is an event as TraceEvent decoded it.
type oracleEvent struct {
	Q        int64           `json:"q"`
	TID      int64           `json:"tid"`
	Provider string          `json:"provider"`
	ID       int             `json:"id"`
	Len      int             `json:"len"`
	F        json.RawMessage `json:"f"`
}

type fields map[string]any

// TestOracle decodes every recording and compares what TraceEvent made of the
// same events, field by field.
func TestOracle(t *testing.T) {
	for _, folder := range []string{"traces", "heap-traces"} {
		for _, tr := range shared.Traces(t, folder) {
			path := filepath.Join(shared.Dir(t), "oracle", tr.Name+".events.jsonl.gz")
			if _, err := os.Stat(path); err != nil {
				continue
			}
			t.Run(tr.Name, func(t *testing.T) { compareOracle(t, tr, path) })
		}
	}
}

// versionLost are the recordings that TraceEvent decodes as version 0 (their
// labels tell the version in a way that it does not look at), and refuses.
var versionLost = map[string]bool{"v6-merge-kvversion": true, "v6-merge-machine": false, "v6-net8-datas-alien": true}

func compareOracle(t *testing.T, tr shared.Trace, path string) {
	want := map[string][]oracleEvent{}
	lines := bufio.NewScanner(bytes.NewReader(shared.Read(t, path)))
	lines.Buffer(nil, 1<<26)
	total := 0
	for lines.Scan() {
		var e oracleEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.F == nil || e.Provider == "" {
			continue
		}
		k := key(e.Provider, e.ID, e.Q, uint64(e.TID))
		want[k] = append(want[k], e)
		total++
	}
	if versionLost[tr.Name] {
		t.Logf("TraceEvent does not decode %s: known, see the README of the recordings", tr.Name)
		return
	}
	r := parse.NewReader(bytes.NewReader(shared.Read(t, tr.Path)), parse.All)
	var d *clr.Decoder
	compared, unmatched := 0, 0
	for r.Scan() {
		e := r.Event()
		if e == nil {
			continue
		}
		if d == nil {
			d = clr.NewDecoder(r.Trace().PointerSize)
		}
		typed, err := d.Decode(e)
		if err != nil {
			t.Errorf("event at %d: %v", e.Ticks, err)
			continue
		}
		p := map[string]string{clr.RuntimeProvider: "R", clr.PrivateProvider: "P", clr.RundownProvider: "D"}[e.Meta.Provider]
		if typed == nil || p == "" {
			continue
		}
		k := key(p, e.Meta.EventID, e.Ticks, e.Thread)
		if len(want[k]) == 0 {
			continue // the oracle holds only the first of each kind
		}
		o := want[k][0]
		want[k] = want[k][1:]
		got := oracleFields(typed)
		if got == nil {
			unmatched++
			continue
		}
		compared++
		var f fields
		dec := json.NewDecoder(bytes.NewReader(o.F))
		dec.UseNumber()
		if err := dec.Decode(&f); err != nil {
			t.Fatal(err)
		}
		for name, v := range got {
			if w, ok := f[name]; ok && fmt.Sprint(w) != fmt.Sprint(v) {
				t.Errorf("event %s %d at %d: %s is %v, TraceEvent says %v", p, e.Meta.EventID, e.Ticks, name, v, w)
			} else if !ok {
				t.Errorf("event %s %d: TraceEvent has no field %s: %s", p, e.Meta.EventID, name, o.F)
			}
		}
	}
	left := 0
	for _, l := range want {
		for _, e := range l {
			left++
			if left < 5 {
				t.Logf("not found in the trace: %s %d at %d", e.Provider, e.ID, e.Q)
			}
		}
	}
	if compared == 0 || compared < total*9/10 {
		t.Errorf("compared only %d of %d events, %d of kinds without a mapping, %d not found", compared, total, unmatched, left)
	}
}

func key(provider string, id int, q int64, tid uint64) string {
	return fmt.Sprintf("%s%d@%d/%d", provider, id, q, tid)
}

func oracleFields(e clr.Event) fields {
	switch e := e.(type) {
	case *clr.GCStart:
		return fields{"Count": e.Count, "Reason": uint32(e.Reason), "Depth": e.Depth, "Type": uint32(e.Type), "ClientSequenceNumber": e.ClientSequence, "ClrInstanceID": e.ClrInstance}
	case *clr.GCEnd:
		return fields{"Count": e.Count, "Depth": e.Depth, "ClrInstanceID": e.ClrInstance}
	case *clr.GCSuspendEEBegin:
		return fields{"Reason": uint32(e.Reason), "Count": int32(e.Count)}
	case *clr.GCSuspendEEEnd, *clr.GCRestartEEBegin, *clr.GCRestartEEEnd, *clr.GCCreateConcurrentThread, *clr.GCTerminateConcurrentThread, *clr.GCFinalizersBegin:
		return fields{"ClrInstanceID": e.InstanceID()}
	case *clr.GCFinalizersEnd:
		return fields{"Count": e.Count}
	case *clr.GCTriggered:
		return fields{"Reason": uint32(e.Reason)}
	case *clr.GCCreateSegment:
		return fields{"Address": e.Address, "Size": e.Size, "Type": uint32(e.Type)}
	case *clr.GCFreeSegment:
		return fields{"Address": e.Address}
	case *clr.GCGenerationRange:
		return fields{"Generation": e.Generation, "RangeStart": e.Start, "RangeUsedLength": e.Used, "RangeReservedLength": e.Reserved}
	case *clr.GCMarkWithType:
		return fields{"HeapNum": e.Heap, "Type": uint32(e.Type), "Promoted": e.Promoted}
	case *clr.GCJoin:
		return fields{"Heap": e.Heap, "JoinTime": e.Time, "JoinType": e.Type, "ID": int32(e.ID)}
	case *clr.GCHeapStats:
		f := fields{
			"FinalizationPromotedSize": int64(e.FinalizationSize), "FinalizationPromotedCount": e.FinalizationCount,
			"PinnedObjectCount": e.PinnedObjects, "SinkBlockCount": e.SyncBlocks, "GCHandleCount": e.Handles,
		}
		for g := range clr.Generations {
			f[fmt.Sprintf("GenerationSize%d", g)] = e.Size[g]
			f[fmt.Sprintf("TotalPromotedSize%d", g)] = e.Promoted[g]
		}
		return f
	case *clr.GCGlobalHeapHistory:
		f := fields{
			"FinalYoungestDesired": e.FinalYoungestDesired, "NumHeaps": e.Heaps, "CondemnedGeneration": e.CondemnedGeneration,
			"Gen0ReductionCount": e.Gen0Reductions, "Reason": uint32(e.Reason), "GlobalMechanisms": uint32(e.Mechanisms),
			"PauseMode": uint32(e.PauseMode), "MemoryPressure": e.MemoryLoad,
		}
		if e.HasCondemned {
			f["CondemnReasons0"], f["CondemnReasons1"] = uint32(e.CondemnedGenerations), uint32(e.Condemned)
		}
		if e.TimeCount > 0 {
			times := make([]int32, e.TimeCount) // TraceEvent prints them signed
			for i := range times {
				times[i] = int32(e.Times[i])
			}
			f["Times"] = times
		}
		return f
	case *clr.GCPerHeapHistory:
		return fields{
			"FreeListAllocated": e.FreeListAllocated, "FreeListRejected": e.FreeListRejected, "EndOfSegAllocated": e.EndOfSegmentAllocated,
			"CondemnedAllocated": e.CondemnedAllocated, "PinnedAllocated": e.PinnedAllocated, "PinnedAllocatedAdvance": e.PinnedAllocatedAdvance,
			"RunningFreeListEfficiency": e.RunningFreeListEfficiency, "CondemnReasons0": uint32(e.CondemnedGenerations), "CondemnReasons1": uint32(e.Condemned),
			"CompactMechanisms": mechanism(e.Compact), "ExpandMechanisms": mechanism(e.Expand), "HeapIndex": e.Heap, "ExtraGen0Commit": e.ExtraGen0Commit,
			"Count": e.Generations, "GenData": genData(e),
		}
	case *clr.GCLOHCompact:
		return fields{"Count": e.Count}
	case *clr.GCFitBucketInfo:
		var list []any
		for i := range e.Count {
			b := e.At(i)
			list = append(list, fmt.Sprintf("map[Count:%d Index:%d Size:%d]", b.Count, b.Index, b.Size))
		}
		return fields{"BucketKind": e.Kind, "TotalSize": e.TotalSize, "Count": e.Count, "Values": fmt.Sprint(list)}
	case *clr.GCAllocationTick:
		return fields{"AllocationAmount64": e.Amount, "AllocationKind": uint32(e.Kind), "TypeID": e.TypeID, "TypeName": e.TypeName, "HeapIndex": e.Heap, "ClrInstanceID": e.ClrInstance}
	case *clr.AllocationSampled:
		return fields{"AllocationKind": uint32(e.Kind), "TypeID": e.TypeID, "TypeName": e.TypeName, "Address": e.Address, "ObjectSize": e.ObjectSize, "SampledByteOffset": e.ByteOffset}
	case *clr.FinalizeObject:
		return fields{"ObjectID": e.ObjectID, "TypeID": e.TypeID, "ClrInstanceID": e.ClrInstance}
	case *clr.PinObjectAtGCTime:
		return fields{"HandleID": e.Handle, "ObjectID": e.Object, "ObjectSize": e.Size, "TypeName": e.TypeName(), "ClrInstanceID": e.ClrInstance}
	case *clr.PinPlugAtGCTime:
		return fields{"PlugStart": e.Start, "PlugEnd": e.End, "GapBeforeSize": e.GapBefore}
	case *clr.SetGCHandle:
		return fields{"HandleID": e.Handle, "ObjectID": e.Object, "Kind": uint32(e.Kind), "Generation": e.Generation}
	case *clr.DestroyGCHandle:
		return fields{"HandleID": e.Handle}
	case *clr.BGCPhaseEvent, *clr.BGC1stSweepEnd:
		return fields{"ClrInstanceID": e.InstanceID()}
	case *clr.BGCRevisit:
		return fields{"Pages": e.Pages, "Objects": e.Objects}
	case *clr.BGCDrainMark:
		return fields{"Objects": e.Objects}
	case *clr.CommittedUsage:
		return fields{
			"TotalCommittedInUse": e.InUse, "TotalCommittedInGlobalDecommit": e.GlobalDecommit, "TotalCommittedInFree": e.Free,
			"TotalCommittedInGlobalFree": e.GlobalFree, "TotalBookkeepingCommitted": e.Bookkeeping,
		}
	case *clr.MemoryPressure:
		return fields{"BytesAllocated": e.Bytes}
	case *clr.RuntimeInformation:
		return fields{"StartupFlags": e.StartupFlags, "CommandLine": e.CommandLine}
	case *clr.GCBulkRootEdge:
		return fields{"Index": e.Index, "Count": e.Count}
	case *clr.GCBulkNode:
		return fields{"Index": e.Index, "Count": e.Count}
	case *clr.GCBulkEdge:
		return fields{"Index": e.Index, "Count": e.Count}
	case *clr.BulkType:
		return fields{"Count": e.Count}
	}
	return nil
}

// mechanism is what TraceEvent makes of the bits: the reason's index, 1024 if the
// mechanism was not used.
func mechanism(m clr.HeapMechanism) int {
	i := bits.Len32(uint32(m)&^(1<<31)) - 1
	if !m.Done() || i > 10 { // it does not know 11, aggressive
		return 1024
	}
	return i
}

// genData prints the generations of a heap like the oracle's.
func genData(e *clr.GCPerHeapHistory) string {
	var list []string
	for i := range e.Generations {
		g := &e.Generation[i]
		rate := int64(0)
		if g.ObjectsBefore() != 0 {
			rate = 100 * int64(g.Survivors()) / g.ObjectsBefore()
		}
		list = append(list, fmt.Sprintf("map[Budget:%d Fragmentation:%d FreeListSpaceAfter:%d FreeListSpaceBefore:%d FreeObjSpaceAfter:%d FreeObjSpaceBefore:%d"+
			" HasFreeListSpaceAfter:true HasFreeListSpaceBefore:true HasFreeObjSpaceAfter:true HasFreeObjSpaceBefore:true HasNonePinnedSurv:true HasObjSpaceBefore:true"+
			" HasPinnedSurv:true In:%d NonePinnedSurv:%d ObjSizeAfter:%d ObjSpaceBefore:%d Out:%d PinnedSurv:%d SizeAfter:%d SizeBefore:%d SurvRate:%d]",
			g.Budget, g.Fragmentation(), g.FreeListAfter, g.FreeListBefore, g.FreeObjectsAfter, g.FreeObjectsBefore,
			g.In, g.NonPinnedSurvivors, g.ObjectsAfter(), g.ObjectsBefore(), g.Survivors(), g.PinnedSurvivors, g.SizeAfter, g.SizeBefore, rate))
	}
	return "[" + strings.Join(list, " ") + "]"
}
