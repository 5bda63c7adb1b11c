package heap

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// inspection returns the rows that a detector reports for a Graph, as text, and the Detection.
func inspection(g *Graph, id Detector, least uint64) ([]string, Detection) {
	all := g.Dominators().Inspect(g.Paths(), least)
	i := slices.IndexFunc(all, func(d Detection) bool { return d.Detector == id })
	name := func(t int) string {
		if t == NoType {
			return "-"
		}
		return g.Types[t].String()
	}
	var rows []string
	for _, r := range all[i].Rows {
		text := fmt.Sprintf("%s %dx%d", name(r.Type), r.Objects, r.Bytes)
		if r.Name != "" {
			text = r.Name + ": " + text
		}
		for _, n := range []struct {
			what string
			n    uint64
		}{{"retained", r.Retained}, {"slots", r.Slots}, {"used", r.Used}, {"waste", r.Waste}, {"pinned", r.Pinned}, {"copies", r.Copies}} {
			if n.n > 0 {
				text += fmt.Sprintf(" %s %d", n.what, n.n)
			}
		}
		if r.Other != NoType {
			text += " other " + name(r.Other)
		}
		if r.Holder != "" {
			text += " by " + r.Holder
		}
		if r.Object != NoObject {
			text += fmt.Sprintf(" object %d", r.Object)
		}
		rows = append(rows, text)
	}
	return rows, all[i]
}

func compareRows(t *testing.T, s *sketch, id Detector, least uint64, want ...string) {
	t.Helper()
	if got, d := inspection(s.graph(), id, least); !slices.Equal(got, want) || d.Missing != "" {
		t.Errorf("%s:\n%s\nwant\n%s (%s)", id, strings.Join(got, "\n"), strings.Join(want, "\n"), d.Missing)
	}
}

