package clr_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A manifest is an event as the runtime's manifest describes it. Each of its layouts starts with
// those of lower versions unless the runtime changed them. A field is "name:type". A field that
// starts with "=" is not in the payload but has this value after decoding.
type manifest struct {
	provider string
	id       int
	name     string
	layouts  map[int]string // by version
}

// Types of fields: u8, u16, u32, u64, i32, i64, f32, ptr (of the process), bool (a u32), text
// (zero-terminated UTF-16) and guid.

const id = " ClrInstance:u16"

var manifests = []manifest{
	{clr.RuntimeProvider, 1, "GCStart", map[int]string{
		0: "Count:u32 Reason:u32",
		1: "Count:u32 Depth:u32 Reason:u32 Type:u32" + id + " =HasDepth:true",
		2: "Count:u32 Depth:u32 Reason:u32 Type:u32" + id + " ClientSequence:u64 =HasDepth:true",
	}},
	{clr.RuntimeProvider, 2, "GCEnd", map[int]string{0: "Count:u32 Depth:u16", 1: "Count:u32 Depth:u32" + id}},
	{clr.RuntimeProvider, 3, "GCRestartEEEnd", map[int]string{0: "", 1: id}},
	{clr.RuntimeProvider, 4, "GCHeapStats", map[int]string{
		0: heapStats + " =Generations:4", 1: heapStats + id + " =Generations:4",
		2: heapStats + id + " Size.4:u64 Promoted.4:u64 =Generations:5",
	}},
	{clr.RuntimeProvider, 5, "GCCreateSegment", map[int]string{0: "Address:u64 Size:u64 Type:u32", 1: "Address:u64 Size:u64 Type:u32" + id}},
	{clr.RuntimeProvider, 6, "GCFreeSegment", map[int]string{0: "Address:u64", 1: "Address:u64" + id}},
	{clr.RuntimeProvider, 7, "GCRestartEEBegin", map[int]string{0: "", 1: id}},
	{clr.RuntimeProvider, 8, "GCSuspendEEEnd", map[int]string{0: "", 1: id}},
	{clr.RuntimeProvider, 9, "GCSuspendEEBegin", map[int]string{0: "Reason:u16", 1: "Reason:u32 Count:u32" + id}},
	{clr.RuntimeProvider, 10, "GCAllocationTick", map[int]string{
		0: "Amount:u32 Kind:u32", 1: "Amount:u32 Kind:u32" + id,
		2: "-:u32 Kind:u32" + id + " Amount:u64 TypeID:ptr TypeName:text Heap:u32",
		3: "-:u32 Kind:u32" + id + " Amount:u64 TypeID:ptr TypeName:text Heap:u32 Address:ptr",
		4: "-:u32 Kind:u32" + id + " Amount:u64 TypeID:ptr TypeName:text Heap:u32 Address:ptr ObjectSize:u64",
	}},
	{clr.RuntimeProvider, 11, "GCCreateConcurrentThread", map[int]string{0: "", 1: id}},
	{clr.RuntimeProvider, 12, "GCTerminateConcurrentThread", map[int]string{0: "", 1: id}},
	{clr.RuntimeProvider, 13, "GCFinalizersEnd", map[int]string{0: "Count:u32", 1: "Count:u32" + id}},
	{clr.RuntimeProvider, 14, "GCFinalizersBegin", map[int]string{0: "", 1: id}},
	{clr.RuntimeProvider, 20, "GCSampledObjectAllocationHigh", map[int]string{0: "Address:ptr TypeID:ptr Count:u32 Size:u64" + id}},
	{clr.RuntimeProvider, 23, "GCGenerationRange", map[int]string{0: "Generation:u8 Start:ptr Used:u64 Reserved:u64" + id}},
	{clr.RuntimeProvider, 25, "GCMarkStackRoots", map[int]string{0: "Heap:u32" + id + ""}},
	{clr.RuntimeProvider, 26, "GCMarkFinalizeQueueRoots", map[int]string{0: "Heap:u32" + id + " =Type:1"}},
	{clr.RuntimeProvider, 27, "GCMarkHandles", map[int]string{0: "Heap:u32" + id + " =Type:2"}},
	{clr.RuntimeProvider, 28, "GCMarkOlderGenerationRoots", map[int]string{0: "Heap:u32" + id + " =Type:3"}},
	{clr.RuntimeProvider, 29, "FinalizeObject", map[int]string{0: "TypeID:ptr ObjectID:ptr" + id}},
	{clr.RuntimeProvider, 30, "SetGCHandle", map[int]string{0: "Handle:ptr Object:ptr Kind:u32 Generation:u32 AppDomain:u64" + id}},
	{clr.RuntimeProvider, 31, "DestroyGCHandle", map[int]string{0: "Handle:ptr" + id}},
	{clr.RuntimeProvider, 32, "GCSampledObjectAllocationLow", map[int]string{0: "Address:ptr TypeID:ptr Count:u32 Size:u64" + id}},
	{clr.RuntimeProvider, 33, "PinObjectAtGCTime", map[int]string{0: "Handle:ptr Object:ptr Size:u64 TypeName():text" + id, 1: "Handle:ptr Object:ptr Size:u64 TypeName():text" + id}},
	{clr.RuntimeProvider, 34, "PinPlugAtGCTime", map[int]string{0: "Start:ptr End:ptr GapBefore:ptr" + id}},
	{clr.RuntimeProvider, 35, "GCTriggered", map[int]string{0: "Reason:u32" + id}},
	{clr.RuntimeProvider, 91, "ContentionStop", map[int]string{0: "Kind:u8" + id}},
	{clr.RuntimeProvider, 143, "MethodLoadVerbose", methods},
	{clr.RuntimeProvider, 144, "MethodUnloadVerbose", methods},
	{clr.RuntimeProvider, 159, "R2RGetEntryPoint", map[int]string{0: "ID:u64 Namespace:text Name:text Signature:text EntryPoint:u64" + id}},
	{clr.RuntimeProvider, 152, "ModuleLoad", modules},
	{clr.RuntimeProvider, 187, "RuntimeInformationStart", map[int]string{0: runtimeInformation}},
	{clr.RuntimeProvider, 200, "IncreaseMemoryPressure", map[int]string{0: "Bytes:u64" + id}},
	{clr.RuntimeProvider, 201, "DecreaseMemoryPressure", map[int]string{0: "Bytes:u64" + id + " =Removed:true"}},
	{clr.RuntimeProvider, 202, "GCMarkWithType", map[int]string{0: "Heap:u32" + id + " Type:u32 Promoted:u64"}},
	{clr.RuntimeProvider, 203, "GCJoin", map[int]string{0: "Heap:u32 Time:u32 Type:u32" + id, 1: "Heap:u32 Time:u32 Type:u32" + id + " ID:u32"}},
	{clr.RuntimeProvider, 204, "GCPerHeapHistory", map[int]string{3: perHeapHistory(1)}},
	{clr.RuntimeProvider, 205, "GCGlobalHeapHistory", map[int]string{
		0: globalHistory, 1: globalHistory + id,
		2: globalHistory + id + globalHistory2,
		3: globalHistory + id + globalHistory2 + globalHistory3,
		4: globalHistory + id + globalHistory2 + globalHistory3 + " -:#8 Times.0:u32 Times.1:u32 Times.2:u32 Times.3:u32 Times.4:u32 Times.5:u32 Times.6:u32 Times.7:u32 =TimeCount:8",
	}},
	{clr.RuntimeProvider, 206, "GenAwareBegin", map[int]string{0: "Count:u32" + id}},
	{clr.RuntimeProvider, 207, "GenAwareEnd", map[int]string{0: "Count:u32" + id + " =End:true"}},
	{clr.RuntimeProvider, 303, "AllocationSampled", map[int]string{0: "Kind:u32" + id + " TypeID:ptr TypeName:text Address:ptr ObjectSize:u64 ByteOffset:u64"}},

	{clr.PrivateProvider, 2, "PrvGCSettings", map[int]string{0: "SegmentSize:u64 LargeSegmentSize:u64 Server:bool", 1: "SegmentSize:u64 LargeSegmentSize:u64 Server:bool" + id}},
	{clr.PrivateProvider, 11, "BGCBegin", map[int]string{0: "", 1: id}},
	{clr.PrivateProvider, 12, "BGC1stNonConEnd", map[int]string{0: "=Phase:1", 1: id + " =Phase:1"}},
	{clr.PrivateProvider, 13, "BGC1stConEnd", map[int]string{0: "=Phase:2", 1: id + " =Phase:2"}},
	{clr.PrivateProvider, 14, "BGC2ndNonConBegin", map[int]string{0: "=Phase:3", 1: id + " =Phase:3"}},
	{clr.PrivateProvider, 15, "BGC2ndNonConEnd", map[int]string{0: "=Phase:4", 1: id + " =Phase:4"}},
	{clr.PrivateProvider, 16, "BGC2ndConBegin", map[int]string{0: "=Phase:5", 1: id + " =Phase:5"}},
	{clr.PrivateProvider, 17, "BGC2ndConEnd", map[int]string{0: "=Phase:6", 1: id + " =Phase:6"}},
	{clr.PrivateProvider, 18, "BGCPlanEnd", map[int]string{0: "=Phase:7", 1: id + " =Phase:7"}},
	{clr.PrivateProvider, 19, "BGCSweepEnd", map[int]string{0: "=Phase:8", 1: id + " =Phase:8"}},
	{clr.PrivateProvider, 20, "BGCDrainMark", map[int]string{0: "Objects:u64" + id}},
	{clr.PrivateProvider, 21, "BGCRevisit", map[int]string{0: "Pages:u64 Objects:u64 Large:bool" + id}},
	{clr.PrivateProvider, 22, "BGCOverflow", map[int]string{0: "Min:u64 Max:u64 Objects:u64 Large:bool" + id, 1: "Min:u64 Max:u64 Objects:u64 Large:bool" + id + " Generation:u32"}},
	{clr.PrivateProvider, 23, "BGCAllocWaitBegin", map[int]string{0: "Reason:u32" + id}},
	{clr.PrivateProvider, 24, "BGCAllocWaitEnd", map[int]string{0: "Reason:u32" + id + " =End:true"}},
	{clr.PrivateProvider, 25, "GCFullNotify", map[int]string{0: "Generation:u32 Alloc:bool", 1: "Generation:u32 Alloc:bool" + id}},
	{clr.PrivateProvider, 26, "BGC1stSweepEnd", map[int]string{0: "Generation:u32" + id}},
	{clr.PrivateProvider, 192, "PrvFinalizeObject", map[int]string{0: "TypeID:ptr ObjectID:ptr" + id + " TypeName:text"}},
	{clr.PrivateProvider, 194, "PrvSetGCHandle", map[int]string{0: "Handle:ptr Object:ptr Kind:u32 Generation:u32 AppDomain:u64" + id}},
	{clr.PrivateProvider, 195, "PrvDestroyGCHandle", map[int]string{0: "Handle:ptr" + id}},
	{clr.PrivateProvider, 199, "PinPlugAtGCTime", map[int]string{0: "Start:ptr End:ptr GapBefore:ptr" + id}},

	{clr.RundownProvider, 10, "GCSettingsRundown", map[int]string{0: "HardLimit:u64 LOHThreshold:u64 PhysicalMemoryConfig:u64 Gen0MinBudget:u64 Gen0MaxBudget:u64 HighMemoryPercent:u32 Bits:u32" + id}},
	{clr.RundownProvider, 153, "ModuleDCStart", modules},
	{clr.RundownProvider, 144, "MethodDCEndVerbose", methods},
	{clr.RundownProvider, 146, "MethodDCEndComplete", map[int]string{1: id + " =End:true"}},
	{clr.RundownProvider, 148, "MethodDCEndInit", map[int]string{1: id}},
	{clr.RundownProvider, 154, "ModuleDCEnd", modules},
	{clr.RundownProvider, 187, "RuntimeInformationDCStart", map[int]string{0: runtimeInformation}},

	{clr.MetricsProvider, 2, "CollectionStart", map[int]string{0: "Session:text -:u64 -:u64"}},
	{clr.MetricsProvider, 3, "CollectionStop", map[int]string{0: "Session:text -:u64 -:u64 =End:true"}},
	{clr.MetricsProvider, 4, "CounterRateValuePublished", map[int]string{0: instrument + " Rate:text", 1: instrument + " Rate:text Value:text"}},
	{clr.MetricsProvider, 5, "GaugeValuePublished", map[int]string{0: instrument + " Value:text =Kind:2"}},
	{clr.MetricsProvider, 6, "HistogramValuePublished", map[int]string{0: instrument + " Quantiles:text =Kind:3", 1: instrument + " Quantiles:text Count:i32 Value:text =Kind:3"}},
	{clr.MetricsProvider, 7, "BeginInstrumentReporting", map[int]string{0: "Session:text Meter:text"}},
	{clr.MetricsProvider, 9, "Error", map[int]string{0: ""}},
	{clr.MetricsProvider, 12, "TimeSeriesLimitReached", map[int]string{0: "=Problem:1"}},
	{clr.MetricsProvider, 13, "HistogramLimitReached", map[int]string{0: "=Problem:2"}},
	{clr.MetricsProvider, 14, "ObservableInstrumentCallbackError", map[int]string{0: "=Problem:3"}},
	{clr.MetricsProvider, 15, "MultipleSessionsNotSupportedError", map[int]string{0: "=Problem:4"}},
	{clr.MetricsProvider, 16, "UpDownCounterRateValuePublished", map[int]string{0: instrument + " Rate:text =Kind:1", 1: instrument + " Rate:text Value:text =Kind:1"}},
	{clr.MetricsProvider, 17, "MultipleSessionsConfiguredIncorrectlyError", map[int]string{0: "=Problem:5"}},

	{clr.EventPipeProvider, 1, "ProcessInfo", map[int]string{0: "CommandLine:text", 1: "CommandLine:text OSInformation:text Architecture:text"}},
	{clr.RecordingProvider, 1, "RecordedProcess", map[int]string{0: recordedProcess, 1: recordedProcess + " DiagnosticsThreads:text Snapshot:bool"}},
}

