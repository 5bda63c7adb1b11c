package clr_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// An oracleEvent is an event as TraceEvent decoded it.
type oracleEvent struct {
	Q        int64           `json:"q"`
	TID      int64           `json:"tid"`
	Provider string          `json:"provider"`
	ID       int             `json:"id"`
	F        json.RawMessage `json:"f"`
}

type fields map[string]any

// leftOut contains the fields of TraceEvent that an event of this package lacks, with the reason.
var leftOut = map[string]string{
	"R4.Depth":     "TraceEvent takes it from what was promoted; the event has no such field",
	"R29.TypeName": "TraceEvent looks it up in other events; the event has no such field",
	"R39.Version":  "of the data of a dynamic event: 1 in all",
	"R39.DataSize": "the length of the data",
}

// originals maps the recordings that TraceEvent rejects, reads only in part, or whose events it
// takes for version 0 because only labels contain the version, to the recordings they were made
// from.
var originals = map[string]string{
	"v6-net8-datas-alien": "net8-datas-churn",
	"v6-net8-wks-cut":     "net8-wks-churn",
	"v6-merge-kvversion":  "core31-wks-churn", // the clock of the other process was shifted
}

// TestOracle decodes every recording and compares the events with what TraceEvent decoded, field by
// field. The oracle contains the first events of each kind.
func TestOracle(t *testing.T) {
	kinds := map[string]int{}
	for _, folder := range []string{"traces", "heap-traces"} {
		for _, tr := range recordings.Traces(t, folder) {
			name := tr.Name
			if original, ok := originals[name]; ok {
				name = original
			}
			path := filepath.Join(recordings.Dir(t), "oracle", name+".events.jsonl.gz")
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			t.Run(tr.Name, func(t *testing.T) { compareOracle(t, tr, path, kinds) })
		}
	}
	t.Logf("compared by kind: %v", kinds)
}

func compareOracle(t *testing.T, tr recordings.Trace, path string, kinds map[string]int) {
	want := map[string][]oracleEvent{}
	lines := bufio.NewScanner(bytes.NewReader(recordings.Read(t, path)))
	lines.Buffer(nil, 1<<26)
	left := 0
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
		left++
	}
	if left == 0 {
		t.Error("the oracle has no event")
	}
	r := parse.NewReader(bytes.NewReader(recordings.Read(t, tr.Path)), parse.All)
	var d *clr.Decoder
	for r.Scan() {
		e := r.Event()
		if e == nil {
			continue
		}
		if d == nil {
			d = clr.NewDecoder(r.Trace().PointerSize)
		}
		p := map[string]string{clr.RuntimeProvider: "R", clr.PrivateProvider: "P", clr.RundownProvider: "D"}[e.Meta.Provider]
		k := key(p, e.Meta.EventID, e.Ticks, e.Thread)
		typed, err := d.Decode(e)
		if err != nil {
			t.Errorf("event at %d: %v", e.Ticks, err)
			continue
		}
		if len(want[k]) == 0 {
			continue
		}
		o := want[k][0]
		want[k] = want[k][1:]
		left--
		kind := fmt.Sprintf("%s%d", p, e.Meta.EventID)
		kinds[kind]++
		compareFields(t, kind, e.Ticks, oracleFields(typed), o.F)
	}
	if left != 0 {
		t.Errorf("%d of TraceEvent's events are not in the trace", left)
		for _, l := range want {
			for _, e := range l {
				t.Logf("%s%d at %d", e.Provider, e.ID, e.Q)
			}
		}
	}
}

func compareFields(t *testing.T, kind string, at int64, got fields, raw json.RawMessage) {
	if got == nil {
		t.Errorf("event %s is not decoded", kind)
		return
	}
	var want fields
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		v, ok := got[name]
		switch {
		case !ok && (w == nil || leftOut[kind+"."+name] != ""): // nil: this version does not have it
		case !ok:
			t.Errorf("event %s has no field %s, which TraceEvent says is %v", kind, name, w)
		case fmt.Sprint(v) != fmt.Sprint(w):
			t.Errorf("event %s at %d: %s is %v, TraceEvent says %v", kind, at, name, v, w)
		}
	}
	for name := range got {
		// The oracle has values only for the first bulk events.
		if _, ok := want[name]; !ok && name != "Values" {
			t.Errorf("event %s: TraceEvent has no field %s: %s", kind, name, raw)
		}
	}
}

func key(provider string, id int, q int64, tid uint64) string {
	return fmt.Sprintf("%s%d@%d/%d", provider, id, q, tid)
}

