package heap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// goldenTiny returns the contents of a file that PerfView's code wrote, as they are listed in the
// description of the format: two pseudo nodes, three objects, and one that is not described.
func goldenTiny() (*dumpLayout, *DumpInfo) {
	g := &Graph{
		PointerSize: 8,
		address:     []uint64{0x7f0000001000, 0x7f0000002000, 0x7f0000003000, 0x7f0000004000},
		size:        []uint32{24, 32, 2_000_000_000, 0},
		typ:         []uint32{0, 0, 1, 2},
		first:       []uint32{0, 2, 3, 303, 303},
		target:      slices.Concat([]Object{1, 2, 0}, slices.Repeat([]Object{0}, 300)),
	}
	return &dumpLayout{
		g: g, typ: []uint32{1, 2, 0},
		types: []nodeType{
			{name: "UNDEFINED"},
			{name: "My.Type", size: -1, module: "/path/x.dll"},
			{name: "Longé中Name", size: -1},
			{name: "[.NET Roots]"},
			{name: "[static vars]"},
		},
		pseudo: []pseudoNode{{typ: 3, children: []uint32{1}}, {typ: 4, objects: []Object{0}}},
	}, &DumpInfo{Tool: "dotnet-gcdump"}
}

// TestGolden: the same contents make the same bytes as PerfView's code.
func TestGolden(t *testing.T) {
	want := recordings.Read(t, "testdata/golden-tiny.gcdump")
	l, info := goldenTiny()
	var b bytes.Buffer
	if err := l.write(&b, info, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("% x\nwant\n% x", b.Bytes(), want)
	}
}

// A summary is what another reader found in a file.
type summary struct {
	nodes, types, references int
	total                    int64
	root                     uint32
	hash                     uint64
}

// summarize reads the graph of a file as it is written. The hash is over the nodes by index.
func summarize(t *testing.T, b []byte) (s summary, d *dumpFile) {
	t.Helper()
	r := newDumpReader(bytes.NewReader(b))
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	d = r.dump()
	r.end()
	if r.err != nil {
		t.Fatal(r.err)
	}
	n := &d.nodes
	record := slices.Repeat([]int{-1}, len(n.address))
	n.order(func(i int, node uint32) bool {
		record[node] = i
		return true
	})
	s = summary{nodes: len(n.address), types: len(n.types), references: len(n.target), total: n.total, root: n.root, hash: 14695981039346656037}
	add := func(v uint64) { s.hash = (s.hash ^ v) * 1099511628211 }
	for node, i := range record {
		if i < 0 {
			add(0)
			add(0)
			add(n.address[node])
			continue
		}
		add(uint64(n.size[i]))
		add(uint64(n.typ[i]))
		add(n.address[node])
		for _, child := range n.target[n.first[i]:n.first[i+1]] {
			add(uint64(child))
		}
	}
	return s, d
}

// TestContents compares the nodes of files with what PerfView's reader finds in them.
func TestContents(t *testing.T) {
	for _, test := range []struct {
		name string
		want summary
	}{
		{"golden-tiny.gcdump", summary{6, 5, 305, 2_000_000_056, 0, 0x7cfd4d4c646532fa}},
		{"small.gcdump", summary{7097, 176, 9130, 728_682, 0, 0xe80b3e9d7aeb384a}},
		{"app9-ranges.gcdump.gz", summary{55190, 3226, 114_582, 4_592_650, 0, 0x7aa0247fec700d3b}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join("testdata", test.name)
			if strings.HasPrefix(test.name, "app9") {
				path = filepath.Join(recordings.Dir(t), "heap-traces", test.name)
			}
			got, d := summarize(t, recordings.Read(t, path))
			if got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if segments := len(d.regions); strings.HasPrefix(test.name, "app9") && segments != 5 { // and an empty one
				t.Errorf("%d segments", segments)
			}
		})
	}
}