const (
	heapStats = "Size.0:u64 Promoted.0:u64 Size.1:u64 Promoted.1:u64 Size.2:u64 Promoted.2:u64 Size.3:u64 Promoted.3:u64 " +
		"FinalizationSize:u64 FinalizationCount:u64 PinnedObjects:u32 SyncBlocks:u32 Handles:i32"
	globalHistory  = "FinalYoungestDesired:u64 Heaps:i32 CondemnedGeneration:u32 Gen0Reductions:u32 Reason:u32 Mechanisms:u32"
	globalHistory2 = " PauseMode:u32 MemoryLoad:u32 =HasMemoryLoad:true"
	globalHistory3 = " CondemnedGenerations:u32 Condemned:u32 =HasCondemned:true"

	instrument = "Session:text Meter:text -:text Name:text Unit:text Tags:text"

	recordedProcess = "Name:text RuntimeVersion:text Flavor:text GC:text Started:i64"

	runtimeInformation = "ClrInstance:u16 Sku:u16 BCLVersion.0:u16 BCLVersion.1:u16 BCLVersion.2:u16 BCLVersion.3:u16 " +
		"VMVersion.0:u16 VMVersion.1:u16 VMVersion.2:u16 VMVersion.3:u16 StartupFlags:u32 StartupMode:u8 CommandLine:text ComObjectGUID:guid RuntimeDLLPath:text"
)

