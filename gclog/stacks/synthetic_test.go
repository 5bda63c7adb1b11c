package stacks

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A stream is a recording that a test writes.
type stream struct {
	nettracetest.V4
	ticks int64
}

// Kinds of events in a stream.
const (
	kindTick = iota + 1
	kindSampled
	kindTriggered
	kindLoad
	kindUnload
	kindEntry
	kindRundown
	kindRundownEnd
	kindModule
	kindStart
)

func newStream(process uint32, pointerSize int) *stream {
	s := &stream{}
	c := nettracetest.DefaultClock()
	c.ProcessID, c.PointerSize = process, uint32(pointerSize)
	s.Begin(c)
	s.ticks = c.Ticks
	kind := func(id uint32, provider string, event, version uint32) nettracetest.Kind {
		return nettracetest.Kind{ID: id, Provider: provider, EventID: event, Version: version, Level: 5, Keywords: 1}
	}
	s.Metadata(
		kind(kindTick, clr.RuntimeProvider, clr.IDGCAllocationTick, 4), kind(kindSampled, clr.RuntimeProvider,
			clr.IDAllocationSampled, 0),
		kind(kindTriggered, clr.RuntimeProvider, clr.IDGCTriggered, 0), kind(kindLoad, clr.RuntimeProvider,
			clr.IDMethodLoad, 1),
		kind(kindUnload, clr.RuntimeProvider, clr.IDMethodUnload, 1), kind(kindEntry, clr.RuntimeProvider,
			clr.IDR2REntryPoint, 0),
		kind(kindRundown, clr.RundownProvider, clr.IDRundownMethodDCEnd, 1), kind(kindRundownEnd,
			clr.RundownProvider, clr.IDRundownEnd, 1),
		kind(kindModule, clr.RundownProvider, clr.IDRundownModuleDCEnd, 2), kind(kindStart, clr.RuntimeProvider,
			clr.IDGCStart, 2),
	)
	return s
}

func payload() *nettracetest.Payload { return &nettracetest.Payload{PointerSize: 8} }

// event writes an event, a µs after the one before. Its stack has these addresses.
func (s *stream) event(kind uint32, p *nettracetest.Payload, addresses ...uint64) {
	s.ticks += 1000
	row := nettracetest.Row{Kind: kind, Thread: 7, Ticks: s.ticks, Payload: p.Bytes}
	if len(addresses) > 0 {
		s.SequencePoint(s.ticks - 1)
		s.Block("StackBlock", nettracetest.Stacks(1, 8, addresses))
		row.Stack = 1
	}
	s.Events(row)
}

func (s *stream) tick(typ string, amount, size uint64, addresses ...uint64) {
	kind := uint32(0)
	if size > 85_000 {
		kind = 1
	}
	s.event(kindTick, payload().U32(uint32(amount), kind).U16(0).U64(amount, 1).Text(typ).U32(0).U64(0x1000, size),
		addresses...)
}

func (s *stream) sample(typ string, size uint64, addresses ...uint64) {
	s.event(kindSampled, payload().U32(0).U16(0).U64(1).Text(typ).U64(0x1000, size, 0), addresses...)
}

func (s *stream) method(kind uint32, name string, start uint64, size uint32) {
	s.event(kind, payload().U64(start, 1, start).U32(size, 1, 0).Text("N.C").Text(name).Text("void  ()").U16(0))
}

