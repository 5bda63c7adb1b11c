package heap_test

import (
	"bytes"
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/elffile"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
)

// nativeModule is where the program of nativeWalk was loaded.
const nativeModule = 0x55550000

// nativeWalk returns a recording of the heap of a NativeAOT program with seven objects:
//
//	handle -> object[] -> the static fields of Shop.Cache -> a List<Order> -> Order[] -> two Orders
//	                   -> those of Shop.Program, which are null
//
// No root on the stack has come, as with .NET 10.
func nativeWalk() []byte {
	ids := []int{clr.IDGCStart, clr.IDGCEnd, clr.IDBulkType, clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCBulkRootEdge}
	w := &nettracetest.V4{}
	clock := nettracetest.DefaultClock()
	clock.PointerSize = 8
	w.Begin(clock)
	kinds := map[int]uint32{}
	for i, id := range ids {
		kinds[id] = uint32(i + 1)
		w.Metadata(nettracetest.Kind{ID: uint32(i + 1), Provider: clr.RuntimeProvider, EventID: uint32(id), Version: 2, Level: 4, Keywords: 1})
	}
	ticks := clock.Ticks
	add := func(id int, fill func(p *nettracetest.Payload)) {
		p := &nettracetest.Payload{PointerSize: 8}
		fill(p)
		ticks++
		w.Events(nettracetest.Row{Kind: kinds[id], Thread: 1, Ticks: ticks, Sorted: true, Payload: p.Bytes})
	}
	add(clr.IDGCStart, func(p *nettracetest.Payload) { p.U32(7, 2, 1, 0).U16(0).U64(0) })
	const object, order, orders, list, statics = 0x100, 0x200, 0x300, 0x400, 0x500
	add(clr.IDBulkType, func(p *nettracetest.Payload) {
		p.U32(5).U16(0)
		for _, t := range [][3]uint32{{object, 0x18, 0x600}, {order, 0x10}, {orders, 0x18, order}, {list, 0x10}, {statics, 0x10}} {
			p.U64(nativeModule+uint64(t[0]), nativeModule).U32(t[0], t[1]).U8(0).Text("")
			if t[2] == 0 {
				p.U32(0)
			} else {
				p.U32(1).U64(nativeModule + uint64(t[2]))
			}
		}
	})
	add(clr.IDGCBulkNode, func(p *nettracetest.Payload) {
		p.U32(0, 7).U16(0)
		for _, o := range [][4]uint64{
			{0x1000, 40, object, 2},
			{0x2000, 24, statics, 1},
			{0x3000, 24, statics, 0},
			{0x4000, 32, list, 1},
			{0x5000, 56, orders, 2},
			{0x6000, 32, order, 0},
			{0x7000, 32, order, 0},
		} {
			p.Pointer(o[0]).U64(o[1], nativeModule+o[2], o[3])
		}
	})
	add(clr.IDGCBulkEdge, func(p *nettracetest.Payload) {
		p.U32(0, 6).U16(0)
		for _, to := range []uint64{0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000} {
			p.Pointer(to).U32(0)
		}
	})
	add(clr.IDGCBulkRootEdge, func(p *nettracetest.Payload) { p.U32(0, 1).U16(0).Pointer(0x1000).U8(2).U32(0).Pointer(0x88) })
	add(clr.IDGCEnd, func(p *nettracetest.Payload) { p.U32(7, 2).U16(0) })
	w.End()
	return w.Bytes
}

// nativeSymbols are those of the program.
func nativeSymbols() []byte {
	p := elffile.Program{Class: elf.ELFCLASS64, BuildID: "shop", Symbols: []elffile.Symbol{{At: 0x720, Name: "__GCSTATICSShop_Program"}, {At: 0x700, Name: "__GCSTATICSShop_Shop_Cache"}}}
	for i, text := range []string{
		"__Array<Object>", "Shop_Shop_Order", "__Array<Shop_Shop_Order>", "S_P_CoreLib_System_Collections_Generic_List_1<Shop_Shop_Order>",
	} {
		p.Symbols = append(p.Symbols, elffile.Symbol{At: uint64(0x100 * (i + 1)), Name: elffile.Type(text)})
	}
	p.Symbols = append(p.Symbols, elffile.Symbol{At: 0x500, Name: "__GCStaticEEType_01"}, elffile.Symbol{At: 0x600, Name: elffile.Type("Object")})
	return p.Bytes()
}

// TestNativeWalk reads the heap of a NativeAOT program with and without its symbols. testdata has both, for
// the tests of commands.
func TestNativeWalk(t *testing.T) {
	generated.File(t, "testdata/native.nettrace", string(nativeWalk()))
	generated.File(t, "testdata/native.dbg", string(nativeSymbols()))
	g, err := heap.Read(bytes.NewReader(nativeWalk()))
	if err != nil || !g.Walk.Complete() {
		t.Fatalf("%+v, %v", g, err)
	}
	names := func() string {
		var list []string
		for i := range g.Types {
			list = append(list, g.Types[i].String())
		}
		return strings.Join(list, ", ")
	}
	if got, want := names(), "NativeAOT type 0x600[], NativeAOT type 0x500, NativeAOT type 0x400, NativeAOT type 0x200[], NativeAOT type 0x200"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	g.Resolve(t.Context(), withSymbols(t, "testdata/native.dbg"))
	if got, want := names(), "System.Object[], <static fields>, System.Collections.Generic.List<Shop.Order>, Shop.Order[], Shop.Order"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []string{
		"System.Object[] 0x1000 40/40 unknown [1 2] retains 88 by strong handle [0]",
		"<static fields> 0x2000 24/24 unknown [3] retains 24 by strong handle [0 1]",
		"<static fields> 0x3000 24/24 unknown [] retains 24 by strong handle [0 2]",
		"System.Collections.Generic.List<Shop.Order> 0x4000 32/32 unknown [4] retains 152 by static field of Shop.Cache [3]",
		"Shop.Order[] 0x5000 56/56 unknown [5 6] retains 120 by static field of Shop.Cache [3 4]",
		"Shop.Order 0x6000 32/32 unknown [] retains 32 by static field of Shop.Cache [3 4 5]",
		"Shop.Order 0x7000 32/32 unknown [] retains 32 by static field of Shop.Cache [3 4 6]",
	}
	if got := described(g); !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