func TestReadGolden(t *testing.T) {
	g, info := readDump(t, recordings.Read(t, "testdata/golden-tiny.gcdump"))
	if g.Len() != 3 || g.NumReferences() != 303 || info.Undefined != 1 || info.Tool != "dotnet-gcdump" {
		t.Errorf("%d objects, %d references, %+v", g.Len(), g.NumReferences(), info)
	}
	names := []string{"My.Type", "My.Type", "Longé中Name"}
	for o := range Object(3) {
		if got := g.Types[g.Type(o)].Name; got != names[o] {
			t.Errorf("object %d is a %s, not a %s", o, got, names[o])
		}
	}
	if g.Size(0) != 24 || g.Size(1) != 32 || g.Size(2) != 2_000_000_000 || len(g.References(2)) != 300 {
		t.Errorf("sizes %v", g.size)
	}
	if want := []Root{{Object: 0, Kind: RootOther}}; !reflect.DeepEqual(g.Roots, want) {
		t.Errorf("roots %v, want %v", g.Roots, want)
	}
	if path := info.Modules[g.Types[0].Module]; path != "/path/x.dll" {
		t.Errorf("module %q", path)
	}
}

func readDump(t *testing.T, b []byte) (*Graph, *DumpInfo) {
	t.Helper()
	g, info, err := ReadDump(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return g, info
}

func writeDump(t *testing.T, g *Graph, info *DumpInfo) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := g.WriteDump(&b, info); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// graphOf reads a recording. Some lack their last bytes.
func graphOf(t *testing.T, path string) *Graph {
	t.Helper()
	g, err := Read(bytes.NewReader(recordings.Read(t, path)))
	if damage := (*parse.FormatError)(nil); err != nil && !errors.As(err, &damage) {
		t.Fatal(err)
	}
	return g
}

// An item is an object, independently of its place in a Graph.
type item struct {
	size       uint64
	typ        string
	references string // addresses
}

func items(g *Graph) map[uint64]item {
	all := map[uint64]item{}
	for o := range Object(g.Len()) {
		var references []string
		for _, target := range g.References(o) {
			references = append(references, fmt.Sprintf("%x", g.Address(target)))
		}
		all[g.Address(o)] = item{g.Size(o), g.Types[g.Type(o)].Name, strings.Join(references, " ")}
	}
	return all
}

// TestPrototype: small.gcdump, whose layout is another, has the objects, sizes, types, references and
// roots of the recording that it was made of, and so has what WriteDump writes of the recording,
// with and without the private part.
func TestPrototype(t *testing.T) {
	g := graphOf(t, "testdata/small.nettrace.gz")
	want := items(g)
	rooted := func(g *Graph) map[uint64]bool {
		all := map[uint64]bool{}
		for _, r := range g.Roots {
			if r.Strong() {
				all[g.Address(r.Object)] = true
			}
		}
		return all
	}
	prototype, info := readDump(t, recordings.Read(t, "testdata/small.gcdump"))
	if !maps.Equal(items(prototype), want) || len(want) != 7095 {
		t.Error("small.gcdump has other objects than the recording")
	}
	if !maps.Equal(rooted(prototype), rooted(g)) {
		t.Error("small.gcdump has other roots than the recording")
	}
	if info.Tool != "mytool" || info.Log != "log text" || info.Machine != "host" || info.Process != "proc" || info.ProcessID != 42 ||
		info.Commit != 111 || info.WorkingSet != 222 || info.Time.Year() != 2026 {
		t.Errorf("%+v", info)
	}
	if got, _ := readDump(t, writeDump(t, g, &DumpInfo{})); !maps.Equal(items(got), want) {
		t.Error("what was written has other objects than the recording")
	}
	var b bytes.Buffer
	if err := newDumpLayout(g, nil).write(&b, &DumpInfo{}, nil); err != nil {
		t.Fatal(err)
	}
	plain, _ := readDump(t, b.Bytes())
	if !maps.Equal(items(plain), want) || !slices.Equal(plain.address, g.address) {
		t.Error("what was written without a private part has other objects than the recording")
	}
	for _, d := range g.Dependents {
		want := rooted(g)
		want[g.Address(d.Value)] = true
		if !maps.Equal(rooted(plain), want) {
			t.Errorf("%d roots without a private part, want %d", len(rooted(plain)), len(want))
		}
	}
	if len(plain.Statics) != len(g.Statics) {
		t.Errorf("%d static fields without a private part, want %d", len(plain.Statics), len(g.Statics))
	}
	for _, s := range plain.Statics {
		if !slices.ContainsFunc(g.Statics, func(w Static) bool { return w.Object == s.Object && w.Field == s.Field }) {
			t.Errorf("static field %+v", s)
		}
	}
}

// equal reports how two Graphs differ, or "". Lists without elements may be nil.
func equal(a, b *Graph) string {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		name, p, q := x.Type().Field(i).Name, fmt.Sprintf("%v", x.Field(i)), fmt.Sprintf("%v", y.Field(i))
		if p != q {
			at := 0
			for at < min(len(p), len(q)) && p[at] == q[at] {
				at++
			}
			at = max(0, at-50)
			return fmt.Sprintf("%s: ...%.200s, ...%.200s", name, p[at:], q[at:])
		}
	}
	return ""
}

