package clr_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// event returns an event like one that a Reader delivers.
func event(provider string, id, version int, payload []byte) *parse.Event {
	return &parse.Event{Meta: &parse.Metadata{Provider: provider, EventID: id, Version: version}, Version: version, Payload: payload}
}

func decode(t *testing.T, d *clr.Decoder, e *parse.Event) clr.Event {
	t.Helper()
	got, err := d.Decode(e)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestVersions: older versions, shorter payloads, and fields that newer runtimes append.
func TestVersions(t *testing.T) {
	newPayload := func() *nettracetest.Payload { return &nettracetest.Payload{PointerSize: 8} }
	start2 := newPayload().U32(7, 2, 4, 1).U16(9).U64(55).Bytes
	for _, c := range []struct {
		name    string
		id      int
		version int
		payload []byte
		want    string
	}{
		{"GCStart V0", clr.IDGCStart, 0, newPayload().U32(7, 4).Bytes, "&{{0} 7 0 AllocLarge NonConcurrentGC 0 false}"},
		{"GCStart V1", clr.IDGCStart, 1, newPayload().U32(7, 2, 4, 1).U16(9).Bytes, "&{{9} 7 2 AllocLarge BackgroundGC 0 true}"},
		{"GCStart V2", clr.IDGCStart, 2, start2, "&{{9} 7 2 AllocLarge BackgroundGC 55 true}"},
		{"GCStart V9 is its known prefix", clr.IDGCStart, 9, append(bytes.Clone(start2), "more"...), "&{{9} 7 2 AllocLarge BackgroundGC 55 true}"},
		{"GCStart V2 cut to V1", clr.IDGCStart, 2, start2[:18], "&{{9} 7 2 AllocLarge BackgroundGC 0 true}"},
		{"GCStart of unknown version", clr.IDGCStart, parse.VersionUnknown, start2, "&{{9} 7 2 AllocLarge BackgroundGC 55 true}"},
		{"GCStart of unknown version, short", clr.IDGCStart, parse.VersionUnknown, start2[:8], "&{{0} 7 0 LowMemory NonConcurrentGC 0 false}"},
		{"GCEnd V0", clr.IDGCEnd, 0, newPayload().U32(7).U16(1).Bytes, "&{{0} 7 1}"},
		{"GCEnd V1", clr.IDGCEnd, 1, newPayload().U32(7, 1).U16(9).Bytes, "&{{9} 7 1}"},
		{"SuspendBegin V0", clr.IDGCSuspendEEBegin, 0, newPayload().U16(6).Bytes, "&{{0} ForGCPrep 0}"},
		{"SuspendBegin V1", clr.IDGCSuspendEEBegin, 1, newPayload().U32(1, 5).U16(9).Bytes, "&{{9} ForGC 5}"},
		{"RestartEnd V0", clr.IDGCRestartEEEnd, 0, nil, "&{{0}}"},
		{"RestartEnd V1", clr.IDGCRestartEEEnd, 1, newPayload().U16(9).Bytes, "&{{9}}"},
		{"AllocationTick V0", clr.IDGCAllocationTick, 0, newPayload().U32(100, 1).Bytes, "&{{0} 100 Large 0  0 0 0}"},
		{"AllocationTick V1", clr.IDGCAllocationTick, 1, newPayload().U32(100, 1).U16(9).Bytes, "&{{9} 100 Large 0  0 0 0}"},
		{"AllocationTick V4", clr.IDGCAllocationTick, 4, newPayload().U32(100, 2).U16(9).U64(1 << 33).Pointer(5).Text("T").U32(3).Pointer(6).U64(77).Bytes, "&{{9} 8589934592 Pinned 5 T 3 6 77}"},
		{"AllocationTick V2", clr.IDGCAllocationTick, 2, newPayload().U32(100, 0).U16(9).U64(1000).Pointer(5).Text("T").U32(3).Bytes, "&{{9} 1000 Small 5 T 3 0 0}"},
		{"AllocationTick with an overflow", clr.IDGCAllocationTick, 1, newPayload().U32(1<<32-5, 0).U16(9).Bytes, "&{{9} 90000 Small 0  0 0 0}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := clr.NewDecoder(8)
			got := decode(t, d, event(clr.RuntimeProvider, c.id, c.version, c.payload))
			if s := strings.ReplaceAll(fmt.Sprintf("%v", got), "[]", ""); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
}

// TestPointerSize: pointer-sized fields have 4 bytes in a 32-bit process.
func TestPointerSize(t *testing.T) {
	for _, ptr := range []int{4, 8} {
		l := &nettracetest.Payload{PointerSize: ptr}
		l.U16(9).Pointer(1, 2, 3, 4, 5, 6).U32(7, 8, 9, 10, 11, 12).Pointer(13).U32(5)
		for g := range uint64(5) {
			for f := range uint64(10) {
				l.Pointer(100*g + f)
			}
		}
		e := decode(t, clr.NewDecoder(ptr), event(clr.RuntimeProvider, clr.IDGCPerHeapHistory, 3, l.Bytes)).(*clr.GCPerHeapHistory)
		if e.ClrInstance != 9 || e.FreeListAllocated != 1 || e.PinnedAllocatedAdvance != 6 || e.RunningFreeListEfficiency != 7 ||
			e.Heap != 12 || e.ExtraGen0Commit != 13 || e.Generations != 5 || e.Generation[4].Budget != 409 || e.Generation[2].SizeAfter != 203 {
			t.Errorf("%d-byte pointers: %+v", ptr, e)
		}
		// Four generations before .NET 5; a truncated fifth is ignored.
		short := l.Bytes[:len(l.Bytes)-1]
		if e := decode(t, clr.NewDecoder(ptr), event(clr.RuntimeProvider, clr.IDGCPerHeapHistory, 3, short)).(*clr.GCPerHeapHistory); e.Generations != 4 {
			t.Errorf("%d-byte pointers: %d generations", ptr, e.Generations)
		}
		node := (&nettracetest.Payload{PointerSize: ptr}).U32(1, 2).U16(9).Pointer(10).U64(20, 30, 40).Pointer(11).U64(21, 31, 41)
		n := decode(t, clr.NewDecoder(ptr), event(clr.RuntimeProvider, clr.IDGCBulkNode, 0, node.Bytes)).(*clr.GCBulkNode)
		if n.Count != 2 || n.At(1) != (clr.Node{Address: 11, Size: 21, TypeID: 31, Edges: 41}) {
			t.Errorf("%d-byte pointers: %+v %+v", ptr, n, n.At(1))
		}
	}
}

// TestShort: a payload too short for any version is an error that names the event.
func TestShort(t *testing.T) {
	d := clr.NewDecoder(8)
	_, err := d.Decode(event(clr.RuntimeProvider, clr.IDGCHeapStats, 2, make([]byte, 50)))
	var p *clr.PayloadError
	if !errors.As(err, &p) || p.Name != "GCHeapStats" || p.Length != 50 || !strings.Contains(err.Error(), "50 bytes") {
		t.Errorf("got %v", err)
	}
	// A list that announces more values than there are ends with the last one there is.
	l := (&nettracetest.Payload{PointerSize: 8}).U16(9).U16(0).U64(100).U16(50).U32(1, 2).U64(3)
	e := decode(t, d, event(clr.RuntimeProvider, clr.IDGCFitBucketInfo, 0, l.Bytes)).(*clr.GCFitBucketInfo)
	if e.Count != 1 || e.At(0).Size != 3 {
		t.Errorf("%+v", e)
	}
}

func TestUnknownEvents(t *testing.T) {
	d := clr.NewDecoder(8)
	for _, e := range []*parse.Event{event("My-Company", 1, 0, nil), event(clr.RuntimeProvider, 9999, 0, nil)} {
		if got, err := d.Decode(e); got != nil || err != nil {
			t.Errorf("%+v %v", got, err)
		}
	}
	if clr.Name(clr.RuntimeProvider, clr.IDGCStart) != "GCStart" || clr.Name("x", 1) != "" {
		t.Error("names of events")
	}
}

func dynamic(name string, data []byte) *parse.Event {
	l := (&nettracetest.Payload{}).Text(name).U32(uint32(len(data)))
	l.Bytes = append(l.Bytes, data...)
	return event(clr.RuntimeProvider, clr.IDGCDynamicEvent, 0, l.U16(9).Bytes)
}

func TestDynamicEvents(t *testing.T) {
	d := clr.NewDecoder(8)
	usage := (&nettracetest.Payload{}).U16(1).U64(1, 2, 3, 4, 5).Bytes
	if e, ok := decode(t, d, dynamic("CommittedUsage", usage)).(*clr.CommittedUsage); !ok || e.Total() != 15 || e.ClrInstance != 9 {
		t.Errorf("%+v", e)
	}
	// Data too short for its known layout, or without a known layout, keeps name and bytes.
	for name, data := range map[string][]byte{"CommittedUsage": usage[:20], "Mine": {1, 0, 42, 0}, "": nil} {
		e, ok := decode(t, d, dynamic(name, data)).(*clr.GCDynamicEvent)
		if !ok || e.Name.String() != name || !bytes.Equal(e.Data, data) {
			t.Errorf("%q: %+v", name, e)
		}
	}
}

func TestEnums(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"InducedAggressive": clr.Reason(17), "Reason(42)": clr.Reason(42), "BackgroundGC": clr.GCType(1), "Type(9)": clr.GCType(9),
		"ForGCPrep": clr.SuspendReason(6), "SuspendReason(77)": clr.SuspendReason(77), "Stack": clr.MarkType(0), "MarkType(10)": clr.MarkType(10),
		"PauseMode(4294967295)": clr.PauseMode(1<<32 - 1), "NoGC": clr.PauseMode(4), "PinnedObjectHeap": clr.SegmentType(3), "Pinned": clr.AllocationKind(2),
	} {
		if got.String() != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := clr.Mechanisms(0x80000016).Names(nil); strings.Join(got, " ") != "Compaction Promotion CardBundles Mechanism(31)" {
		t.Errorf("mechanisms %q", got)
	}
	if got := clr.Condemned(1<<15 | 1<<31).Names(nil); strings.Join(got, " ") != "EphemeralBeforeBackground Condemned(31)" {
		t.Errorf("conditions %q", got)
	}
	g := clr.CondemnedGenerations(0x28)
	if g.Initial() != 0 || g.Final() != 2 || g.BudgetExceeded() != 2 || g.TimeTuning() != 0 {
		t.Errorf("0x28 is %d %d %d %d", g.Initial(), g.Final(), g.BudgetExceeded(), g.TimeTuning())
	}
	for m, want := range map[clr.HeapMechanism]string{0: "", 0x80000002: "HighFragmentation", 0x80000820: "Aggressive", 1 << 31: "Compact", 0x80100000: "Compact(20)", 2: ""} {
		if got := m.CompactReason(); got != want {
			t.Errorf("mechanism %#x is %q, want %q", uint32(m), got, want)
		}
	}
}

// TestBulkTypes: values of different sizes, and the result for a corrupt list.
func TestBulkTypes(t *testing.T) {
	l := (&nettracetest.Payload{}).U32(2).U16(9)
	l.U64(1, 2).U32(3, 4).U8(5).Text("First").U32(2).U64(10, 20)
	l.U64(6, 7).U32(8, 9).U8(10).Text("Second").U32(0)
	d := clr.NewDecoder(8)
	read := func(b []byte) (got []string) {
		e := decode(t, d, event(clr.RuntimeProvider, clr.IDBulkType, 0, b)).(*clr.BulkType)
		for v := (clr.Type{}); e.Next(&v); {
			s := fmt.Sprintf("%d %s", v.ID, v.Name)
			for i := range v.NumParameters {
				s += fmt.Sprintf(" %d", v.Parameter(i))
			}
			got = append(got, s)
		}
		return got
	}
	if got := strings.Join(read(l.Bytes), "; "); got != "1 First 10 20; 6 Second" {
		t.Errorf("got %q", got)
	}
	for n := 6; n < len(l.Bytes); n++ {
		if got := read(l.Bytes[:n]); len(got) > 1 {
			t.Errorf("%q of a list that is cut", got)
		}
	}
	v := (&nettracetest.Payload{}).U32(1).U64(3).U16(9).U64(10, 20, 30).U32(1).Text("field")
	e := decode(t, d, event(clr.RuntimeProvider, clr.IDGCBulkRootStaticVar, 0, v.Bytes)).(*clr.GCBulkRootStaticVar)
	var s clr.StaticVar
	if !e.Next(&s) || s.Field.String() != "field" || s.Object != 20 || e.Next(&s) {
		t.Errorf("%+v %+v", e, s)
	}
}

// TestUTF16 would fail with a decoder that ends a string at any zero byte.
func TestUTF16(t *testing.T) {
	for _, s := range []string{"", "abc", "aĀb", "𝄞", strings.Repeat("x", 500)} {
		name := clr.UTF16(nettracetest.UTF16(s))
		if got := name[:len(name)-2].String(); got != s {
			t.Errorf("got %q, want %q", got, s)
		}
	}
	if got := clr.UTF16("\x00\xd8a\x00").String(); got != "\uFFFDa" {
		t.Errorf("half a surrogate gives %q", got)
	}
}

// all returns the events of a recording with copies of their payloads.
func all(t testing.TB, tr recordings.Trace) (list []parse.Event, pointerSize int) {
	r := parse.NewReader(bytes.NewReader(recordings.Read(t, tr.Path)), parse.All)
	for r.Scan() {
		if e := r.Event(); e != nil {
			x := *e
			x.Payload = bytes.Clone(e.Payload)
			list = append(list, x)
			pointerSize = r.Trace().PointerSize
		}
	}
	return list, pointerSize
}

// TestEveryTruncation: no truncated payload makes the decoder panic, or return values that are not
// in the payload.
func TestEveryTruncation(t *testing.T) {
	extent.Long(t)
	for _, tr := range recordings.Repository(t) {
		list, ptr := all(t, tr)
		seen := map[[2]any]int{}
		d := clr.NewDecoder(ptr)
		for i := range list {
			e := list[i]
			k := [2]any{e.Meta.Provider, e.Meta.EventID}
			if seen[k]++; seen[k] > 3 {
				continue
			}
			whole := e.Payload
			for n := range whole {
				e.Payload = whole[:n:n]
				for _, ptr := range []int{4, 8} {
					_, _ = clr.NewDecoder(ptr).Decode(&e)
				}
				_, _ = d.Decode(&e)
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, tr := range recordings.Repository(t) {
		if tr.Name != "net10-wks-verbose" {
			continue
		}
		list, ptr := all(t, tr)
		d := clr.NewDecoder(ptr)
		if n := testing.AllocsPerRun(2, func() {
			for i := range list {
				_, _ = d.Decode(&list[i])
			}
		}); n > 0 {
			t.Errorf("%.0f allocations for %d events", n, len(list))
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, tr := range recordings.Repository(b) {
		if tr.Name != "net10-wks-verbose" && tr.Name != "core31-svr-induced" {
			continue
		}
		list, ptr := all(b, tr)
		bytes := int64(0)
		for i := range list {
			bytes += int64(len(list[i].Payload))
		}
		b.Run(tr.Name, func(b *testing.B) {
			b.SetBytes(bytes)
			b.ReportAllocs()
			d := clr.NewDecoder(ptr)
			for b.Loop() {
				for i := range list {
					if _, err := d.Decode(&list[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(len(list))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkBulk reads the values of the events that a heap walk consists of.
func BenchmarkBulk(b *testing.B) {
	for _, c := range []struct {
		name     string
		id, size int
		sum      func(clr.Event) uint64
	}{
		{"nodes", clr.IDGCBulkNode, 32, func(e clr.Event) (sum uint64) {
			nodes := e.(*clr.GCBulkNode)
			for i := range nodes.Count {
				n := nodes.At(i)
				sum += n.Address + n.Size + n.TypeID + n.Edges
			}
			return sum
		}},
		{"edges", clr.IDGCBulkEdge, 12, func(e clr.Event) (sum uint64) {
			edges := e.(*clr.GCBulkEdge)
			for i := range edges.Count {
				sum += edges.At(i).Target
			}
			return sum
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const count = 2000
			head := (&nettracetest.Payload{PointerSize: 8}).U32(0, count).U16(0).Bytes
			e := event(clr.RuntimeProvider, c.id, 0, append(head, make([]byte, count*c.size)...))
			d := clr.NewDecoder(8)
			for b.Loop() {
				typed, err := d.Decode(e)
				if err != nil || c.sum(typed) != 0 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/count, "ns/value")
		})
	}
}

// FuzzPayload: for any payload of any event, version and pointer size, decoding ends and its
// results stay within the payload.
func FuzzPayload(f *testing.F) {
	providers := []string{clr.RuntimeProvider, clr.PrivateProvider, clr.RundownProvider}
	for _, tr := range recordings.Repository(f) {
		list, _ := all(f, tr)
		seen := map[int]bool{}
		for i := range list {
			e := &list[i]
			if !seen[e.Meta.EventID] && len(e.Payload) < 2000 {
				seen[e.Meta.EventID] = true
				f.Add(uint8(0), uint16(e.Meta.EventID), int8(e.Version), e.Payload)
			}
		}
	}
	types, _ := hex.DecodeString("0100000009000100000000000000")
	f.Add(uint8(0), uint16(clr.IDBulkType), int8(0), types)
	f.Fuzz(func(t *testing.T, provider uint8, id uint16, version int8, payload []byte) {
		for _, ptr := range []int{4, 8} {
			d := clr.NewDecoder(ptr)
			typed, err := d.Decode(event(providers[int(provider)%len(providers)], int(id), int(version), payload))
			if err != nil || typed == nil {
				continue
			}
			visit(typed, len(payload))
		}
	})
}

// visit reads everything that an event contains.
func visit(e clr.Event, size int) {
	switch e := e.(type) {
	case *clr.BulkType:
		for v := (clr.Type{}); e.Next(&v); {
			for i := range v.NumParameters {
				v.Parameter(i)
			}
		}
	case *clr.GCBulkRootStaticVar:
		for v := (clr.StaticVar{}); e.Next(&v); {
			_ = v.Field.String()
		}
	case *clr.GCBulkNode:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkEdge:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkRootEdge:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkConditionalEdge:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkSurvivingRanges:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkMovedRanges:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkRootCCW:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCBulkRCW:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCFitBucketInfo:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.GCLOHCompact:
		for i := range e.Count {
			e.At(i)
		}
	case *clr.PinObjectAtGCTime:
		_ = e.TypeName().String()
	case *clr.GCDynamicEvent:
		if len(e.Data) > size {
			panic("more data than payload")
		}
	}
}
