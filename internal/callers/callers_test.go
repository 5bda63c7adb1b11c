package callers_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/pprof"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// read returns the profile of recordings.
func read(t *testing.T, paths ...string) *stacks.Profile {
	t.Helper()
	b := stacks.NewBuilder()
	for _, path := range paths {
		if err := b.Read(bytes.NewReader(recordings.Read(t, path))); err != nil && !strings.Contains(path, "-killed.") {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

func own(name string) string {
	return filepath.Join("..", "..", "gclog", "stacks", "testdata", name+".nettrace.gz")
}

// TestTruth: another program accepts the folded and the pprof output against the program's own account of its
// allocations and requests, with all frames and without.
func TestTruth(t *testing.T) {
	judge := filepath.Join(recordings.Dir(t), "tools", "stacktruth.py")
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not there")
	}
	n := 0
	for _, tr := range recordings.Traces(t, filepath.Join("traces", "stacks")) {
		if strings.HasSuffix(tr.Name, "-names") || strings.Contains(tr.Path, ".first.") {
			continue
		}
		paths := []string{tr.Path}
		if strings.HasSuffix(tr.Name, "-killed") {
			paths = append(paths, tr.Beside(".first.nettrace.gz"))
		}
		p := read(t, paths...)
		for _, raw := range []bool{false, true} {
			v := callers.View{Profile: p, Raw: raw}
			for _, how := range []string{"folded", "pprof"} {
				x := v.Flame(tr.Name, how == "pprof")
				if strings.HasSuffix(tr.Name, "-callers") {
					x = v.CallFlame(tr.Name, how == "pprof")
				}
				var b bytes.Buffer
				write := x.WriteFolded
				if how == "pprof" {
					write = x.WritePprof
				}
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), tr.Name+"."+how)
				if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command("python3", judge, tr.Beside(".truth.jsonl.gz"), path).CombinedOutput()
				t.Logf("raw %v: %s", raw, out)
				if err != nil {
					t.Errorf("raw %v: %v: %s", raw, err, out)
				}
				n++
			}
		}
	}
	if n != 20*4 {
		t.Errorf("%d profiles", n)
	}
}

// TestRows: the rows of a recording, by everything that they are counted by.
func TestRows(t *testing.T) {
	v := &callers.View{Profile: read(t, own("net11-svr-alloc"))}
	total := v.Profile.Total
	for by, want := range map[string]string{
		callers.ByType:   "byte[] 596",
		callers.ByMethod: "GcLoad.Shop.Buffers.Fill 559",
		callers.ByPath: "GcLoad.Shop.AllocMode.Prepare.<lambda>;GcLoad.Shop.AllocMode.Work;" +
			"GcLoad.Shop.Buffers.Read;GcLoad.Shop.Buffers.Fill 559",
	} {
		rows := v.Rows(by)
		if got := fmt.Sprint(rows[0].Name, " ", rows[0].Events); got != want {
			t.Errorf("by %s: %s", by, got)
		}
		sum := stacks.Estimate{}
		for i := range rows {
			sum.Add(rows[i].Estimate)
			if i > 0 && rows[i].Bytes > rows[i-1].Bytes {
				t.Errorf("by %s: row %d has more than the one before", by, i)
			}
		}
		if sum.Events != total.Events || math.Abs(sum.Bytes/total.Bytes-1) > 1e-9 {
			t.Errorf("by %s: %+v of %+v", by, sum, total)
		}
	}
	if n := len(v.Rows(callers.ByThread)); n != 5 {
		t.Errorf("%d threads", n)
	}
	v.Filter = regexp.MustCompile("Cart")
	if rows := v.Rows(callers.ByType); len(rows) != 2 || rows[0].Name != "GcLoad.Shop.CartLine[]" {
		t.Errorf("%+v", rows)
	}
	v = &callers.View{Profile: v.Profile, Large: true}
	if rows := v.Rows(callers.ByMethod); len(rows) != 1 || rows[0].Name != "GcLoad.Shop.Buffers.Large" || rows[0].Bytes != 36*200_032 {
		t.Errorf("%+v", rows)
	}
	v = &callers.View{Profile: v.Profile, Raw: true}
	if got := v.Rows(callers.ByPath)[0].Path; got[0] != "System.Threading.Thread.StartCallback(class System.Threading.Thread*)" ||
		got[len(got)-1] != "GcLoad.Shop.Buffers.Fill(int32)" {
		t.Errorf("%q", got)
	}
}

// TestTree: a node has what its calls have, and what it allocates itself.
func TestTree(t *testing.T) {
	v := &callers.View{Profile: read(t, own("net11-svr-alloc"))}
	rows := v.Rows(callers.ByPath)
	var check func(n *callers.Node) uint64
	check = func(n *callers.Node) (leaves uint64) {
		sum := uint64(0)
		names := map[string]bool{}
		for i, c := range n.Calls {
			if names[c.Name] {
				t.Errorf("%s calls %s twice", n.Name, c.Name)
			}
			names[c.Name] = true
			sum += c.Events
			leaves += check(c)
			if i > 0 && c.Bytes > n.Calls[i-1].Bytes {
				t.Errorf("%s has more than the one before", c.Name)
			}
		}
		if sum > n.Events {
			t.Errorf("%s has %d events, what it calls %d", n.Name, n.Events, sum)
		}
		return leaves + n.Events - sum
	}
	root := callers.Tree(rows, func(*callers.Node) bool { return true })
	if n := check(root); n != v.Profile.Total.Events || root.Events != n {
		t.Errorf("%d events", n)
	}
	lines := 0
	large := callers.Tree(rows, func(n *callers.Node) bool { return n.Bytes > root.Bytes/100 })
	large.Lines(func(int, *callers.Node) { lines++ })
	if lines < 15 || lines > 40 {
		t.Errorf("%d lines", lines)
	}
}