// TestRoundTrip: what is read is what was written, in all details, and the same Graph makes the same
// bytes.
func TestRoundTrip(t *testing.T) {
	info := &DumpInfo{
		Log: "Pause 12 ms\n", Time: time.Date(2026, 8, 3, 1, 2, 3, 456_789_000, time.UTC), Machine: "host", Process: "Sch\u00f6n\U0001f600",
		ProcessID: 4711, Commit: 1 << 40, WorkingSet: 1 << 33, CountMultiplier: 1, SizeMultiplier: 1,
	}
	check := func(t *testing.T, path string) {
		g := graphOf(t, path)
		written := *info
		written.Modules = map[uint64]string{g.Types[0].Module: "/app/System.Private.CoreLib.dll"}
		g.Modules = written.Modules
		g.Resolve(t.Context(), &Assemblies{})
		if g.Types[1].Name != "" {
			g.Types[1].Exact = "Outer<A>+" + g.Types[1].Exact // as with assemblies
		}
		g.Statics[0].Declaring = "Outer<A>+Holder"
		g.Process, g.Time = Process{written.ProcessID, written.Process}, written.Time
		other := written // the process and the time are those of the Graph
		other.Process, other.ProcessID, other.Time = "", 0, time.Time{}
		g.Wrappers = []Wrapper{{Object: 1, Callable: true, References: 3}, {Object: 2, References: 1}}
		b := writeDump(t, g, &other)
		if !bytes.Equal(b, writeDump(t, g, &written)) {
			t.Error("the second file differs from the first")
		}
		for _, r := range []io.Reader{bytes.NewReader(b), unsized(b)} {
			got, gotInfo, err := ReadDump(r)
			if err != nil {
				t.Fatal(err)
			}
			if d := equal(got, g); d != "" {
				t.Error(d)
			}
			want := written
			want.Tool = "gclog"
			if !reflect.DeepEqual(gotInfo, &want) {
				t.Errorf("%+v, want %+v", gotInfo, &want)
			}
		}
		_, d := summarize(t, b)
		for i := range g.Types { // PerfView shows these
			if name := d.nodes.types[i+1].name; name != g.Types[i].Exact && g.Types[i].Name != "" {
				t.Fatalf("type %d is called %s, not %s", i, name, g.Types[i].Exact)
			}
		}
		if i := slices.IndexFunc(g.Statics, func(s Static) bool { return s.Declaring != "" }); i >= 0 {
			want := "[static var " + g.Statics[i].Declaring + "." + g.Statics[i].Field + "]"
			if !slices.ContainsFunc(d.nodes.types, func(x nodeType) bool { return x.name == want }) {
				t.Errorf("no node %s", want)
			}
		}
		for o, address := range g.address {
			if g.regions == nil {
				continue
			}
			at := (&layout{ranges: d.regions}).before(address)
			if want := (&layout{ranges: g.regions}).before(address); at != want {
				t.Fatalf("object %d is in a segment of %v, not %v", o, at, want)
			}
		}
		if len(d.regions) > len(g.regions) {
			t.Errorf("%d segments of %d regions", len(d.regions), len(g.regions))
		}
	}
	t.Run("small", func(t *testing.T) { check(t, "testdata/small.nettrace.gz") })
	for _, tr := range recordings.Traces(t, "heap-traces") {
		t.Run(tr.Name, func(t *testing.T) { check(t, tr.Path) })
	}
}