// TestDetectors: each detector finds what it is for, and nothing where there is little of it.
func TestDetectors(t *testing.T) {
	stack := func(s *sketch, o Object) Object {
		s.root(Root{Object: o, Kind: RootStack})
		return o
	}
	t.Run("strings", func(t *testing.T) {
		s := newSketch()
		list := stack(s, s.object("System.String[]", 824))
		for _, n := range []int{0, 1, 15, 16, 63, 64, 16383, 16384, 50_000} {
			s.object("System.String", 22+2*n, list)
		}
		s.object("System.String", 100) // unreachable
		compareRows(t, s, DetectStrings, 1000,
			"16384 characters and more: System.String 2x132816",
			"1024 to 16383 characters: System.String 1x32792",
			"16 to 63 characters: System.String 2x208",
			"64 to 255 characters: System.String 1x152",
			"1 to 15 characters: System.String 2x80",
			"empty: System.String 1x24")
		compareRows(t, s, DetectLargeStrings, 1e9, "System.String 1x100024 retained 100024 slots 50000 by stack object 9")
		compareRows(t, s, DetectStrings, 1e9)
		g := s.graph()
		g.size[1], g.large[1] = largeSize, math.MaxUint64-7 // a false size
		if _, d := inspection(g, DetectStrings, 1); d.Total.Objects != 9 {
			t.Errorf("%+v", d.Total)
		}
		s.g.PointerSize = 4
		s.g.size[9] = 14 + 2*42_500 // 42500 characters in 32 bits
		compareRows(t, s, DetectLargeStrings, 1, "System.String 1x85016 retained 85016 slots 42500 by stack object 9")
	})
	t.Run("sparse arrays", func(t *testing.T) {
		s := newSketch()
		owner := stack(s, s.object("Shop.Grid", 24))
		for range 3 {
			s.objects(2, "Shop.Cell", 24, s.object("Shop.Cell[]", 24+8*100, owner))
		}
		s.objects(4, "Shop.Cell", 24, s.object("Shop.Cell[]", 24+8*8, owner))                               // half is set
		s.object("Shop.Cell[]", 24+8*7, owner)                                                              // short
		s.object("System.Int32[]", 8000, owner)                                                             // numbers
		s.objects(1, "Shop.Cell", 24, s.object("Shop.CellStruct[]", 8000, owner))                           // values
		stack(s, s.object("System.Object[]", 24+8*10))                                                      // without an owner
		s.object("Shop.Cell[]", 24+8*64, s.object("System.Collections.Generic.List<Shop.Cell>", 32, owner)) // of a collection
		compareRows(t, s, DetectSparseArrays, 1000,
			"Shop.Cell[] 3x2472 slots 300 used 6 waste 2352 other Shop.Grid",
			"System.Object[] 1x104 slots 10 waste 80")
		compareRows(t, s, DetectSparseArrays, 3000)
		compareRows(t, s, DetectOverallocated, 512, "Shop.Cell[] 1x536 slots 64 waste 512 other System.Collections.Generic.List<Shop.Cell>")
	})
	t.Run("dictionaries", func(t *testing.T) {
		s := newSketch()
		app := stack(s, s.object("Shop.App", 24))
		add := func(class string, kinds []uint8, capacity, references int) {
			d := s.object(class, 80, app)
			s.g.Types[s.g.Type(d)].Kinds = kinds
			s.object("System.Int32[]", 24+4*capacity, d)
			s.objects(references, "Shop.Value", 24, s.object(class+"+Entry[]", 24+24*capacity, d))
		}
		const d = "System.Collections.Generic.Dictionary"
		add(d+"<System.String, Shop.A>", []uint8{elementString, elementClass}, 1000, 20)
		add(d+"<System.String, System.Int32>", []uint8{elementString, 0x08}, 100, 10)
		add(d+"<System.Int32, System.Int32>", []uint8{0x08, 0x08}, 1000, 0)                    // nothing to count
		add(d+"<System.String, Shop.MyStruct>", []uint8{elementString, elementValue}, 1000, 9) // unknown
		add("System.Collections.Generic.HashSet<Shop.A>", []uint8{elementClass}, 64, 32)       // half is used
		compareRows(t, s, DetectOverallocated, 1000,
			d+"<System.String, Shop.A> 1x28128 slots 1000 used 10 waste 27720",
			d+"<System.String, System.Int32> 1x2928 slots 100 used 10 waste 2520")
	})
	t.Run("collections", func(t *testing.T) {
		s := newSketch()
		const concurrent = "System.Collections.Concurrent.ConcurrentDictionary<System.String, Shop.A>"
		cache := s.object(concurrent, 64)
		s.static("cache", cache)
		tables := s.object("Tables<System.String, Shop.A>", 48, cache)
		s.objects(9, "System.Object", 24, s.object("System.Object[]", 96, tables))
		for _, node := range s.objects(50, "Node<System.String, Shop.A>", 48, s.object("Node<System.String, Shop.A>[]", 824, tables)) {
			s.object("System.String", 32, node)
			s.object("Shop.A", 100, node)
		}
		s.object("System.Collections.Generic.List<Shop.A>", 32, cache) // small
		compareRows(t, s, DetectCollections, 1000, concurrent+" 50x64 retained 10480 other Shop.A by static cache object 0")
	})
	for _, list := range []string{"System.Object[]", "Wrapper[]", "System.Delegate+Wrapper[]"} {
		t.Run("events with an "+list, func(t *testing.T) { events(t, list) })
	}
	t.Run("closures", func(t *testing.T) {
		s := newSketch()
		list := stack(s, s.object("List", 24))
		s.objects(600, "Shop.Cart+<>c__DisplayClass3_0", 32, list)
		s.objects(400, "<Items>d__7", 48, list)
		s.objects(400, "Shop.Cart+<>c", 24, list)
		compareRows(t, s, DetectClosures, 1e9, "Shop.Cart+<>c__DisplayClass3_0 600x19200 retained 19200", "<Items>d__7 400x19200 retained 19200")
		s.object("Shop.Cart+<>c__DisplayClass3_0", 32)
		s.references[list] = s.references[list][1:]
		compareRows(t, s, DetectClosures, 1e9)
		compareRows(t, s, DetectClosures, 38_000, "<Items>d__7 400x19200 retained 19200", "Shop.Cart+<>c__DisplayClass3_0 599x19168 retained 19168")
	})
	t.Run("async", func(t *testing.T) {
		s := newSketch()
		sentinel := s.object("System.Object", 24)
		s.static("s_taskCompletionSentinel", sentinel)
		list := s.object("List", 24)
		s.static("running", list)
		for i, call := range s.objects(manyAsync+50, "AsyncStateMachineBox<System.Int32, Shop.Cart+<Load>d__5>", 100, list) {
			s.object("System.Byte[]", 1000, call)
			if i < 40 {
				s.references[call] = append(s.references[call], sentinel) // ended
			}
		}
		stack(s, s.object("AsyncStateMachineBox<System.Int64, Shop.Cart+<Load>d__5>", 100)) // the same method
		s.object("System.Byte[]", 48, Object(len(s.references)-1))
		compareRows(t, s, DetectAsync, 1e9, "AsyncStateMachineBox<System.Int32, Shop.Cart+<Load>d__5> 111x11544 retained 121592 by static running")
		s.references[list] = s.references[list][:60]
		compareRows(t, s, DetectAsync, 1e9)
	})
	t.Run("timers", func(t *testing.T) {
		s := newSketch()
		queue := stack(s, s.object("System.Threading.TimerQueue", 24))
		lambdas := s.object("Shop.Cart+<>c", 24)
		for i := range manyTimers {
			timer := s.object("System.Threading.TimerQueueTimer", 88, queue)
			s.references[timer] = append(s.references[timer], queue)
			callback := s.object("System.Threading.TimerCallback", 64, timer)
			switch {
			case i < 3:
				s.references[callback] = append(s.references[callback], lambdas)
				s.object("System.Threading.Tasks.Task+DelayPromise", 80, timer)
			case i < 4:
				s.references[callback] = append(s.references[callback], callback) // a static method
			default:
				s.object("Shop.Poller", 24, callback)
			}
		}
		s.g.Types[s.typ("System.Threading.TimerCallback")].Flags = typeDelegate
		compareRows(t, s, DetectTimers, 1e9,
			"System.Threading.TimerQueueTimer 6x528 other Shop.Poller",
			"System.Threading.TimerQueueTimer 3x264 other System.Threading.Tasks.Task+DelayPromise",
			"System.Threading.TimerQueueTimer 1x88")
		s.references[queue] = s.references[queue][1:]
		compareRows(t, s, DetectTimers, 1)
	})
	t.Run("weak tables", func(t *testing.T) {
		s := newSketch()
		for range 10 {
			key, value := stack(s, s.object("Shop.Key", 24)), s.object("Shop.Value", 32)
			s.object("System.Byte[]", 100, value)
			s.g.Dependents = append(s.g.Dependents, Dependent{key, value})
		}
		s.g.Dependents = append(s.g.Dependents, Dependent{s.object("Shop.Key", 24), s.object("Shop.Value", 32)}) // its key is gone
		compareRows(t, s, DetectWeakTables, 1000, "Shop.Key 10x320 retained 1360 other Shop.Value")
		compareRows(t, s, DetectWeakTables, 2000)
	})
	t.Run("finalizers", func(t *testing.T) {
		s := newSketch()
		var last Object
		for range 3 {
			last = s.object("Shop.File", 24)
			s.root(Root{Object: last, Kind: RootFinalizer})
		}
		s.root(Root{Object: last, Kind: RootFinalizer, ID: 7}) // again
		inner := s.object("Shop.File", 24, last)
		s.root(Root{Object: inner, Kind: RootFinalizer})
		s.object("System.Byte[]", 1000, last)
		stack(s, s.object("Shop.File", 24))
		compareRows(t, s, DetectFinalizers, 1e9, "Shop.File 4x96 retained 1096")
		s.g.Types[s.typ("Shop.File")].Flags = 2
		compareRows(t, s, DetectFinalizable, 1120, "Shop.File 5x120 retained 1120")
		compareRows(t, s, DetectFinalizable, 1121)
	})
	t.Run("pinned", func(t *testing.T) {
		s := newSketch()
		for i := range manyPinned - 1 {
			s.root(Root{Object: s.object("System.Byte[]", 1024), Kind: RootHandle, Flags: RootPinned, ID: uint64(i + 1)})
		}
		s.root(Root{Object: 0, Kind: RootHandle, Flags: RootPinned, ID: 100}) // twice
		s.root(Root{Object: 0, Kind: RootStack, Flags: RootPinned})
		s.root(Root{Object: s.object("System.Byte[]", 1024), Kind: RootHandle, Flags: RootPinned | RootWeak})
		stack(s, s.object("System.Byte[]", 1024))
		compareRows(t, s, DetectPinned, 1e9, "pinned handle: System.Byte[] 9x9216 retained 9216", "stack, pinned: System.Byte[] 1x1024 retained 1024")
		s.g.Roots = s.g.Roots[1:]
		compareRows(t, s, DetectPinned, 1e9, "pinned handle: System.Byte[] 9x9216 retained 9216", "stack, pinned: System.Byte[] 1x1024 retained 1024")
		s.g.Roots = s.g.Roots[1:]
		compareRows(t, s, DetectPinned, 1e9)
		compareRows(t, s, DetectPinned, 9000, "pinned handle: System.Byte[] 8x8192 retained 8192", "stack, pinned: System.Byte[] 1x1024 retained 1024")
	})
	t.Run("fragmentation", func(t *testing.T) {
		s := newSketch()
		s.objects(10, "Shop.A", 100, 0)
		s.root(Root{Object: 0, Kind: RootStack, Flags: RootPinned})
		s.root(Root{Object: 0, Kind: RootHandle, Flags: RootPinned, ID: 1})
		g := s.graph() // at 0x1000, 104 bytes each
		g.regions = []generationRange{{0x1000, 0x1000 + 4*104, Gen0}, {0x1000 + 4*104, 0x9000, Gen1}, {0x20000, 0x30000, LOH}}
		got, d := inspection(g, DetectFragmentation, 1000)
		want := []string{"loh: - 0x65536 waste 65536", fmt.Sprintf("gen1: - 6x%d waste %d", 0x8000-4*104, 0x8000-10*104)}
		if !slices.Equal(got, want) || d.Rows[0].Start != 0x20000 || d.Total.Bytes != 0x18000 || d.Total.Waste != 0x18000-10*104 || d.Total.Pinned != 1 {
			t.Errorf("%q, want %q: %+v", got, want, d)
		}
		g.regions = []generationRange{{0x1000, 0x2000, Gen0}}
		if got, _ := inspection(g, DetectFragmentation, 1000); !slices.Equal(got, []string{"gen0: - 10x4096 waste 3056 pinned 1 other Shop.A"}) {
			t.Errorf("%q", got)
		}
		if got, _ := inspection(g, DetectFragmentation, 4000); got != nil {
			t.Errorf("%q", got)
		}
		g.regions = nil
		if got, d := inspection(g, DetectFragmentation, 1); got != nil || d.Missing == "" {
			t.Errorf("without ranges: %q, %+v", got, d)
		}
	})
	t.Run("large objects", func(t *testing.T) {
		s := newSketch()
		s.static("a", s.object("Shop.A[]", 84_000))
		s.handle(s.object("Shop.A[]", 90_000))
		compareRows(t, s, DetectLargeObjects, 1, "by size: Shop.A[] 1x90000 retained 90000 by strong handle object 1")
		g := s.graph()
		g.regions = []generationRange{{0x1000, 0x1000 + 84_000, LOH}, {0x1000 + 84_000, 0x100000, Gen2}}
		if got, _ := inspection(g, DetectLargeObjects, 1); !slices.Equal(got, []string{"Shop.A[] 1x84000 retained 84000 by static a object 0"}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("boxed", func(t *testing.T) {
		s := newSketch()
		list := stack(s, s.object("System.Object[]", 8024))
		s.objects(100, "System.Int32", 24, list)
		for _, o := range s.objects(50, "Shop.MyStruct", 32, list) {
			s.object("Shop.A", 24, o)
		}
		s.static("Empty", s.object("Shop.MyStruct", 32))
		compareRows(t, s, DetectBoxed, 4000, "System.Int32 100x2400 retained 2400", "Shop.MyStruct 50x1600 retained 2800")
		compareRows(t, s, DetectBoxed, 4001)
	})
	t.Run("statics", func(t *testing.T) {
		s := newSketch()
		table := s.object("System.Object[]", 8184)
		s.root(Root{Object: table, Kind: RootHandle, Flags: RootPinned})
		s.static("Name", s.object("Named", 24, table))
		s.g.Statics[0].Slot = 0x1010
		for _, o := range s.objects(3, "Unnamed", 40, table) {
			s.object("System.Byte[]", 1000, o)
		}
		compareRows(t, s, DetectStatics, 3000, "Unnamed 3x120 retained 3120")
		compareRows(t, s, DetectStatics, 4000)
		compareRows(t, s, DetectPinned, 1) // not the table
	})
	t.Run("duplicates", func(t *testing.T) {
		s := newSketch()
		list := stack(s, s.object("List", 24))
		add := func(name string, module uint64, token uint32, path string) {
			s.objects(2, name+fmt.Sprint(module), 24, list)
			x := &s.g.Types[s.typ(name+fmt.Sprint(module))]
			x.Exact, x.Module, x.Definition = name, module, 0x02000000|token
			if path != "" {
				s.g.Modules = Modules{module: path}
			}
		}
		for module := range uint64(3) {
			add("Plugin.A", module+1, 5, "")
			add("Plugin.B", module+1, 6, "")
		}
		add("<>c", 1, 7, "")
		add("<>c", 2, 7, "")
		add("Single", 1, 8, "")
		add("Single", 9, 9, "") // another definition
		add("Attribute", 1, 10, "")
		add("Attribute", 8, 10, "") // by chance
		compareRows(t, s, DetectDuplicates, 1e9, "Plugin.A 6x144 retained 144 copies 3", "Plugin.B 6x144 retained 144 copies 3")
		s.g.Modules = Modules{1: "/app/a.dll", 8: "/app/a.dll"}
		compareRows(t, s, DetectDuplicates, 1e9,
			"Plugin.A 4x96 retained 96 copies 2", "Plugin.B 4x96 retained 96 copies 2", "Attribute 4x96 retained 96 copies 2")
	})
	t.Run("collectible", func(t *testing.T) {
		s := newSketch()
		list := s.object("List", 24)
		s.static("plugins", list)
		alive := s.object("System.Reflection.LoaderAllocator", 48)
		for _, o := range s.objects(3, "Plugin.A", 24, list) {
			s.references[o] = append(s.references[o], alive)
		}
		s.references[s.object("System.RuntimeType", 40, list)] = []Object{alive}
		s.handle(s.object("System.Reflection.LoaderAllocator", 48)) // nothing of it exists
		compareRows(t, s, DetectCollectible, 1e9,
			"System.Reflection.LoaderAllocator 3x72 retained 48 other Plugin.A by static plugins object 1",
			"System.Reflection.LoaderAllocator 0x0 retained 48 by strong handle object 6")
	})
	t.Run("COM", func(t *testing.T) {
		s := newSketch()
		s.g.Wrappers = []Wrapper{{Object: stack(s, s.object("Shop.Excel", 24)), References: 1}, {Object: stack(s, s.object("Shop.Sink", 32)), Callable: true}}
		s.g.Wrappers = append(s.g.Wrappers, s.g.Wrappers[1])
		compareRows(t, s, DetectCOM, 1e9, "COM callable wrapper: Shop.Sink 2x64 retained 64", "runtime callable wrapper: Shop.Excel 1x24 retained 24")
	})
}

// TestDetectionsOfNothing: what a snapshot lacks is said, and an empty one has nothing to report.
func TestDetectionsOfNothing(t *testing.T) {
	missing := func(g *Graph) (list []Detector) {
		for _, d := range g.Dominators().Inspect(g.Paths(), 0) {
			if d.Missing != "" {
				list = append(list, d.Detector)
			}
			if len(d.Rows) > 0 {
				t.Errorf("%+v", d)
			}
		}
		return list
	}
	named := []Detector{DetectStrings, DetectLargeStrings, DetectCollections, DetectClosures, DetectAsync, DetectTimers, DetectCollectible}
	detailed := []Detector{DetectSparseArrays, DetectOverallocated, DetectHandlers, DetectFinalizable, DetectBoxed, DetectDuplicates}
	g := newSketch().graph()
	if got := missing(g); len(got) != len(named)+len(detailed)+1 || !slices.Contains(got, DetectFragmentation) {
		t.Errorf("an empty heap lacks %v", got)
	}
	g.Types = []Type{{Name: "A"}}
	if got := missing(g); len(got) != len(detailed)+1 || slices.Contains(got, DetectStrings) || !slices.Contains(got, DetectBoxed) {
		t.Errorf("a file of another tool lacks %v", got)
	}
	g.Types[0].Element = elementClass
	if got := missing(g); !slices.Equal(got, []Detector{DetectFragmentation}) {
		t.Errorf("without ranges: %v", got)
	}
}

// events finds an event with many subscribers, and not one with few, by the type of their list.
func events(t *testing.T, array string) {
	s := newSketch()
	event := s.object("Shop.Handler", 64)
	s.static("Changed", event)
	list := s.object(array, 24+8*32, event)
	s.references[event] = append(s.references[event], event)
	for i := range manyHandlers {
		h := s.object("Shop.Handler", 64, list)
		switch {
		case i < 3: // static methods
			s.references[h] = append(s.references[h], h)
		case i < 8:
			s.object("Shop.Page", 24, h)
		default:
			s.object("Shop.Form", 24, h)
		}
	}
	s.g.Types[s.typ("Shop.Handler")].Flags = typeDelegate
	few := s.object("Shop.Handler", 64)
	s.root(Root{Object: few, Kind: RootStack})
	s.objects(manyHandlers-1, "Shop.Handler", 64, s.object(array, 24+8*32, few))
	compareRows(t, s, DetectHandlers, 1e9, "Shop.Handler 16x64 retained 1680 other Shop.Form by static Changed object 0")
}