var modules = map[int]string{
	1: "ID:u64 Assembly:u64 Flags:u32 -:u32 ILPath:text NativePath:text" + id,
}

var methods = map[int]string{
	1: method,
	2: method + " -:u64",
}

const method = "ID:u64 Module:u64 StartAddress:u64 Size:u32 Token:u32 Flags:u32 Namespace:text Name:text Signature:text" + id

func perHeapHistory(generations int) string {
	s := "ClrInstance:u16 FreeListAllocated:ptr FreeListRejected:ptr EndOfSegmentAllocated:ptr CondemnedAllocated:ptr PinnedAllocated:ptr PinnedAllocatedAdvance:ptr " +
		"RunningFreeListEfficiency:u32 CondemnedGenerations:u32 Condemned:u32 Compact:u32 Expand:u32 Heap:u32 ExtraGen0Commit:ptr "
	s += fmt.Sprintf("-:#%d =Generations:%d", generations, generations)
	for g := range generations {
		for field := range strings.FieldsSeq("SizeBefore FreeListBefore FreeObjectsBefore SizeAfter FreeListAfter FreeObjectsAfter In PinnedSurvivors NonPinnedSurvivors Budget") {
			s += fmt.Sprintf(" Generation.%d.%s:ptr", g, field)
		}
	}
	return s
}

// fill returns a payload of a layout with a distinct value in each field, and the expected result
// of decoding it.
func fill(layout string, ptr int, name string) (payload []byte, want map[string]string) {
	want = map[string]string{}
	next := byte(0)
	number := func(size int) (v uint64) {
		for i := range size {
			next++
			payload = append(payload, next)
			v |= uint64(next) << (8 * i)
		}
		return v
	}
	for field := range strings.FieldsSeq(layout) {
		key, kind, _ := strings.Cut(field, ":")
		if constant, ok := strings.CutPrefix(key, "="); ok {
			want[constant] = kind
			continue
		}
		value := ""
		switch kind {
		case "u8":
			value = fmt.Sprint(number(1))
		case "u16":
			value = fmt.Sprint(number(2))
		case "u32", "i32":
			value = fmt.Sprint(number(4))
		case "u64", "i64":
			value = fmt.Sprint(number(8))
		case "f32":
			value = fmt.Sprint(math.Float32frombits(uint32(number(4))))
		case "ptr":
			value = fmt.Sprint(number(ptr))
		case "bool":
			payload = binary.LittleEndian.AppendUint32(payload, 1)
			value = "true"
		case "text":
			payload = append(payload, nettracetest.UTF16(name)...)
			value = name
		case "guid":
			number(16)
			value = fmt.Sprint(payload[len(payload)-16:])
		default: // "#n": a count
			n := uint32(0)
			fmt.Sscanf(kind, "#%d", &n)
			payload = binary.LittleEndian.AppendUint32(payload, n)
		}
		if key != "-" {
			want[key] = value
		}
	}
	return payload, want
}