// TestDotnetGCDump: the files that dotnet-gcdump wrote of the programs of recordings have as many
// objects, bytes and references of each name, and the same number of roots of each kind.
func TestDotnetGCDump(t *testing.T) {
	extent.Long(t)
	type count struct{ objects, bytes, references uint64 }
	byName := func(g *Graph, name func(string) string) map[string]count {
		all := map[string]count{}
		for o := range Object(g.Len()) {
			n := name(g.Types[g.Type(o)].Name)
			c := all[n]
			all[n] = count{c.objects + 1, c.bytes + g.Size(o), c.references + uint64(len(g.References(o)))}
		}
		return all
	}
	files, err := filepath.Glob(filepath.Join(recordings.Dir(t), "heap-traces", "*-graph.gcdump.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			g, info := readDump(t, recordings.Read(t, path))
			recorded := graphOf(t, strings.Replace(path, ".gcdump", ".nettrace", 1))
			got, want := byName(g, func(n string) string { return n }), byName(recorded, lessArity)
			for n := range maps.Keys(want) {
				if got[n] != want[n] {
					t.Errorf("%s: %+v, want %+v", n, got[n], want[n])
				}
			}
			if len(got) != len(want) || g.Len() != recorded.Len() || info.Tool != "dotnet-gcdump" || info.Undefined != 0 {
				t.Errorf("%d names of %d objects, want %d of %d; %+v", len(got), g.Len(), len(want), recorded.Len(), info)
			}
			kinds := func(g *Graph) map[string]int {
				type key struct {
					category string
					o        Object
				}
				seen, n := map[key]bool{}, map[string]int{}
				for _, r := range g.Roots {
					if k := (key{r.category(), r.Object}); r.Strong() && !seen[k] {
						seen[k] = true
						n[k.category]++
					}
				}
				return n
			}
			expected := kinds(recorded)
			values := map[Object]bool{}
			for _, d := range recorded.Dependents {
				values[d.Value] = true
			}
			expected[otherHandle] += len(values)
			if got := kinds(g); !maps.Equal(got, expected) {
				t.Errorf("roots %v, want %v", got, expected)
			}
			if !slices.IsSortedFunc(g.address[:100], func(a, b uint64) int { return int(a>>4) - int(b>>4) }) {
				t.Error("the objects are not in the order of the walk")
			}
		})
	}
}

// TestTime: the time of a snapshot is that of the end of its collection, by the clock of the stream.
// What has no time keeps none.
func TestTime(t *testing.T) {
	extent.Long(t)
	for _, tr := range recordings.Traces(t, "heap-traces") {
		b := recordings.Read(t, tr.Path)
		g := graphOf(t, tr.Path)
		if !g.Walk.Complete() {
			continue
		}
		var want time.Time
		r := parse.NewReader(bytes.NewReader(b), parse.All)
		trace, err := r.ReadTrace()
		if err != nil {
			t.Fatal(err)
		}
		for r.Scan() {
			if e := r.Event(); e != nil && e.Meta.Provider == clr.RuntimeProvider && e.Meta.EventID == clr.IDGCEnd && binary.LittleEndian.Uint32(e.Payload) == g.Walk.Collection {
				seconds := float64(e.Ticks-trace.SyncTicks) / float64(trace.TicksPerSecond)
				want = trace.SyncTime.Add(time.Duration(seconds * 1e9))
			}
		}
		if g.Time.Sub(want).Abs() > time.Millisecond {
			t.Errorf("%s: %v, want %v", tr.Name, g.Time, want)
		}
		g.Time = time.Time{}
		if again, _ := readDump(t, writeDump(t, g, &DumpInfo{})); !again.Time.IsZero() {
			t.Errorf("%s: %v, want none", tr.Name, again.Time)
		}
	}
}