// profile returns the profile of the stream.
func (s *stream) profile(t *testing.T) *Profile {
	t.Helper()
	s.End()
	p, err := Read(bytes.NewReader(s.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// paths returns what was allocated by type and path, as text.
func paths(p *Profile) map[string]string {
	list := map[string]string{}
	for _, a := range p.Allocations {
		var names []string
		for _, f := range p.Path(a.Stack) {
			names = append(names, strings.TrimPrefix(p.Frames[f].String(), "N.C."))
		}
		list[p.Types[a.Type]+" "+strings.Join(names, ";")] = fmt.Sprintf("%.0f", a.Bytes)
	}
	return list
}

func equal(t *testing.T, p *Profile, want map[string]string) {
	t.Helper()
	if got := paths(p); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestTicks: ticks weigh the same, whatever amount each has; an object that is larger than the step weighs its
// size, and what it was met with belongs to the others.
func TestTicks(t *testing.T) {
	s := newStream(1, 8)
	s.tick("A", 100_000, 100)
	s.tick("A", 110_000, 100)
	s.tick("B", 150_000, 60_000)
	s.tick("L", 160_000, 90_000)
	s.tick("L", 250_000, 200_000)
	p := s.profile(t)
	equal(t, p, map[string]string{"A ": "240000", "B ": "120000", "L ": "410000"})
	if p.Total.Events != 5 || p.Total.Bytes != 770_000 || p.Source != Ticks {
		t.Errorf("%+v", p.Total)
	}
	for _, a := range p.Allocations {
		objects := map[string]float64{"A": 2400, "B": 2, "L": 210_000/90_000. + 1}[p.Types[a.Type]]
		if math.Abs(a.Objects-objects) > 1e-9 || a.Enough() {
			t.Errorf("%s: %+v", p.Types[a.Type], a)
		}
	}
}

// TestSamples: a sample of a small object stands for 100 KB and half of the object, and one of a large
// object for the object, in bytes; ticks beside them do not count.
func TestSamples(t *testing.T) {
	s := newStream(1, 8)
	s.sample("A", 24)
	s.sample("L", 10_000_000)
	s.tick("A", 110_000, 24)
	p := s.profile(t)
	equal(t, p, map[string]string{"A ": "102412", "L ": "10000000"})
	if l := p.Allocations[0]; p.Source != Samples || math.Abs(l.Objects-1) > 1e-9 || p.Margin(l.Estimate) > 1e-9 {
		t.Errorf("%+v", l)
	}
	if a := p.Allocations[1]; math.Abs(p.Margin(a.Estimate)-2*102_412) > 100 || math.Abs(a.Objects-102_412/24.) > 1 {
		t.Errorf("%+v, %v", a, p.Margin(a.Estimate))
	}
}

// TestNamesInTime: an address has the name of the method that was there at the time. Code that has been
// freed has no name; code whose start was not recorded has that of the rundown.
func TestNamesInTime(t *testing.T) {
	const at = 0x7f00_0000_1000
	s := newStream(1, 8)
	s.tick("A", 100_000, 1, at+8, 0x10)
	s.method(kindUnload, "First", at, 16)
	s.tick("B", 100_000, 1, at+8, 0x10)
	s.method(kindLoad, "Second", at, 16)
	s.tick("C", 100_000, 1, at+8, 0x10)
	s.method(kindUnload, "Second", at, 16)
	s.tick("D", 100_000, 1, at+8, 0x10)
	s.method(kindLoad, "Third", at, 16)
	s.tick("E", 100_000, 1, at+8, 0x10)
	s.tick("F", 100_000, 1, at+16, 0x10)
	s.method(kindRundown, "Outer", 0x10, 1)
	s.event(kindRundownEnd, payload().U16(0))
	p := s.profile(t)
	equal(t, p, map[string]string{
		"A Outer;First": "100000", "B Outer;Second": "100000", "C Outer;Second": "100000", "D Outer;Third": "100000",
		"E Outer;Third": "100000", "F Outer;[native]": "100000",
	})
	if n := p.Names; n.Frames != 12 || n.Unnamed != 1 || !n.Complete {
		t.Errorf("%+v", n)
	}
}

// TestEntries: a precompiled method reaches up to the next one, but not far.
func TestEntries(t *testing.T) {
	s := newStream(1, 8)
	entry := func(name string, at uint64) {
		s.event(kindEntry, payload().U64(at).Text("N.C").Text(name).Text("void  ()").U64(at).U16(0))
	}
	entry("First", 0x10_0000)
	entry("Second", 0x10_0100)
	s.method(kindLoad, "Third", 0x10_0200, 0x10)
	s.tick("A", 100_000, 1, 0x10_00ff)
	s.tick("B", 100_000, 1, 0x10_0100)
	s.tick("C", 100_000, 1, 0x10_0205)
	s.tick("D", 100_000, 1, 0x10_0210)
	s.tick("E", 100_000, 1, 0x0f_ffff)
	entry("Fourth", 0x20_0000)
	s.tick("F", 100_000, 1, 0x20_ffff)
	s.tick("G", 100_000, 1, 0x21_0000)
	equal(t, s.profile(t), map[string]string{
		"A First": "100000", "B Second": "100000", "C Third": "100000", "D [native]": "100000",
		"E [native]": "100000", "F Fourth": "100000", "G [native]": "100000",
	})
}

// TestTruncated: a stack as deep as the runtime writes them lacks its outer frames.
func TestTruncated(t *testing.T) {
	for _, n := range []int{99, 100} {
		s := newStream(1, 8)
		s.tick("A", 100_000, 1, make([]uint64, n)...)
		if got := s.profile(t).Stacks[0]; got.Truncated != (n == 100) || len(got.Frames) != n {
			t.Errorf("%d frames: %v", n, got.Truncated)
		}
	}
}

// TestManyStacks: of too many stacks the latest are counted together; before that, deep ones lose their
// outer frames. Too many types and rows are counted together as well. Nothing is lost of the total.
func TestManyStacks(t *testing.T) {
	x := newInterner(8)
	deep := make([]byte, 8*1000)
	number := func(i int, b []byte) uint32 {
		b[0], b[1], b[2] = byte(i), byte(i>>8), byte(i>>16)
		return x.number(b, 0)
	}
	const full = fullAddresses/8000 + 1
	for i := range full {
		number(i, deep)
	}
	if got := x.list[full-1]; got.cut || len(got.addresses) != 8000 {
		t.Errorf("the last full stack: %v, %d bytes", got.cut, len(got.addresses))
	}
	if n := number(full, deep); !x.list[n-ownStacks].cut || len(x.list[n-ownStacks].addresses) != 256 ||
		number(full, deep) != n {
		t.Errorf("stack %d is not cut, or not found again", n)
	}
	if n := number(full-1, deep); n != full-1+ownStacks {
		t.Errorf("a full stack is not found again: %d", n)
	}
	for i := full + 1; i < maxStacks; i++ {
		number(i, deep)
	}
	if len(x.list) != maxStacks || number(maxStacks, deep) != otherStack || number(5, deep) != 5+ownStacks ||
		x.size > maxAddresses {
		t.Errorf("%d stacks of %d bytes", len(x.list), x.size)
	}

	b := NewBuilder()
	b.typeOf(clr.EncodeUTF16("A"))
	for i := range maxRows + 10 {
		b.row(uint32(i), 0, 0).equal++
	}
	for i := range maxTypes + 10 {
		b.typeOf(clr.EncodeUTF16(fmt.Sprint(i)))
	}
	for i := range uint64(maxThreads + 10) {
		b.thread(i+1, 0).equal++
	}
	if len(b.rows) != maxRows+1 || len(b.typeNames) != maxTypes || b.threads[threadKey{}].equal != 10 {
		t.Errorf("%d rows, %d types, %d threads", len(b.rows), len(b.typeNames), len(b.threads))
	}
}

// TestExcess: names that are too long are cut, and so are stacks that are too deep; code without a size, or
// beyond the end of memory, is nobody's.
func TestExcess(t *testing.T) {
	deep := make([]uint64, 10_000)
	for i := range deep {
		deep[i] = 0x10
	}
	s := newStream(1, 8)
	s.tick(strings.Repeat("T", 20_000), 100_000, 1, deep...)
	s.tick("A", 100_000, 1, 0x20)
	s.tick("B", 100_000, 1, math.MaxUint64-1)
	s.method(kindRundown, strings.Repeat("M", 20_000), 0x10, 1)
	s.method(kindRundown, "Empty", 0x20, 0)
	s.method(kindRundown, "Beyond", math.MaxUint64-2, 100)
	p := s.profile(t)
	for _, a := range p.Allocations {
		stack := &p.Stacks[a.Stack]
		f := &p.Frames[stack.Frames[0]]
		if typ := p.Types[a.Type]; typ != "A" && typ != "B" {
			if len(typ) != maxTypeName || len(stack.Frames) != 1024 || !stack.Truncated || len(f.Name) != maxName+len("…") {
				t.Errorf("type of %d bytes, %d frames of %d", len(typ), len(stack.Frames), len(f.Name))
			}
		} else if !f.native() {
			t.Errorf("%s: %+v", typ, f)
		}
	}
}

// TestProcesses: the recordings of another process are refused.
func TestProcesses(t *testing.T) {
	b := NewBuilder()
	for process, want := range []error{nil, ErrOtherProcess} {
		s := newStream(uint32(process+1), 8)
		s.tick("A", 100_000, 1)
		s.End()
		if err := b.Read(bytes.NewReader(s.Bytes)); !errors.Is(err, want) {
			t.Error(err)
		}
	}
	if p := b.Profile(); p.Total.Events != 1 {
		t.Errorf("%+v", p.Total)
	}
}

// TestRequests: a request that no collection is known for is counted, and has no pause.
func TestRequests(t *testing.T) {
	s := newStream(1, 8)
	s.event(kindTriggered, payload().U32(1).U16(0), 0x10)
	s.event(kindTriggered, payload().U32(10).U16(0))
	s.method(kindRundown, "Main", 0x10, 1)
	p := s.profile(t)
	if len(p.Calls) != 2 || p.Requests != 2 {
		t.Fatalf("%+v", p.Calls)
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		path, method := p.Caller(c)
		if c.Count != 1 || c.Timed != 0 || c.Generation != -1 || method != "GC.Collect or similar" ||
			len(path) != 1-i || p.Stacks[c.Stack].Other {
			t.Errorf("%+v: %v %s", c, path, method)
		}
	}
}

// TestNoAllocation: an event whose stack and type are known allocates nothing.
func TestNoAllocation(t *testing.T) {
	b := NewBuilder()
	b.stacks = newInterner(8)
	s := &session{Builder: b}
	e := &parse.Event{
		Version: 4, Stack: make([]byte, 80),
		Meta: &parse.Metadata{Provider: clr.RuntimeProvider, EventID: clr.IDGCAllocationTick},
	}
	c := &clr.GCAllocationTick{Amount: 102_400, ObjectSize: 24, TypeName: clr.EncodeUTF16("System.String")}
	s.tick(e, c, 0)
	if n := testing.AllocsPerRun(100, func() { s.tick(e, c, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzRead: of any stream there is a profile whose parts are consistent.
func FuzzRead(f *testing.F) {
	s := newStream(1, 8)
	s.tick("A", 100_000, 1, 0x10, 0x20)
	s.sample("B", 100, 0x10)
	s.method(kindLoad, "M", 0x10, 16)
	s.method(kindUnload, "M", 0x10, 16)
	s.event(kindTriggered, payload().U32(1).U16(0), 0x10)
	s.event(kindStart, payload().U32(1, 0, 1, 0).U16(0).U64(0))
	s.method(kindRundown, "<M>b__1_0", 0x20, 16)
	s.event(kindRundownEnd, payload().U16(0))
	s.End()
	f.Add(s.Bytes)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, _ := Read(bytes.NewReader(b))
		total := Estimate{}
		for _, a := range p.Allocations {
			total.Add(a.Estimate)
			p.AllocatedIn(a.Stack)
			_ = ReadableType(p.Types[a.Type])
			if share, margin := p.Share(a.Estimate); !(share >= 0 && share <= 1.0001) || !(margin >= 0) {
				t.Fatalf("%v ± %v of %+v", share, margin, p.Total)
			}
		}
		if total.Events != p.Total.Events || math.Abs(total.Bytes-p.Total.Bytes) > 1e-6*p.Total.Bytes {
			t.Fatalf("%+v, not %+v", total, p.Total)
		}
		for i := range p.Calls {
			p.Caller(&p.Calls[i])
		}
		for i := range p.Frames {
			_, _ = p.Frames[i].Raw(), p.Frames[i].String()
		}
	})
}

// FuzzReadable: any name has a readable one, and it is found quickly.
func FuzzReadable(f *testing.F) {
	f.Add("Feat.Prog+<>c__DisplayClass8_0`1+<<AsyncG>b__0>d[System.__Canon]", "MoveNext")
	f.Add("A`1+B`2[System.Int32,C[],D`1[E*]]", "<M>g__L|1_0")
	f.Fuzz(func(t *testing.T, namespace, name string) {
		if Readable(namespace, name) == "" && namespace+name != "" {
			t.Errorf("%q %q has no name", namespace, name)
		}
		_ = ReadableType(namespace)
	})
}

// BenchmarkRead reads a recording of ticks with a few hundred stacks.
func BenchmarkRead(b *testing.B) {
	s := newStream(1, 8)
	var stacks [][]uint64
	for i := range uint64(300) {
		stack := make([]uint64, 20)
		for j := range stack {
			stack[j] = 0x1000*i + uint64(j)*16
		}
		stacks = append(stacks, stack)
	}
	p := payload().U32(102_400, 0).U16(0).U64(102_400,
		1).Text("System.Collections.Generic.List`1[System.String]").U32(0).U64(0x1000, 24)
	s.Block("StackBlock", nettracetest.Stacks(1, 8, stacks...))
	const events = 200_000
	for range events / 500 {
		var rows []nettracetest.Row
		for i := range 500 {
			s.ticks += 1000
			rows = append(rows, nettracetest.Row{
				Kind: kindTick, Thread: 7, Ticks: s.ticks, Payload: p.Bytes,
				Stack: uint32(1 + i%300), Sorted: true,
			})
		}
		s.Events(rows...)
	}
	s.End()
	b.SetBytes(int64(len(s.Bytes)))
	b.ReportAllocs()
	for b.Loop() {
		if p, err := Read(bytes.NewReader(s.Bytes)); err != nil || p.Total.Events != events {
			b.Fatal(err)
		}
	}
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// TestLimitsOfText: what names take is limited, whoever has them: modules that are reported again and again, types,
// and stacks of which each has long names.
func TestLimitsOfText(t *testing.T) {
	b := NewBuilder()
	b.pointerSize, b.stacks = 8, newInterner(8)
	long := strings.Repeat("n", 1000)
	for i := range maxNames/1000 + 100 {
		b.methods.module(&clr.Module{ID: 1, ILPath: clr.EncodeUTF16(fmt.Sprint(i, long))})
	}
	if b.methods.size > maxNames+2*maxName {
		t.Errorf("%d bytes of names of one module", b.methods.size)
	}
	wide := strings.Repeat("中", 1000)
	for i := range maxTypeText/3000 + 100 {
		b.typeOf(clr.EncodeUTF16(fmt.Sprint(i, wide)))
	}
	if b.typeText > maxTypeText+3*maxTypeName || b.typeNames[len(b.typeNames)-1] != otherTypes {
		t.Errorf("%d bytes of names of types", b.typeText)
	}

	b = NewBuilder()
	b.pointerSize, b.stacks = 8, newInterner(8)
	b.methods.add(&clr.Method{ID: 1, StartAddress: 1, Size: 1, Name: clr.EncodeUTF16(wide)}, 0, math.MaxInt64)
	const depth, fit = 1000, maxText / (1000 * (3000 + frameText))
	stack := bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, depth)
	k := b.stratumOf(stratumKey{})
	for i := range fit + 10 {
		stack[0], stack[1] = byte(i+2), byte((i+2)>>8)
		n := b.stacks.number(append(bytes.Clone(stack), bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, i)...), 0)
		b.row(n, b.typeOf(clr.EncodeUTF16("A")), k).own++
	}
	b.p.ticksSeen = 1
	p := b.Profile()
	text, others := 0, 0
	for _, s := range p.Stacks {
		for _, f := range s.Frames {
			text += len(p.Frames[f].Name)
		}
		if s.Other {
			others++
		}
	}
	if text > maxText || others != 1 || len(p.Stacks) < fit/2 || p.Total.Events != fit+10 {
		t.Errorf("%d bytes of names in %d stacks, %d of them for others; %d events", text, len(p.Stacks), others, p.Total.Events)
	}
}

// TestLongDurations: sums of durations that a damaged clock makes too long are the longest, not negative.
func TestLongDurations(t *testing.T) {
	if sum(math.MaxInt64-1, 2) != math.MaxInt64 || sum(1, 2) != 3 || sum(2, -1) != 1 {
		t.Error(sum(math.MaxInt64-1, 2), sum(1, 2), sum(2, -1))
	}
}