// with adds the fields that all events have to those of e.
func (f fields) with(e clr.Event) fields {
	f["ClrInstanceID"] = e.InstanceID()
	return f
}

// bit returns a flag as TraceEvent shows it.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// values lists the values of a bulk event, at most 64 as in the oracle.
func values[V any](count int, at func(int) V, show func(V) fields) (list []fields) {
	for i := range min(count, 64) {
		list = append(list, show(at(i)))
	}
	return list
}

// dynamicFields lists the data of a dynamic event from the fields of its struct, which are in the
// order of the event. The event's version takes the place of the CLR instance in the struct.
func dynamicFields(name string, e any) fields {
	b, err := binary.Append(nil, binary.LittleEndian, e)
	if err != nil {
		panic(err)
	}
	copy(b, []byte{1, 0})
	return fields{"Name": name, "Data": hex.EncodeToString(b)}
}

func oracleFields(e clr.Event) fields {
	switch e := e.(type) {
	case *clr.GCStart:
		return fields{"Count": e.Count, "Reason": uint32(e.Reason), "Depth": e.Depth, "Type": uint32(e.Type), "ClientSequenceNumber": e.ClientSequence}.with(e)
	case *clr.GCEnd:
		return fields{"Count": e.Count, "Depth": e.Depth}.with(e)
	case *clr.GCSuspendEEBegin:
		return fields{"Reason": uint32(e.Reason), "Count": int32(e.Count)}.with(e)
	case *clr.GCSuspendEEEnd, *clr.GCRestartEEBegin, *clr.GCRestartEEEnd, *clr.GCCreateConcurrentThread, *clr.GCTerminateConcurrentThread, *clr.GCFinalizersBegin:
		return fields{}.with(e)
	case *clr.GCFinalizersEnd:
		return fields{"Count": e.Count}.with(e)
	case *clr.GCTriggered:
		return fields{"Reason": uint32(e.Reason)}.with(e)
	case *clr.GCCreateSegment:
		return fields{"Address": e.Address, "Size": e.Size, "Type": uint32(e.Type)}.with(e)
	case *clr.GCFreeSegment:
		return fields{"Address": e.Address}.with(e)
	case *clr.GCGenerationRange:
		return fields{"Generation": e.Generation, "RangeStart": e.Start, "RangeUsedLength": e.Used, "RangeReservedLength": e.Reserved}.with(e)
	case *clr.GCMarkWithType:
		return fields{"HeapNum": e.Heap, "Type": uint32(e.Type), "Promoted": e.Promoted}.with(e)
	case *clr.GCJoin:
		return fields{"Heap": e.Heap, "JoinTime": e.Time, "JoinType": e.Type, "ID": int32(e.ID)}.with(e)
	case *clr.GCHeapStats:
		f := fields{
			"FinalizationPromotedSize": int64(e.FinalizationSize), "FinalizationPromotedCount": e.FinalizationCount,
			"PinnedObjectCount": e.PinnedObjects, "SinkBlockCount": e.SyncBlocks, "GCHandleCount": e.Handles,
		}
		var size, promoted uint64
		for g := range clr.Generations {
			f[fmt.Sprintf("GenerationSize%d", g)] = e.Size[g]
			f[fmt.Sprintf("TotalPromotedSize%d", g)] = e.Promoted[g]
			size += e.Size[g]
			promoted += e.Promoted[g]
		}
		f["TotalHeapSize"], f["TotalPromoted"] = size, promoted
		return f.with(e)
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
			times := make([]int32, e.TimeCount) // TraceEvent prints them as signed numbers
			for i := range times {
				times[i] = int32(e.Times[i])
			}
			f["Times"], f["Count"] = times, e.TimeCount
		}
		return f.with(e)
	case *clr.GCPerHeapHistory:
		return fields{
			"FreeListAllocated": e.FreeListAllocated, "FreeListRejected": e.FreeListRejected, "EndOfSegAllocated": e.EndOfSegmentAllocated,
			"CondemnedAllocated": e.CondemnedAllocated, "PinnedAllocated": e.PinnedAllocated, "PinnedAllocatedAdvance": e.PinnedAllocatedAdvance,
			"RunningFreeListEfficiency": e.RunningFreeListEfficiency, "CondemnReasons0": uint32(e.CondemnedGenerations), "CondemnReasons1": uint32(e.Condemned),
			"CompactMechanisms": mechanism(e.Compact), "ExpandMechanisms": mechanism(e.Expand), "HeapIndex": e.Heap, "ExtraGen0Commit": e.ExtraGen0Commit,
			"Count": e.Generations, "GenData": genData(e),
		}.with(e)
	case *clr.GCLOHCompact:
		return fields{"Count": e.Count, "Values": values(e.Count, e.At, func(v clr.LOHCompact) fields {
			return fields{"TimePlan": v.PlanMicroseconds, "TimeCompact": v.CompactMicroseconds, "TimeRelocate": v.RelocateMicroseconds, "TotalRefs": v.TotalRefs, "ZeroRefs": v.ZeroRefs}
		})}.with(e)
	case *clr.GCFitBucketInfo:
		return fields{"BucketKind": e.Kind, "TotalSize": e.TotalSize, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.FitBucket) fields {
			return fields{"Index": v.Index, "Count": v.Count, "Size": v.Size}
		})}.with(e)
	case *clr.GCAllocationTick:
		return fields{
			"AllocationAmount": e.Amount, "AllocationAmount64": e.Amount, "AllocationKind": uint32(e.Kind), "TypeID": e.TypeID,
			"TypeName": e.TypeName, "HeapIndex": e.Heap, "Address": e.Address, "ObjectSize": e.ObjectSize,
		}.with(e)
	case *clr.AllocationSampled:
		return fields{"AllocationKind": uint32(e.Kind), "TypeID": e.TypeID, "TypeName": e.TypeName, "Address": e.Address, "ObjectSize": e.ObjectSize, "SampledByteOffset": e.ByteOffset}.with(e)
	case *clr.FinalizeObject:
		f := fields{"ObjectID": e.ObjectID, "TypeID": e.TypeID}
		if e.TypeName != nil {
			f["TypeName"] = e.TypeName
		}
		return f.with(e)
	case *clr.PinObjectAtGCTime:
		return fields{"HandleID": e.Handle, "ObjectID": e.Object, "ObjectSize": e.Size, "TypeName": e.TypeName()}.with(e)
	case *clr.PinPlugAtGCTime:
		return fields{"PlugStart": e.Start, "PlugEnd": e.End, "GapBeforeSize": e.GapBefore}.with(e)
	case *clr.SetGCHandle:
		return fields{"HandleID": e.Handle, "ObjectID": e.Object, "Kind": uint32(e.Kind), "Generation": e.Generation, "AppDomainID": e.AppDomain}.with(e)
	case *clr.DestroyGCHandle:
		return fields{"HandleID": e.Handle}.with(e)
	case *clr.BGCPhaseEvent:
		return fields{}.with(e)
	case *clr.BGCRevisit:
		return fields{"Pages": e.Pages, "Objects": e.Objects, "IsLarge": bit(e.Large)}.with(e)
	case *clr.BGCDrainMark:
		return fields{"Objects": e.Objects}.with(e)
	case *clr.BGCOverflow:
		return fields{"Min": e.Min, "Max": e.Max, "Objects": e.Objects, "IsLarge": bit(e.Large)}.with(e)
	case *clr.BGCAllocWait:
		return fields{"Reason": e.Reason}.with(e)
	case *clr.CommittedUsage:
		return fields{
			"TotalCommittedInUse": e.InUse, "TotalCommittedInGlobalDecommit": e.GlobalDecommit, "TotalCommittedInFree": e.Free,
			"TotalCommittedInGlobalFree": e.GlobalFree, "TotalBookkeepingCommitted": e.Bookkeeping,
		}
	case *clr.SizeAdaptationSample:
		return dynamicFields("SizeAdaptationSample", e).with(e)
	case *clr.SizeAdaptationTuning:
		return dynamicFields("SizeAdaptationTuning", e).with(e)
	case *clr.SizeAdaptationFullGCTuning:
		return dynamicFields("SizeAdaptationFullGCTuning", e).with(e)
	case *clr.HeapCountTuning:
		return dynamicFields("HeapCountTuning", e).with(e)
	case *clr.HeapCountSample:
		return dynamicFields("HeapCountSample", e).with(e)
	case *clr.GCSettings:
		return fields{
			"HardLimit": e.HardLimit, "LOHThreshold": e.LOHThreshold, "PhysicalMemoryConfig": e.PhysicalMemoryConfig,
			"Gen0MinBudgetConfig": e.Gen0MinBudget, "Gen0MaxBudgetConfig": e.Gen0MaxBudget, "HighMemPercentConfig": e.HighMemoryPercent, "BitSettings": e.Bits,
		}.with(e)
	case *clr.RuntimeInformation:
		g := e.ComObjectGUID // the first three parts are little-endian
		slices.Reverse(g[0:4])
		slices.Reverse(g[4:6])
		slices.Reverse(g[6:8])
		return fields{
			"Sku": e.Sku, "BclMajorVersion": e.BCLVersion[0], "BclMinorVersion": e.BCLVersion[1], "BclBuildNumber": e.BCLVersion[2], "BclQfeNumber": e.BCLVersion[3],
			"VMMajorVersion": e.VMVersion[0], "VMMinorVersion": e.VMVersion[1], "VMBuildNumber": e.VMVersion[2], "VMQfeNumber": e.VMVersion[3],
			"StartupFlags": e.StartupFlags, "StartupMode": e.StartupMode, "CommandLine": e.CommandLine, "RuntimeDllPath": filepath.Base(e.RuntimeDLLPath.String()), // the oracle has only the name
			"ComObjectGuid": fmt.Sprintf("%x-%x-%x-%x-%x", g[0:4], g[4:6], g[6:8], g[8:10], g[10:]),
		}.with(e)
	case *clr.GCBulkRootEdge:
		return fields{"Index": e.Index, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.RootEdge) fields {
			return fields{"RootedNodeAddress": v.Node, "GCRootKind": uint8(v.Kind), "GCRootFlag": v.Flags, "GCRootID": v.Root}
		})}.with(e)
	case *clr.GCBulkConditionalEdge:
		return fields{"Index": e.Index, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.ConditionalEdge) fields {
			return fields{"GCKeyNodeID": v.Key, "GCValueNodeID": v.Value, "GCRootID": v.Root}
		})}.with(e)
	case *clr.GCBulkNode:
		return fields{"Index": e.Index, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.Node) fields {
			return fields{"Address": v.Address, "Size": v.Size, "TypeID": v.TypeID, "EdgeCount": v.Edges}
		})}.with(e)
	case *clr.GCBulkEdge:
		return fields{"Index": e.Index, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.Edge) fields {
			return fields{"Target": v.Target, "ReferencingField": v.Field}
		})}.with(e)
	case *clr.GCBulkSurvivingRanges:
		return fields{"Index": e.Index, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.Range) fields {
			return fields{"RangeBase": v.Start, "RangeLength": v.Length}
		})}.with(e)
	case *clr.GCBulkMovedRanges:
		return fields{"Index": e.Index, "Count": e.Count, "Values": values(e.Count, e.At, func(v clr.MovedRange) fields {
			return fields{"OldRangeBase": v.Old, "NewRangeBase": v.New, "RangeLength": v.Length}
		})}.with(e)
	case *clr.GCBulkRootStaticVar:
		var list []fields
		for v := (clr.StaticVar{}); len(list) < 64 && e.Next(&v); {
			list = append(list, fields{"GCRootID": v.Root, "ObjectID": v.Object, "TypeID": v.TypeID, "Flags": v.Flags, "FieldName": v.Field})
		}
		return fields{"Count": e.Count, "AppDomainID": e.AppDomain, "Values": list}.with(e)
	}
	return nil
}