// flatten lists the non-zero exported fields of a struct, with the names that fill uses.
func flatten(v reflect.Value, path string, into map[string]string) {
	switch {
	case v.Type() == reflect.TypeFor[clr.UTF16]():
		if v.Len() > 0 {
			into[path] = v.Interface().(clr.UTF16).String()
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case f.Anonymous:
				flatten(v.Field(i), path, into)
			case f.IsExported():
				flatten(v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), into)
			}
		}
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8:
		if !v.IsZero() {
			into[path] = fmt.Sprint(v.Interface())
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			flatten(v.Index(i), fmt.Sprint(path, ".", i), into)
		}
	case !v.IsZero():
		switch {
		case v.CanUint():
			into[path] = fmt.Sprint(v.Uint())
		case v.CanInt():
			into[path] = fmt.Sprint(v.Int())
		default:
			into[path] = fmt.Sprint(v.Interface())
		}
	}
}

func fieldsOf(e clr.Event) map[string]string {
	got := map[string]string{}
	flatten(reflect.ValueOf(e).Elem(), "", got)
	if e, ok := e.(*clr.PinObjectAtGCTime); ok {
		if name := e.TypeName().String(); name != "" {
			got["TypeName()"] = name
		}
		if delete(got, "TotalSize"); e.TotalSize != e.Size {
			got["TotalSize"] = fmt.Sprint(e.TotalSize)
		}
	}
	return got
}

// TestLayouts: every field of every version of every event, for both pointer sizes; fields that a
// newer version would append; and payloads too short for any version.
func TestLayouts(t *testing.T) {
	for _, m := range manifests {
		if got := clr.Name(m.provider, m.id); got != m.name {
			t.Errorf("%s %d is called %q, not %s", m.provider, m.id, got, m.name)
		}
		oldest, newest := 99, 0
		for version := range m.layouts {
			oldest, newest = min(oldest, version), max(newest, version)
		}
		for _, ptr := range []int{4, 8} {
			least, _ := fill(m.layouts[oldest], ptr, "")
			for version, layout := range m.layouts {
				for _, name := range []string{"", "A.Name"} {
					payload, want := fill(layout, ptr, name)
					for k, v := range want {
						if v == "" {
							delete(want, k)
						}
					}
					d := clr.NewDecoder(ptr)
					check := func(what string, version int, payload []byte) {
						t.Helper()
						e, err := d.Decode(event(m.provider, m.id, version, payload))
						if err != nil {
							t.Errorf("%s, version %d, %d-byte pointers, %s: %v", m.name, version, ptr, what, err)
						} else if got := fieldsOf(e); fmt.Sprint(got) != fmt.Sprint(want) {
							t.Errorf("%s, version %d, %d-byte pointers, %s:\n got %v\nwant %v", m.name, version, ptr, what, got, want)
						}
					}
					check("as it is", version, payload)
					// Structs are reused: no value of the previous event may remain.
					check("again", version, payload)
					latest, _ := fill(m.layouts[newest], ptr, "Another")
					decode(t, d, event(m.provider, m.id, newest, latest))
					check("behind a newer one", version, payload)
					if version == newest {
						if m.id != clr.IDPinObjectAtGCTime || version > 0 {
							check("with more behind it", version+1, append(slices.Clip(payload), "more and more"...))
						}
						check("of unknown version", parse.VersionUnknown, payload)
					}
				}
			}
			for n := range len(least) {
				for _, version := range []int{oldest, newest, parse.VersionUnknown} {
					_, err := clr.NewDecoder(ptr).Decode(event(m.provider, m.id, version, least[:n]))
					want := &clr.PayloadError{Provider: m.provider, EventID: m.id, Name: m.name, Version: version, Length: n, Least: len(least)}
					var got *clr.PayloadError
					if !errors.As(err, &got) || *got != *want {
						t.Errorf("%s cut at %d: got %v, want %v", m.name, n, err, want)
					}
				}
			}
			// The version determines the fields, even if there is room for those of a newer one.
			for version, layout := range m.layouts {
				payload, want := fill(layout, ptr, "A.Name")
				payload = append(payload, bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 8)...)
				got := fieldsOf(decode(t, clr.NewDecoder(ptr), event(m.provider, m.id, version, payload)))
				for _, field := range []string{"ClrInstance", "ID"} { // read in any version that has room for them
					if want[field] == "" || m.id == clr.IDPinObjectAtGCTime && version == 0 {
						delete(got, field)
						delete(want, field)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, version %d, %d-byte pointers, with more behind it:\n got %v\nwant %v", m.name, version, ptr, got, want)
				}
			}
			// A payload shorter than its version requires is read as the previous version.
			for version, layout := range m.layouts {
				before, ok := m.layouts[version-1]
				if !ok {
					continue
				}
				older, _ := fill(before, ptr, "")
				newer, _ := fill(layout, ptr, "")
				for n := len(older); n < len(newer); n++ {
					cut := event(m.provider, m.id, version, newer[:n])
					if m.id == clr.IDGCGlobalHeapHistory && version == 4 && n >= len(older)+4 {
						break // it ends inside a list
					}
					if m.id == clr.IDGCAllocationTick && version == 2 && n >= len(older)+8+ptr {
						if _, err := clr.NewDecoder(ptr).Decode(cut); err == nil { // it ends inside a name
							t.Errorf("%s, version %d cut at %d: no error", m.name, version, n)
						}
						continue
					}
					got := fieldsOf(decode(t, clr.NewDecoder(ptr), cut))
					cut.Version--
					if want := fieldsOf(decode(t, clr.NewDecoder(ptr), cut)); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s, version %d cut at %d: %v, as version %d: %v", m.name, version, n, got, version-1, want)
					}
				}
			}
		}
	}
}

