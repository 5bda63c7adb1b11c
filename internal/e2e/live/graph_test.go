//go:build linux

package live

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestLiveGraph takes a heap snapshot of a program that says which objects it has made, on each
// runtime in each flavour: types, counts, bytes, what retains them and what holds them are as the
// program says, and the sum is what the record of the collection says.
func TestLiveGraph(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, c := range cells(t) {
		if !c.AOT {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				liveKnownGraph(t, c.Runtime, c.flavour)
			})
		}
	}
}

// TestLiveNativeGraph does so with the NativeAOT programs that survive the walk: names are in the symbols
// next to the program, and static fields are only known by their classes.
func TestLiveNativeGraph(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, c := range cells(t) {
		// The program with server GC of .NET 10 would crash. Nothing here may ask it.
		if !c.AOT || c.Major < 10 || c.Major == 10 && filepath.Base(c.Program(c.flavour)) != "gcload" {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			liveNativeGraph(t, c.Runtime, c.flavour)
		})
	}
}

func liveNativeGraph(t *testing.T, r *gcload.Runtime, flavour string) {
	p, want := startGraph(t, r, flavour)
	for i := range want.Types {
		// NativeAOT does not keep an object alive until its finalizer has ended, which the program counts.
		if x := &want.Types[i]; x.Name == "GcLoad.Graph.FinalizerBlocker" {
			x.Count, x.Bytes = 0, 0
		}
	}
	path := filepath.Join(t.TempDir(), "a.gcdump")
	if flavour == "conserve" || flavour == "datas" { // which compact, and NativeAOT does not say what has moved
		t.Log(startSnapshot(t, p.PID, path, "--stack-names").finish(t, 0))
	} else {
		path = summedSnapshot(t, p.PID, 0)
		compareGenerations(t, path)
	}
	compareStat(t, path, &want)
	compareStat(t, strconv.Itoa(p.PID), &want)
	compareRetained(t, path, &want)
	g := readSnapshot(t, path)
	if g.UnknownTypes() > 0 {
		t.Errorf("%d of %d types have no name", g.UnknownTypes(), len(g.Types))
	}
	compareHolders(t, g, "static field of GcLoad.Graph.Leaks", []holder{
		{"GcLoad.Graph.LeakedItem", "static field of GcLoad.Graph.Leaks", want.LeakCount},
		{"GcLoad.Graph.ListNode", "static field of GcLoad.Graph.Store", want.DeepListLength},
		{"GcLoad.Graph.Subscriber", "static field of GcLoad.Graph.Store", want.EventLeak.Subscribers},
		{want.FinalizeQueue.Type, "finalizer queue", want.FinalizeQueue.Waiting},
		{"GcLoad.Graph.HandleNormal", "strong handle", want.Handles.Normal},
		{"GcLoad.Graph.PinCell[]", "pinned handle", want.Handles.Pinned},
		{"GcLoad.Graph.CwtValue", "static field of GcLoad.Graph.Store", want.Handles.Dependent},
	})
	compareShared(t, g, &want)
}

// A knownGraph is what the program says about its objects.
type knownGraph struct {
	Types []struct {
		Name               string
		Count, Bytes       uint64
		BytesEach          uint64 // 0: unknown
		BytesEachUnaligned uint64
	}
	LeakRoot                                    string
	LeakCount                                   uint64
	LeakRetainedBytes, LeakRetainedBytesOfArray uint64
	Statics                                     []string
	EventLeak                                   struct {
		Publisher   string
		Subscribers uint64
	}
	ThreadStatics, StackLocals struct {
		Type, Method string
		Count        uint64
	}
	Handles       struct{ Normal, Pinned, Dependent uint64 }
	FinalizeQueue struct {
		Type    string
		Waiting uint64
	}
	DeepListLength uint64
	DeepListRoot   string
	SharedSubgraph struct{ Count, RetainedByTop, RetainedByA, RetainedByC uint64 }
}

// exactNames are the names of generic types as ClrMD writes them. The program writes them as .NET does.
var exactNames = strings.NewReplacer(
	"GcLoad.Graph.Box`1[System.Int64]", "GcLoad.Graph.Box<System.Int64>",
	"GcLoad.Graph.Box`1[GcLoad.Graph.RefTarget]", "GcLoad.Graph.Box<GcLoad.Graph.RefTarget>",
	"GcLoad.Graph.Outer`1+Inner`1[System.String,System.Int32]", "GcLoad.Graph.Outer<System.String>+Inner<System.Int32>",
)