// TestRootless: a heap without a root is not complete, whichever way it is read.
func TestRootless(t *testing.T) {
	g := graphOf(t, "testdata/small.nettrace.gz")
	g.Roots, g.Statics = nil, nil
	check := func(what string, w Walk, err error) {
		if err != nil || w.Complete() || !w.Rootless {
			t.Errorf("%s: %+v, %v", what, w, err)
		}
	}
	own := writeDump(t, g, &DumpInfo{})
	x, _, err := ReadDump(bytes.NewReader(own))
	check("gclog's file", x.Walk, err)
	h, _, err := ReadDumpHistogram(bytes.NewReader(own))
	check("the counts in gclog's file", h.Walk, err)
	g.Dependents = nil // which are roots in files of other tools
	var foreign bytes.Buffer
	if err := newDumpLayout(g, nil).write(&foreign, &DumpInfo{}, nil); err != nil {
		t.Fatal(err)
	}
	x, _, err = ReadDump(bytes.NewReader(foreign.Bytes()))
	check("the file of another tool", x.Walk, err)
	h, _, err = CountDump(bytes.NewReader(foreign.Bytes()))
	check("the count of another tool's objects", h.Walk, err)
}

func TestCint(t *testing.T) {
	for _, test := range []struct {
		v    int32
		want string
	}{
		{0, "00"},
		{63, "3f"},
		{64, "8040"},
		{65, "8041"},
		{-1, "7f"},
		{-2, "7e"},
		{-63, "41"},
		{-64, "40"},
		{-65, "ff3f"},
		{32, "20"},
		{300, "822c"},
		{8191, "bf7f"},
		{8192, "80c000"},
		{-8192, "c000"},
		{-8193, "ffbf7f"},
		{1<<20 - 1, "bfff7f"},
		{1 << 20, "80c08000"},
		{-1 << 20, "c08000"},
		{-1<<20 - 1, "ffbfff7f"},
		{1<<27 - 1, "bfffff7f"},
		{1 << 27, "80c0808000"},
		{-1 << 27, "c0808000"},
		{-1<<27 - 1, "ffbfffff7f"},
		{math.MaxInt32, "87ffffff7f"},
		{math.MinInt32, "f880808000"},
	} {
		b := appendCint(nil, test.v)
		if got := fmt.Sprintf("%x", b); got != test.want || len(b) != cintLen(test.v) {
			t.Errorf("%d: %s, want %s", test.v, got, test.want)
		}
		r := newDumpReader(bytes.NewReader(b))
		if got := r.cint(); got != test.v || r.err != nil {
			t.Errorf("%s: %d, want %d; %v", test.want, got, test.v, r.err)
		}
	}
}

// unsized returns a reader of unknown length.
func unsized(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) }

// TestTruncated: a file that ends early is an error that says so, at any byte.
func TestTruncated(t *testing.T) {
	extent.Long(t)
	RareGC(t)
	g := graphOf(t, "testdata/small.nettrace.gz")
	for _, test := range []struct {
		name string
		b    []byte
		step int
	}{
		{"golden", recordings.Read(t, "testdata/golden-tiny.gcdump"), 1},
		{"small", recordings.Read(t, "testdata/small.gcdump"), extent.Pick(181, 61)},
		{"written", writeDump(t, g, &DumpInfo{}), extent.Pick(577, 193)},
	} {
		for n := 0; n < len(test.b); n += test.step {
			r := io.Reader(bytes.NewReader(test.b[:n]))
			if n%2 == 0 {
				r = unsized(test.b[:n])
			}
			_, _, err := ReadDump(r)
			var f *FormatError
			if !errors.As(err, &f) || !errors.Is(err, io.ErrUnexpectedEOF) || f.Offset > int64(n) || f.Msg == "" {
				t.Fatalf("%s, %d bytes: %v", test.name, n, err)
			}
		}
	}
}

// TestPrivateTags: readers that do not know the private part skip it, whatever its bytes.
func TestPrivateTags(t *testing.T) {
	l, info := goldenTiny()
	var b bytes.Buffer
	private := bytes.Repeat([]byte{tagEnd, tagObject, tagString, tagSkip, 0xff, tagPrivate, 1}, 10_000)
	if err := l.write(&b, info, func() []byte { return private }); err != nil {
		t.Fatal(err)
	}
	foreign := bytes.Replace(b.Bytes(), []byte(privateMagic), []byte("another.er"), 1)
	s, _ := summarize(t, foreign)
	if s.hash != 0x7cfd4d4c646532fa {
		t.Errorf("hash %x", s.hash)
	}
	if g, _ := readDump(t, foreign); g.Len() != 3 {
		t.Errorf("%d objects", g.Len())
	}
	if _, _, err := ReadDump(bytes.NewReader(b.Bytes())); err == nil {
		t.Error("a private part of nonsense was accepted")
	}
}