// TestLists: the values of the events that contain many.
func TestLists(t *testing.T) {
	const edge = "Node:ptr Kind:u8 Flags:u32 Root:ptr"
	for _, c := range []struct {
		id          int
		name        string
		head, value string
		short       int // bytes of the count at the end of the head
		at          func(e clr.Event, i int) any
		count       func(e clr.Event) int
	}{
		{16, "GCBulkRootEdge", "Index:u32 -:u32 ClrInstance:u16", edge, 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkRootEdge).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkRootEdge).Count }},
		{17, "GCBulkRootConditionalWeakTableElementEdge", "Index:u32 -:u32 ClrInstance:u16", "Key:ptr Value:ptr Root:ptr", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkConditionalEdge).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkConditionalEdge).Count }},
		{18, "GCBulkNode", "Index:u32 -:u32 ClrInstance:u16", "Address:ptr Size:u64 TypeID:u64 Edges:u64", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkNode).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkNode).Count }},
		{19, "GCBulkEdge", "Index:u32 -:u32 ClrInstance:u16", "Target:ptr Field:u32", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkEdge).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkEdge).Count }},
		{21, "GCBulkSurvivingObjectRanges", "Index:u32 -:u32 ClrInstance:u16", "Start:ptr Length:u64", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkSurvivingRanges).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkSurvivingRanges).Count }},
		{22, "GCBulkMovedObjectRanges", "Index:u32 -:u32 ClrInstance:u16", "Old:ptr New:ptr Length:u64", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkMovedRanges).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkMovedRanges).Count }},
		{36, "GCBulkRootCCW", "-:u32 ClrInstance:u16", "Root:u64 Object:u64 TypeID:u64 Unknown:u64 Refs:u32 PeggedRefs:u32 Flags:u32", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkRootCCW).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkRootCCW).Count }},
		{37, "GCBulkRCW", "-:u32 ClrInstance:u16", "Object:u64 TypeID:u64 Unknown:u64 VTable:u64 Refs:u32 Flags:u32", 0, func(e clr.Event, i int) any { return e.(*clr.GCBulkRCW).At(i) }, func(e clr.Event) int { return e.(*clr.GCBulkRCW).Count }},
		{208, "GCLOHCompact", "ClrInstance:u16 -:u16", "PlanMicroseconds:u32 CompactMicroseconds:u32 RelocateMicroseconds:u32 -:pad TotalRefs:ptr ZeroRefs:ptr", 2, func(e clr.Event, i int) any { return e.(*clr.GCLOHCompact).At(i) }, func(e clr.Event) int { return e.(*clr.GCLOHCompact).Count }},
		{209, "GCFitBucketInfo", "ClrInstance:u16 Kind:u16 TotalSize:u64 -:u16", "Index:u16 -:u16 Count:u32 Size:ptr", 2, func(e clr.Event, i int) any { return e.(*clr.GCFitBucketInfo).At(i) }, func(e clr.Event) int { return e.(*clr.GCFitBucketInfo).Count }},
	} {
		if got := clr.Name(clr.RuntimeProvider, c.id); got != c.name {
			t.Errorf("%d is called %q, not %s", c.id, got, c.name)
		}
		for _, ptr := range []int{4, 8} {
			value := strings.Replace(c.value, "-:pad ", map[int]string{4: "", 8: "-:u32 "}[ptr], 1)
			head, want := fill(c.head, ptr, "")
			// The position of the count: after the index or first, or last.
			at := strings.Index(c.head, "-:")
			before, _ := fill(c.head[:at], ptr, "")
			count := func(n uint32) {
				if c.short == 2 {
					binary.LittleEndian.PutUint16(head[len(before):], uint16(n))
				} else {
					binary.LittleEndian.PutUint32(head[len(before):], n)
				}
			}
			values, _ := fill(value+" "+value+" "+value, ptr, "")
			size := len(values) / 3
			for n := range len(values) + 1 {
				count(3)
				e := decode(t, clr.NewDecoder(ptr), event(clr.RuntimeProvider, c.id, 0, append(slices.Clip(head), values[:n]...)))
				if got := c.count(e); got != n/size {
					t.Errorf("%s: %d values in %d bytes", c.name, got, n)
				}
			}
			count(2)
			e := decode(t, clr.NewDecoder(ptr), event(clr.RuntimeProvider, c.id, 0, append(slices.Clip(head), values...)))
			got := fieldsOf(e)
			delete(got, "Count")
			if c.count(e) != 2 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %d values, %v, want 2, %v", c.name, c.count(e), got, want)
			}
			for i := range 2 {
				// fill counts on, so the second value continues the first.
				want := map[string]string{}
				for field := range strings.FieldsSeq(value) {
					key, kind, _ := strings.Cut(field, ":")
					n := map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8, "ptr": ptr}[kind]
					v := uint64(0)
					for k := range n {
						v |= uint64(values[i*size+offset(value, field, ptr)+k]) << (8 * k)
					}
					if key != "-" {
						want[key] = fmt.Sprint(v)
					}
				}
				got := map[string]string{}
				flatten(reflect.ValueOf(c.at(e, i)), "", got)
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, %d-byte pointers, value %d: %v, want %v", c.name, ptr, i, got, want)
				}
			}
			for n := range head {
				_, err := clr.NewDecoder(ptr).Decode(event(clr.RuntimeProvider, c.id, 0, head[:n]))
				var short *clr.PayloadError
				if !errors.As(err, &short) || short.Least != len(head) || short.Length != n {
					t.Errorf("%s cut at %d: %v", c.name, n, err)
				}
			}
		}
	}
}

// offset returns the offset of a field of a layout.
func offset(layout, field string, ptr int) int {
	before, _ := fill(layout[:strings.Index(layout, field)], ptr, "")
	return len(before)
}