// TestCalls: the rows of the requests of a recording.
func TestCalls(t *testing.T) {
	v := &callers.View{Profile: read(t, own("core31-wks-callers"))}
	got := ""
	for _, r := range v.Calls(false) {
		got += fmt.Sprintln(r.Count, r.Call, r.Caller)
		if r.Timed != r.Count || r.Paused < r.Longest {
			t.Errorf("%+v", r)
		}
	}
	want := `126 GC.Collect: gen0 GcLoad.Shop.Ticker.Tick
31 GC.Collect: gen2 GcLoad.Shop.Cache.Shrink
26 GC.Collect: gen1 GcLoad.Shop.Ticker.Tick
15 GC.Collect: gen2, compacting GcLoad.Shop.Reports.Clean
`
	if got != want {
		t.Errorf("%s", got)
	}
}

// TestPprof: go tool pprof shows who allocates and who asks for collections.
func TestPprof(t *testing.T) {
	write := func(v *callers.View, calls bool) string {
		x := v.Flame("app", true)
		if calls {
			x = v.CallFlame("app", true)
		}
		path := filepath.Join(t.TempDir(), "profile")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := x.WritePprof(f); err != nil {
			t.Fatal(err)
		}
		return path
	}
	v := &callers.View{Profile: read(t, own("net11-svr-alloc"))}
	flat, cum, _ := pprof.Top(t, write(v, false))
	total := int64(0)
	for _, n := range flat {
		total += n
	}
	if math.Abs(float64(total)-v.Profile.Total.Bytes) > 100 || flat["GcLoad.Shop.Buffers.Large"] != 36*200_032 ||
		cum["GcLoad.Shop.Cart.Load"] != flat["GcLoad.Shop.Cart.Lines"] || flat["GcLoad.Shop.Cart.Lines"] == 0 {
		t.Errorf("%d: %v", total, flat)
	}
	byType, _, _ := pprof.Top(t, "-tagfocus=type=byte", write(v, false))
	if byType["GcLoad.Shop.Buffers.Large"] == 0 || byType["GcLoad.Shop.Cart.Lines"] != 0 {
		t.Errorf("%v", byType)
	}
	flat, _, _ = pprof.Top(t, "-sample_index=gcs", write(&callers.View{Profile: read(t, own("core31-wks-callers"))}, true))
	if flat["GcLoad.Shop.Ticker.Tick"] != 152 || flat["GcLoad.Shop.Cache.Shrink"] != 31 {
		t.Errorf("%v", flat)
	}
}

// TestDeepStacks: types that are allocated in one deep stack share its text.
func TestDeepStacks(t *testing.T) {
	const types, depth = 300, 1000
	x := nettracetest.V4{}
	clock := nettracetest.DefaultClock()
	x.Begin(clock)
	x.Metadata(
		nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCAllocationTick, Version: 4, Level: 5, Keywords: 1},
		nettracetest.Kind{ID: 2, Provider: clr.RundownProvider, EventID: clr.IDRundownMethodDCEnd, Version: 1, Level: 5, Keywords: 1},
	)
	event := func(kind, stack uint32, p *nettracetest.Payload) {
		x.Events(nettracetest.Row{Kind: kind, Thread: 7, Ticks: clock.Ticks + 1000, Payload: p.Bytes, Stack: stack})
	}
	payload := func() *nettracetest.Payload { return &nettracetest.Payload{PointerSize: 8} }
	x.Block("StackBlock", nettracetest.Stacks(1, 8, slices.Repeat([]uint64{0x10}, depth)))
	for i := range types {
		event(1, 1, payload().U32(100_000, 0).U16(0).U64(100_000, 1).Text(fmt.Sprint("T", i)).U32(0).U64(0x1000, 24))
	}
	event(2, 0, payload().U64(1, 1, 0x10).U32(1, 1, 0).Text("N.C").Text(strings.Repeat("m", 1000)).Text("void  ()").U16(0))
	x.End()
	p, err := stacks.Read(bytes.NewReader(x.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	v := &callers.View{Profile: p}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rows, flame := v.Rows(callers.ByPath), v.Flame("app", true)
	runtime.ReadMemStats(&after)
	if len(rows) != 1 || rows[0].Events != types || len(flame.Samples) != types || len(flame.Samples[0].Stack) != depth+1 {
		t.Errorf("%d rows, %d samples", len(rows), len(flame.Samples))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 50<<20 {
		t.Errorf("%d MB for one stack of 1 MB", n>>20)
	}
}

// TestTreeOther: what is left out of a tree is in what called it.
func TestTreeOther(t *testing.T) {
	v := &callers.View{Profile: read(t, own("net11-svr-alloc"))}
	rows := v.Rows(callers.ByPath)
	all, kept := callers.Tree(rows, func(*callers.Node) bool { return true }), 0
	some := callers.Tree(rows, func(n *callers.Node) bool { return n.Bytes > v.Profile.Total.Bytes/20 })
	left := some.Other
	some.Lines(func(_ int, n *callers.Node) {
		kept++
		left.Add(n.Other)
	})
	if all.Other.Events != 0 || kept < 5 || left.Events == 0 || left.Bytes > v.Profile.Total.Bytes/2 {
		t.Errorf("%d nodes, %d events left out", kept, left.Events)
	}
}