// startGraph starts the program with the known objects. It ends with the test.
func startGraph(t *testing.T, r *gcload.Runtime, flavour string, args ...string) (p *gcload.Process, known knownGraph) {
	t.Helper()
	p, err := r.Start(program.SocketDir(t), flavour, nil, append([]string{"graph", "--quiet"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	line, err := p.Wait(time.Minute, func(l *gcload.Line) bool { return l.Event == "graph" })
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line.Text, &known); err != nil {
		t.Fatal(err)
	}
	return p, known
}

// readSnapshot reads a .gcdump file.
func readSnapshot(t *testing.T, path string) *heap.Graph {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, _, err := heap.ReadDump(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func liveKnownGraph(t *testing.T, r *gcload.Runtime, flavour string) {
	var args []string
	server := flavour == "datas" || strings.HasPrefix(flavour, "svr")
	if server {
		// What another thread writes comes after more events than are put in order.
		args = []string{"--scale", "4", "--deep", "5000"}
	}
	p, want := startGraph(t, r, flavour, args...)
	// With segments, a generation in which nothing is left has an object of 24 bytes in each heap, which
	// is not walked.
	most := uint64(0)
	if r.Major < 5 || flavour == "clrgc" {
		most = 4 * 24
	}
	path := summedSnapshot(t, p.PID, most)
	compareGenerations(t, path)
	compareStat(t, path, &want)
	if server {
		compareGenerations(t, strconv.Itoa(p.PID))
		compareStat(t, strconv.Itoa(p.PID), &want)
	}
	compareRetained(t, path, &want)

	g := readSnapshot(t, path)
	if r.Major < 5 { // which has no pinned object heap
		want.Statics = slices.DeleteFunc(want.Statics, func(s string) bool { return s == "GcLoad.Graph.Store.Poh" })
	}
	compareHeld(t, g, &want)
}

// A statJSON is what heap stat prints.
type statJSON struct {
	Objects, Bytes uint64
	Complete       bool
	Types          []struct {
		Name           string
		Objects, Bytes uint64
		RawBytes       uint64 `json:"raw_bytes"`
		Generations    map[string]struct{ Objects, Bytes uint64 }
	}
}

// heapJSON runs a command of gclog heap.
func heapJSON(t *testing.T, to any, args ...string) {
	t.Helper()
	out, err := exec.Command("gclog", append([]string{"heap"}, append(args, "-f", "json")...)...).Output()
	if err != nil {
		t.Fatalf("gclog heap %v: %v, %s", args, err, out)
	}
	if err := json.Unmarshal(out, to); err != nil {
		t.Fatalf("gclog heap %v: %v", args, err)
	}
}

// summedSnapshot takes a snapshot of a process that gclog logs at the same time, and compares the sum
// of its objects with the record of the collection, which may have up to most bytes more. It returns
// the path of the file.
func summedSnapshot(t *testing.T, pid int, most uint64) string {
	t.Helper()
	dir := t.TempDir()
	path, log := filepath.Join(dir, "a.gcdump"), filepath.Join(dir, "gc.json")
	cmd := exec.Command("gclog", "attach", strconv.Itoa(pid), "-o", log)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	program.WaitForFile(t, log, "gc-session-start")
	t.Log(startSnapshot(t, pid, path, "--stack-names").finish(t, 0))
	var stat statJSON
	heapJSON(t, &stat, "stat", path)
	if !stat.Complete {
		t.Error("the snapshot is incomplete")
	}
	sum := uint64(0)
	for _, x := range stat.Types {
		sum += x.Bytes - x.Generations["frozen"].Bytes // the runtime does not count these
	}
	program.WaitForFile(t, log, `"heap_dump_by":"gclog"`)
	var record struct {
		DotNet struct {
			GC struct {
				Heap struct{ Promoted struct{ Bytes uint64 } }
			}
		}
	}
	for _, g := range recordsOf(t, log, "gc") {
		if bytes.Contains(g.line, []byte(`"heap_dump_by":"gclog"`)) {
			if err := json.Unmarshal(g.line, &record); err != nil {
				t.Fatal(err)
			}
			break // the second one is that at the end of the session
		}
	}
	if promoted := record.DotNet.GC.Heap.Promoted.Bytes; sum == 0 || sum > promoted || promoted-sum > most || (promoted-sum)%24 != 0 {
		t.Errorf("the objects have %d bytes, and the collection has promoted %d", sum, promoted)
	}
	return path
}

// compareGenerations finds objects of a file, or of a running process, whose generations are unknown.
func compareGenerations(t *testing.T, subject string) {
	t.Helper()
	var stat statJSON
	heapJSON(t, &stat, "stat", subject)
	for _, x := range stat.Types {
		if n := x.Generations["unknown"].Objects; n > 0 {
			t.Errorf("%s: the generation of %d objects is unknown", x.Name, n)
		}
	}
}

// compareStat compares the counts of a file, or of a running process.
func compareStat(t *testing.T, subject string, want *knownGraph) {
	t.Helper()
	var stat statJSON
	heapJSON(t, &stat, "stat", subject)
	for _, w := range want.Types {
		var objects, size, raw uint64
		for _, x := range stat.Types {
			if x.Name == exactNames.Replace(w.Name) {
				objects, size, raw = objects+x.Objects, size+x.Bytes, raw+x.RawBytes
			}
		}
		if objects != w.Count || w.Bytes > 0 && size != w.Bytes || w.BytesEachUnaligned > 0 && raw != w.Count*w.BytesEachUnaligned {
			t.Errorf("%s: %d objects with %d bytes (%d unrounded), want %+v", w.Name, objects, size, raw, w)
		}
	}
	if len(want.Types) < 30 {
		t.Errorf("%d types", len(want.Types))
	}
}

func compareRetained(t *testing.T, path string, want *knownGraph) {
	t.Helper()
	var retained struct {
		Objects []struct {
			Name     string
			Retained uint64 `json:"retained_bytes"`
		}
	}
	heapJSON(t, &retained, "retained", path)
	for name, bytes := range map[string]uint64{
		"System.Collections.Generic.List<GcLoad.Graph.LeakedItem>": want.LeakRetainedBytes,
		"GcLoad.Graph.LeakedItem[]":                                want.LeakRetainedBytesOfArray,
	} {
		found := false
		for _, x := range retained.Objects {
			if found = x.Name == name && x.Retained == bytes; found {
				break
			}
		}
		if !found {
			t.Errorf("no %s that retains %d bytes", name, bytes)
		}
	}
}

// compareHeld compares what holds the objects, and what those with a shared part retain, where static
// fields have names.
func compareHeld(t *testing.T, g *heap.Graph, want *knownGraph) {
	t.Helper()
	fields := map[string]bool{}
	for _, s := range g.Statics {
		fields[s.Declaring+"."+s.Field] = true
	}
	for _, name := range want.Statics {
		if !fields[name] {
			t.Errorf("no static field %s", name)
		}
	}
	compareHolders(t, g, "static "+want.LeakRoot, []holder{
		{"GcLoad.Graph.LeakedItem", "static " + want.LeakRoot, want.LeakCount},
		{"GcLoad.Graph.ListNode", "static " + want.DeepListRoot, want.DeepListLength},
		{"GcLoad.Graph.Subscriber", "static " + want.EventLeak.Publisher, want.EventLeak.Subscribers},
		{want.StackLocals.Type, "stack of " + want.StackLocals.Method, want.StackLocals.Count},
		{want.FinalizeQueue.Type, "finalizer queue", want.FinalizeQueue.Waiting},
		{"GcLoad.Graph.HandleNormal", "strong handle", want.Handles.Normal},
		{"GcLoad.Graph.PinCell[]", "pinned handle", want.Handles.Pinned},
		{"GcLoad.Graph.CwtValue", "static GcLoad.Graph.Store.CwtKeys", want.Handles.Dependent},
	})
	paths := g.Paths()
	if list, _ := paths.Roots(is(g, "GcLoad.Graph.Subscriber")); len(list) > 0 {
		if p := list[0].Path; len(p) < 2 || g.EventOf(p[0].Type, p[1].Type) != "Changed" {
			t.Errorf("the event is not on the path: %+v", p)
		}
	}
	// The thread statics of a thread are held by an array, whatever else holds them.
	inArray := false
	list, _ := paths.Roots(is(g, want.ThreadStatics.Type))
	for _, x := range list {
		inArray = inArray || x.Targets.Objects == want.ThreadStatics.Count && g.Types[x.Path[0].Type].Name == "System.Object[]"
	}
	if !inArray {
		t.Errorf("no array of thread statics: %+v", list)
	}
	compareShared(t, g, want)
}

// is returns a function that reports whether an object is of a type.
func is(g *heap.Graph, name string) func(heap.Object) bool {
	return func(o heap.Object) bool { return g.Types[g.Type(o)].String() == name }
}

// A holder says what holds the objects of a type.
type holder struct {
	typ, holder string
	objects     uint64
}

// compareHolders compares what holds objects most. The leak is held by one root.
func compareHolders(t *testing.T, g *heap.Graph, leak string, want []holder) {
	t.Helper()
	paths := g.Paths()
	for _, w := range want {
		list, all := paths.Roots(is(g, w.typ))
		if len(list) == 0 || list[0].Holder.String() != w.holder || list[0].Targets.Objects != w.objects || w.objects == 0 {
			t.Errorf("%s: %+v, want %d held by %s", w.typ, list, w.objects, w.holder)
		}
		if w.holder == leak && all != 1 {
			t.Errorf("%d roots hold the leak", all)
		}
	}
}

// compareShared compares what objects with a shared part retain.
func compareShared(t *testing.T, g *heap.Graph, want *knownGraph) {
	t.Helper()
	retains := map[string]uint64{"GcLoad.Graph.DiamondTop": want.SharedSubgraph.RetainedByTop, "GcLoad.Graph.DiamondA": want.SharedSubgraph.RetainedByA, "GcLoad.Graph.DiamondC": want.SharedSubgraph.RetainedByC}
	d, found := g.Dominators(), uint64(0)
	for o := range d.All {
		if bytes, ok := retains[g.Types[g.Type(o)].String()]; ok {
			found++
			if d.Retained(o) != bytes {
				t.Fatalf("%s retains %d bytes, want %d", g.Types[g.Type(o)].String(), d.Retained(o), bytes)
			}
		}
	}
	if found != 3*want.SharedSubgraph.Count {
		t.Errorf("%d objects with shared parts", found)
	}
}

// TestLiveForeign takes a heap snapshot of somebody else's program, a single file that contains the
// runtime and all assemblies: PyPI's metaengine-openapi-httpx. It waits for the rest of an answer.
func TestLiveForeign(t *testing.T) {
	if !everyCell() {
		t.Skip("downloads 30 MB: make live runs it")
	}
	exe := foreignProgram(t)
	wait := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10000000")
		_, _ = io.WriteString(w, `{"openapi":"3.0.0",`)
		_ = http.NewResponseController(w).Flush()
		<-wait
	}))
	defer server.Close()
	defer close(wait)
	asked := make(chan struct{}, 1)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateActive {
			asked <- struct{}{}
		}
	}
	cmd := exec.Command(exe, server.URL+"/a.json", t.TempDir())
	cmd.Env = append(os.Environ(), "TMPDIR="+program.SocketDir(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("the program has not asked for its input within a minute")
	}
	path := summedSnapshot(t, cmd.Process.Pid, 0)
	var stat statJSON
	heapJSON(t, &stat, "stat", path, "--filter", `^System\.Net\.Http\.HttpClient$`)
	if len(stat.Types) != 1 || stat.Types[0].Objects != 1 {
		t.Errorf("%+v", stat.Types)
	}
}

// foreignProgram returns the path of the program, which is downloaded once.
func foreignProgram(t *testing.T) string {
	t.Helper()
	const version = "1.0.0"
	dir := filepath.Join(recordings.Root(), "bin", "metaengine-"+version)
	exe := filepath.Join(dir, "metaengine-openapi-httpx")
	if _, err := os.Stat(exe); err == nil {
		return exe
	}
	if out, err := exec.Command("python3", "-m", "pip", "download", "--no-deps", "-d", dir, "metaengine-openapi-httpx=="+version).CombinedOutput(); err != nil {
		t.Skipf("cannot download the program: %v: %s", err, out)
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatal(wheels, err)
	}
	z, err := zip.OpenReader(wheels[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	from, err := z.Open("metaengine_openapi_httpx/_bin/metaengine-openapi-httpx")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(exe+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close(), os.Rename(exe+".part", exe)); err != nil {
		t.Fatal(err)
	}
	return exe
}