// TestPerHeapHistory: as many generations as the payload contains, at most five.
func TestPerHeapHistory(t *testing.T) {
	for _, ptr := range []int{4, 8} {
		d := clr.NewDecoder(ptr)
		for n := 7; n >= 1; n-- { // each after one that has more
			layout := perHeapHistory(min(n, 5))
			payload, want := fill(layout, ptr, "")
			count := 2 + 7*ptr + 6*4
			payload[count] = byte(n)
			if n > 5 {
				payload = append(payload, make([]byte, (n-5)*10*ptr)...)
			}
			e := decode(t, d, event(clr.RuntimeProvider, clr.IDGCPerHeapHistory, 3, payload))
			if got := fieldsOf(e); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d generations: %v, want %v", n, got, want)
			}
		}
		none, _ := fill(perHeapHistory(1), ptr, "")
		none[2+7*ptr+6*4] = 0
		if _, err := clr.NewDecoder(ptr).Decode(event(clr.RuntimeProvider, clr.IDGCPerHeapHistory, 3, none)); err == nil {
			t.Error("a history without a generation")
		}
	}
	g := clr.HeapGeneration{
		SizeBefore: 1000, FreeListBefore: 200, FreeObjectsBefore: 30, SizeAfter: 900, FreeListAfter: 100, FreeObjectsAfter: 7,
		PinnedSurvivors: 40, NonPinnedSurvivors: 500,
	}
	if g.ObjectsBefore() != 770 || g.ObjectsAfter() != 793 || g.Fragmentation() != 107 || g.Survivors() != 540 {
		t.Errorf("%d %d %d %d", g.ObjectsBefore(), g.ObjectsAfter(), g.Fragmentation(), g.Survivors())
	}
	empty := clr.HeapGeneration{FreeObjectsBefore: 24, FreeObjectsAfter: 24}
	if empty.ObjectsBefore() != -24 || empty.ObjectsAfter() != -24 {
		t.Errorf("%d %d", empty.ObjectsBefore(), empty.ObjectsAfter())
	}
}

// TestTimes: as many times as the payload contains; unknown ones are skipped.
func TestTimes(t *testing.T) {
	head, _ := fill(globalHistory+id+globalHistory2+globalHistory3, 8, "")
	for promised := range uint32(12) {
		for there := range 12 {
			payload := binary.LittleEndian.AppendUint32(slices.Clip(head), promised)
			for i := range there {
				payload = binary.LittleEndian.AppendUint32(payload, uint32(100+i))
			}
			payload = append(payload, make([]byte, there%4)...) // an incomplete one is ignored
			e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, clr.IDGCGlobalHeapHistory, 4, payload)).(*clr.GCGlobalHeapHistory)
			want := min(int(promised), there, clr.Times)
			if e.TimeCount != want {
				t.Errorf("%d of %d times: %d", there, promised, e.TimeCount)
			}
			for i, v := range e.Times {
				if i < want && v != uint32(100+i) || i >= want && v != 0 {
					t.Errorf("%d of %d times: %v", there, promised, e.Times)
				}
			}
		}
	}
}

// TestDynamicLayouts: the data of the events that a GC names itself; data that is too short is
// delivered undecoded.
func TestDynamicLayouts(t *testing.T) {
	for name, layout := range map[string]string{
		"CommittedUsage":       "-:u16 InUse:u64 GlobalDecommit:u64 Free:u64 GlobalFree:u64 Bookkeeping:u64",
		"SizeAdaptationSample": "-:u16 GCIndex:u64 ElapsedMicroseconds:u32 PauseMicroseconds:u32 SOHLockMicroseconds:u32 UOHLockMicroseconds:u32 StableSize:u64 Gen0BudgetPerHeap:u32",
		"SizeAdaptationTuning": "-:u16 NewHeaps:u16 MaxHeaps:u16 MinHeaps:u16 GCIndex:u64 StableSize:u64 MedianThroughputCost:f32 ConsideredThroughputCost:f32 AroundTarget:f32 " +
			"RecordedCosts:u16 RecordedSlope:f32 GCsSinceChange:u32 AggressiveFactor:u8 ChangeDecision:u16 AdjustReason:u16 ChangeFrequencyFactor:u16 FrequencyReason:u16 AdjustMetric:u8",
		"SizeAdaptationFullGCTuning": "-:u16 NewHeaps:u16 GCIndex:u64 MedianGen2Cost:f32 Gen2sSince:u32 " +
			"Samples.0.GCIndexDistance:u32 Samples.0.Percent:f32 Samples.1.GCIndexDistance:u32 Samples.1.Percent:f32 Samples.2.GCIndexDistance:u32 Samples.2.Percent:f32",
		"HeapCountTuning": "-:u16 NewHeaps:u16 GCIndex:u64 MedianThroughputCost:f32 SmoothedThroughputCost:f32 ThroughputReductionUp:f32 ThroughputIncreaseDown:f32 SpaceCostIncreaseUp:f32 SpaceCostDecreaseDown:f32",
		"HeapCountSample": "-:u16 GCIndex:u64 ElapsedMicroseconds:u64 PauseMicroseconds:u64 LockMicroseconds:u64",
	} {
		data, want := fill(layout, 8, "")
		want["ClrInstance"] = "9"
		for _, ptr := range []int{4, 8} {
			d := clr.NewDecoder(ptr)
			for _, more := range []string{"", "of a newer version"} {
				e := decode(t, d, dynamic(name, append(slices.Clip(data), more...)))
				if got := fieldsOf(e); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			for n := range data {
				if e, ok := decode(t, d, dynamic(name, data[:n])).(*clr.GCDynamicEvent); !ok || len(e.Data) != n || e.ClrInstance != 9 {
					t.Errorf("%s cut at %d: %+v", name, n, e)
				}
			}
		}
	}
	// The data must fit into the event, which may end without the CLR instance.
	d := clr.NewDecoder(8)
	whole := dynamic("X", []byte("data"))
	for n := range whole.Payload {
		e := *whole
		e.Payload = whole.Payload[:n]
		typed, err := d.Decode(&e)
		if complete := n >= len(whole.Payload)-2; complete != (err == nil) {
			t.Errorf("cut at %d: %+v, %v", n, typed, err)
		} else if complete && string(typed.(*clr.GCDynamicEvent).Data) != "data" {
			t.Errorf("cut at %d: %+v", n, typed)
		}
	}
}

// TestFoldedPins: the event contains the totals of the pinned objects that the Reader folded into
// it.
func TestFoldedPins(t *testing.T) {
	l := (&nettracetest.Payload{PointerSize: 8}).Pointer(1, 2).U64(64).Text("T").U16(9)
	d := clr.NewDecoder(8)
	folded := event(clr.RuntimeProvider, clr.IDPinObjectAtGCTime, 0, l.Bytes)
	folded.More, folded.Sum = 1, 100
	if e := decode(t, d, folded).(*clr.PinObjectAtGCTime); e.Size != 64 || e.More != 1 || e.TotalSize != 100 {
		t.Errorf("%+v", e)
	}
	folded.More, folded.Sum = 0, 64
	if e := decode(t, d, folded).(*clr.PinObjectAtGCTime); e.More != 0 || e.TotalSize != 64 || e.TypeName().String() != "T" {
		t.Errorf("%+v", e)
	}
	for _, ptr := range []int{4, 8} {
		l := (&nettracetest.Payload{PointerSize: ptr}).Pointer(1, 2).U64(64)
		trace := &parse.Trace{PointerSize: ptr}
		if got := clr.PinnedSize(trace, l.Bytes); got != 64 {
			t.Errorf("%d-byte pointers: %d", ptr, got)
		}
		if got := clr.PinnedSize(trace, l.Bytes[:len(l.Bytes)-1]); got != 0 {
			t.Errorf("%d-byte pointers, cut: %d", ptr, got)
		}
	}
}

// TestAmounts: old runtimes report an amount in 32 bits, which overflows. It is then limited to the
// range from the size that triggers a tick to the maximum for its kind.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		amount int32
		kind   uint32
		want   uint64
	}{
		{100_000, 0, 100_000},
		{0, 0, 0},
		{math.MaxInt32, 1, math.MaxInt32},
		{-1, 0, 90_000},
		{-90_001, 0, 90_001},
		{-110_000, 0, 110_000},
		{-110_001, 0, 110_000},
		{-110_001, 1, 110_001},
		{-2_000_000, 1, 2_000_000},
		{-2_000_001, 1, 2_000_000},
		{-2_000_001, 2, 2_000_000},
		{math.MinInt32, 0, 110_000},
	} {
		l := (&nettracetest.Payload{PointerSize: 8}).U32(uint32(c.amount), c.kind).U16(9)
		e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, clr.IDGCAllocationTick, 1, l.Bytes)).(*clr.GCAllocationTick)
		if e.Amount != c.want {
			t.Errorf("%d of kind %d: %d, want %d", c.amount, c.kind, e.Amount, c.want)
		}
	}
	// So is the 64-bit amount of newer ones.
	l := (&nettracetest.Payload{PointerSize: 8}).U32(1, 0).U16(9).U64(math.MaxUint64).Pointer(5).Text("T").U32(3)
	if e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, clr.IDGCAllocationTick, 2, l.Bytes)).(*clr.GCAllocationTick); e.Amount != 90_000 || e.Heap != 3 {
		t.Errorf("%+v", e)
	}
}