// mechanism returns what TraceEvent makes of the bits: the index of the reason, or 1024 if the
// mechanism was not used.
func mechanism(m clr.HeapMechanism) int {
	i := bits.Len32(uint32(m)&^(1<<31)) - 1
	if !m.Done() || i > 10 { // TraceEvent does not know 11, aggressive
		return 1024
	}
	return i
}

// genData returns the generations of a heap in the form of the oracle.
func genData(e *clr.GCPerHeapHistory) []fields {
	return values(e.Generations, func(i int) *clr.HeapGeneration { return &e.Generation[i] }, func(g *clr.HeapGeneration) fields {
		rate := int64(0)
		if g.ObjectsBefore() != 0 {
			rate = 100 * int64(g.Survivors()) / g.ObjectsBefore()
		}
		f := fields{
			"SizeBefore": g.SizeBefore, "SizeAfter": g.SizeAfter, "ObjSpaceBefore": g.ObjectsBefore(), "ObjSizeAfter": g.ObjectsAfter(),
			"FreeListSpaceBefore": g.FreeListBefore, "FreeObjSpaceBefore": g.FreeObjectsBefore, "FreeListSpaceAfter": g.FreeListAfter,
			"FreeObjSpaceAfter": g.FreeObjectsAfter, "Fragmentation": g.Fragmentation(), "In": g.In, "Out": g.Survivors(),
			"PinnedSurv": g.PinnedSurvivors, "NonePinnedSurv": g.NonPinnedSurvivors, "Budget": g.Budget, "SurvRate": rate,
		}
		for _, name := range []string{"FreeListSpaceAfter", "FreeListSpaceBefore", "FreeObjSpaceAfter", "FreeObjSpaceBefore", "NonePinnedSurv", "ObjSpaceBefore", "PinnedSurv"} {
			f["Has"+name] = true
		}
		return f
	})
}