// TestLargeObjects: sizes that the records cannot hold are in the private part.
func TestLargeObjects(t *testing.T) {
	l, _ := goldenTiny()
	g := l.g
	g.Types = []Type{{ID: 8, Name: "A"}, {ID: 16, Name: "B[]"}, {ID: 24}}
	g.large = map[Object]uint64{1: 5 << 32}
	g.size = []uint32{24, largeSize, 3_000_000_000, 24}
	g.index = newAddressIndex(g.address)
	g.ages = []Generation{Gen0, LOH, UnknownGeneration, Frozen}
	got, _ := readDump(t, writeDump(t, g, &DumpInfo{}))
	if d := equal(got, g); d != "" {
		t.Error(d)
	}
	var b bytes.Buffer
	if err := newDumpLayout(g, nil).write(&b, &DumpInfo{}, nil); err != nil {
		t.Fatal(err)
	}
	plain, _ := readDump(t, b.Bytes())
	if plain.Size(1) != maxNodeSize || plain.Size(2) != maxNodeSize || plain.Types[2].Name != "" || plain.Types[2].ID != 24 || plain.UnknownTypes() != 1 {
		t.Errorf("%v %+v", plain.size, plain.Types)
	}
}

// TestForeign: files of other kinds and versions are refused by what they are.
func TestForeign(t *testing.T) {
	golden := string(recordings.Read(t, "testdata/golden-tiny.gcdump"))
	version := func(class string, version, minReader byte) string {
		i := strings.Index(golden, class) - 12
		return golden[:i] + string([]byte{version, 0, 0, 0, minReader}) + golden[i+5:]
	}
	for _, test := range []struct{ input, want string }{
		{string(recordings.Read(t, "testdata/small.nettrace.gz")), "this is a nettrace recording"},
		{"\x1f\x8b\x08", "this is compressed data"},
		{"\x7fELF", "this is an ELF program"},
		{strings.ReplaceAll(golden, "GCHeapDump", "TraceLogXX"), `of class "TraceLogXX"`},
		{version("GCHeapDump", 12, 11), "GCHeapDump has version 12, and requires a reader of version 11; this one knows version 10"},
		{version("GCHeapDump", 8, 8), "version 8"},
		{version("GCHeapDump", 3, 3), "version 3"},
		{version("Graphs.MemoryGraph", 3, 2), "Graphs.MemoryGraph has version 3, and requires a reader of version 2; this one knows version 1"},
	} {
		_, _, err := ReadDump(strings.NewReader(test.input))
		var kind *KindError
		if !errors.As(err, &kind) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.20q: %v, want %q", test.input, err, test.want)
		}
	}
	if _, _, err := ReadDump(strings.NewReader(version("GCHeapDump", 12, 8))); err != nil {
		t.Errorf("a later version for readers of this one: %v", err)
	}
	for _, end := range []string{golden + "x", golden[:len(golden)-4] + "\x01\x02\x00\x00", golden[:len(golden)-8] + "\xc9" + golden[len(golden)-7:]} {
		if _, _, err := ReadDump(strings.NewReader(end)); err == nil {
			t.Errorf("a file that ends in % x was accepted", end[len(end)-9:])
		}
	}
}

// TestInputs reads from a file, from the rest of one, and from what fails.
func TestInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	golden := recordings.Read(t, "testdata/golden-tiny.gcdump")
	if err := os.WriteFile(path, append([]byte("before"), golden...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(6, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if n := sizeOf(f); n != int64(len(golden)) {
		t.Errorf("%d bytes, want %d", n, len(golden))
	}
	if g, _, err := ReadDump(f); err != nil || g.Len() != 3 {
		t.Error(g, err)
	}
	broken := errors.New("broken")
	for _, n := range []int{0, 10, 200, 600} {
		_, _, err := ReadDump(io.MultiReader(bytes.NewReader(golden[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	l, info := goldenTiny()
	if err := l.write(brokenWriter{broken}, info, nil); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
	if err := l.fits(1 << 31); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("4 objects with 2 GB: %v", err)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