// TestTypes: every field of a type and of a static variable, and where a list of them ends.
func TestTypes(t *testing.T) {
	const typ = "ID:u64 Module:u64 NameID:u32 Flags:u32 ElementType:u8 Name:text"
	one, want := fill(typ, 8, "A")
	want["NumParameters"] = "2"
	parameters := (&nettracetest.Payload{PointerSize: 8}).U32(2).U64(7, 8).Bytes
	list := func(n uint32, b ...byte) []byte { return append((&nettracetest.Payload{}).U32(n).U16(9).Bytes, b...) }
	for _, ptr := range []int{4, 8} {
		e := decode(t, clr.NewDecoder(ptr), event(clr.RuntimeProvider, 15, 0, list(1, append(one, parameters...)...))).(*clr.BulkType)
		var v clr.Type
		if e.Count != 1 || e.ClrInstance != 9 || !e.Next(&v) || v.NumParameters != 2 || v.Parameter(0) != 7 || v.Parameter(1) != 8 {
			t.Errorf("%+v %+v", e, v)
		}
		got := map[string]string{}
		flatten(reflect.ValueOf(v), "", got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
		if e.Next(&v) {
			t.Errorf("a second type: %+v", v)
		}
	}
	// The count never exceeds what the payload has room for.
	const least = 8 + 8 + 4 + 4 + 1 + 2 + 4
	for n := range 3*least + 1 {
		e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, 15, 0, list(100, make([]byte, n)...))).(*clr.BulkType)
		if e.Count != n/least {
			t.Errorf("%d types in %d bytes", e.Count, n)
		}
		var v clr.Type
		k := 0
		for e.Next(&v) {
			k++
		}
		if k != e.Count {
			t.Errorf("%d of %d types", k, e.Count)
		}
	}
	var v clr.Type
	if e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, 15, 0, list(1, make([]byte, 3*least)...))).(*clr.BulkType); e.Count != 1 || !e.Next(&v) || e.Next(&v) {
		t.Errorf("%d types, one is promised", e.Count)
	}
	if clr.Name(clr.RuntimeProvider, 15) != "BulkType" || clr.Name(clr.RuntimeProvider, 38) != "GCBulkRootStaticVar" || clr.Name(clr.RuntimeProvider, 39) != "GCDynamicEvent" {
		t.Error("names")
	}

	variable, want := fill("Root:u64 Object:u64 TypeID:u64 Flags:u32 Field:text", 8, "f")
	head := func(n uint32) []byte { return (&nettracetest.Payload{}).U32(n).U64(77).U16(9).Bytes }
	e := decode(t, clr.NewDecoder(4), event(clr.RuntimeProvider, 38, 0, append(head(2), append(variable, variable...)...))).(*clr.GCBulkRootStaticVar)
	var static clr.StaticVar
	n := 0
	for ; e.Next(&static); n++ {
		got := map[string]string{}
		flatten(reflect.ValueOf(static), "", got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if n != 2 || e.Count != 2 || e.AppDomain != 77 || e.ClrInstance != 9 {
		t.Errorf("%d of %+v", n, e)
	}
	one = append(head(1), append(variable, variable...)...)
	if e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, 38, 0, one)).(*clr.GCBulkRootStaticVar); e.Count != 1 || !e.Next(&static) || e.Next(&static) {
		t.Errorf("%d variables, one is promised", e.Count)
	}
	const smallest = 3*8 + 4 + 2
	for n := range 3*smallest + 1 {
		e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, 38, 0, append(head(100), make([]byte, n)...))).(*clr.GCBulkRootStaticVar)
		if e.Count != n/smallest {
			t.Errorf("%d variables in %d bytes", e.Count, n)
		}
	}
	for n, least := range map[int][]byte{15: list(0), 38: head(0), 39: (&nettracetest.Payload{}).Text("").U32(0).Bytes} {
		decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, n, 0, least))
		for cut := range least {
			var short *clr.PayloadError
			if _, err := clr.NewDecoder(8).Decode(event(clr.RuntimeProvider, n, 0, least[:cut])); !errors.As(err, &short) || short.Least != len(least) || short.Length != cut {
				t.Errorf("%d cut at %d: %v", n, cut, err)
			}
		}
	}
	damaged := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, 38, 0, append(head(1), append(make([]byte, smallest-2), 1, 0)...))).(*clr.GCBulkRootStaticVar)
	for range 2 {
		if damaged.Next(&static) {
			t.Error("a variable whose name does not end")
		}
	}
}

// TestNumbers: constants on which other programs depend have the values of the runtime.
func TestNumbers(t *testing.T) {
	for name, v := range map[string][2]uint64{
		"GC": {clr.KeywordGC, 0x1}, "GCHandle": {clr.KeywordGCHandle, 0x2}, "Type": {clr.KeywordType, 0x80000}, "GCHeapDump": {clr.KeywordGCHeapDump, 0x100000},
		"GCSurvival": {clr.KeywordGCSurvival, 0x400000}, "GCHeapCollect": {clr.KeywordGCHeapCollect, 0x800000}, "GCHeapAndType": {clr.KeywordGCHeapAndType, 0x1000000},
		"AllocationSampled": {clr.KeywordAllocationSampled, 0x80000000000},
		"Critical":          {clr.LevelCritical, 1}, "Error": {clr.LevelError, 2}, "Warning": {clr.LevelWarning, 3}, "Informational": {clr.LevelInformational, 4}, "Verbose": {clr.LevelVerbose, 5},
		"Concurrent": {clr.SettingConcurrent, 1}, "LargePages": {clr.SettingLargePages, 2}, "FrozenSegments": {clr.SettingFrozenSegments, 4}, "HardLimit": {clr.SettingHardLimit, 8}, "NoAffinitize": {clr.SettingNoAffinitize, 16},
		"StartupConcurrentGC": {clr.StartupConcurrentGC, 1}, "StartupServerGC": {clr.StartupServerGC, 0x1000},
		"generations": {clr.Generations, 5}, "times": {clr.Times, 8}, "phases": {uint64(clr.BGCPhases), 9}, "mark types": {uint64(clr.MarkTypes), 10},
		"relocate": {clr.TimeRelocate, 6},
	} {
		if v[0] != v[1] {
			t.Errorf("%s is %#x, want %#x", name, v[0], v[1])
		}
	}
	known := map[string]bool{}
	for _, m := range manifests {
		known[fmt.Sprint(m.provider, m.id)] = true
	}
	for _, id := range []int{15, 16, 17, 18, 19, 21, 22, 36, 37, 38, 39, 208, 209} {
		known[fmt.Sprint(clr.RuntimeProvider, id)] = true
	}
	for _, provider := range []string{clr.RuntimeProvider, clr.PrivateProvider, clr.RundownProvider, clr.EventPipeProvider, clr.RecordingProvider, clr.MetricsProvider} {
		for id := range 1 << 10 {
			if name := clr.Name(provider, id); (name != "") != known[fmt.Sprint(provider, id)] {
				t.Errorf("%s %d: %q", provider, id, name)
			}
		}
	}
}

// TestOneDecoder: one Decoder finds the specs for kinds of several streams, and for kinds beyond
// those seen so far.
func TestOneDecoder(t *testing.T) {
	d := clr.NewDecoder(8)
	start := func(index int) *parse.Event {
		e := event(clr.RuntimeProvider, clr.IDGCStart, 0, (&nettracetest.Payload{}).U32(7, 4).Bytes)
		e.Meta.Index = index
		return e
	}
	end := event(clr.RuntimeProvider, clr.IDGCEnd, 0, (&nettracetest.Payload{}).U32(7).U16(1).Bytes)
	for _, index := range []int{0, 5, 0, 4, 6} {
		for range 2 {
			if _, ok := decode(t, d, start(index)).(*clr.GCStart); !ok {
				t.Errorf("index %d: no GCStart", index)
			}
			end.Meta.Index = index // the same index, in another stream
			if _, ok := decode(t, d, end).(*clr.GCEnd); !ok {
				t.Errorf("index %d: no GCEnd", index)
			}
		}
	}
	if e := decode(t, d, start(1)).(*clr.GCStart); e.InstanceID() != 0 {
		t.Errorf("%+v", e)
	}
}

// TestPayloadStrings: names end at a zero code unit, not at a zero byte.
func TestPayloadStrings(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{
		{"a\x00\x00b\x00\x00", "a\u6200"},
		{"a\x00b\x00\x00\x00", "ab"},
		{"\x00\x00", ""},
	} {
		l := (&nettracetest.Payload{PointerSize: 8}).Pointer(1, 2).U16(9)
		l.Bytes = append(l.Bytes, c.bytes...)
		e := decode(t, clr.NewDecoder(8), event(clr.PrivateProvider, clr.IDPrvFinalizeObject, 0, l.Bytes)).(*clr.FinalizeObject)
		if e.TypeName.String() != c.want {
			t.Errorf("%q is read as %q, want %q", c.bytes, e.TypeName, c.want)
		}
	}
}
