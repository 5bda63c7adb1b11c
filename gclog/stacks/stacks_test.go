package stacks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestNames: the readable name of every method on the stacks of the recordings.
func TestNames(t *testing.T) {
	lines := strings.Fields(strings.ReplaceAll(string(recordings.Read(t, "testdata/names.expected.tsv")), " ", "\x00"))
	if len(lines) < 900 {
		t.Fatalf("%d names", len(lines)/3)
	}
	for f := range slices.Chunk(lines, 3) {
		if got := Readable(f[0], f[1]); got != strings.ReplaceAll(f[2], "\x00", " ") {
			t.Errorf("%s %s\n is %s\nnot %s", f[0], f[1], got, f[2])
		}
	}
}

// forEach runs a test for the recordings in testdata, and for the shared ones if there are any. It reports
// whether there were.
func forEach(t *testing.T, run func(t *testing.T, tr recordings.Trace)) (all bool) {
	t.Helper()
	each := func(t *testing.T, list []recordings.Trace) {
		for _, tr := range list {
			t.Run(tr.Name, func(t *testing.T) { run(t, tr) })
		}
	}
	var own []recordings.Trace
	for _, name := range []string{"core31-wks-callers", "net11-svr-alloc"} {
		own = append(own, recordings.Trace{Name: name, Path: filepath.Join("testdata", name+".nettrace.gz")})
	}
	each(t, own)
	t.Run("shared", func(t *testing.T) {
		each(t, recordings.Traces(t, filepath.Join("traces", "stacks")))
		all = true
	})
	return all
}

// An oracle is what TraceEvent makes of a recording.
type oracle struct {
	Frames, Types []string
	Stacks        [][]int
	Totals        []struct {
		Event, Stack int
		Type         string
		Count        int
		Bytes        uint64
	}
	Events [][]int64 // clock, event id, type, bytes, stack
}

// TestOracle: the stacks of all events, frame by frame.
func TestOracle(t *testing.T) {
	events := 0
	all := forEach(t, func(t *testing.T, tr recordings.Trace) {
		path := tr.Beside(".stacks.json.gz")
		if dir := filepath.Dir(tr.Path); dir != "testdata" {
			path = filepath.Join(dir, "..", "..", "oracle", "stacks", tr.Name+".stacks.json.gz")
		}
		if strings.Contains(tr.Path, "-killed.") {
			return
		}
		var want oracle
		if err := json.Unmarshal(recordings.Read(t, path), &want); err != nil {
			t.Fatal(err)
		}
		events += compare(t, recordings.Read(t, tr.Path), &want)
	})
	if want := 198 + 1560; events != want && !all || all && events != want+36_902 {
		t.Errorf("%d events", events)
	}
}

// compare compares the stacks of a recording with those that are wanted, and returns the number of events.
func compare(t *testing.T, recording []byte, want *oracle) int {
	t.Helper()
	type event struct {
		ticks int64
		id    int
		stack uint32
		index int
	}
	var got []event
	b := NewBuilder()
	b.each = func(e *parse.Event, stack uint32) { got = append(got, event{e.Ticks, e.Meta.EventID, stack, len(got)}) }
	if err := b.Read(bytes.NewReader(recording)); err != nil {
		t.Error(err)
	}
	p := &Profile{}
	r := b.resolver(p)
	type row struct {
		clock int64
		id    int
		path  string
	}
	text := func(frames []string) string { return strings.Join(frames, ";") }
	var have, expect []row
	for _, e := range got {
		var frames []string
		for _, f := range p.Stacks[r.stack(e.stack)].Frames {
			frames = append(frames, p.Frames[f].Raw())
		}
		have = append(have, row{e.ticks, e.id, text(frames)})
	}
	for _, e := range want.Events {
		if e[1] != clr.IDGCAllocationTick && e[1] != clr.IDAllocationSampled && e[1] != clr.IDGCTriggered {
			continue
		}
		var frames []string
		for _, f := range want.Stacks[e[4]] {
			frames = append(frames, want.Frames[f])
		}
		expect = append(expect, row{e[0], int(e[1]), text(frames)})
	}
	order := func(a, b row) int {
		return strings.Compare(fmt.Sprintf("%020d %d %s", a.clock, a.id, a.path),
			fmt.Sprintf("%020d %d %s", b.clock, b.id, b.path))
	}
	slices.SortFunc(have, order)
	slices.SortFunc(expect, order)
	if len(have) != len(expect) || len(have) == 0 {
		t.Errorf("%d events, not %d", len(have), len(expect))
		return 0
	}
	wrong := 0
	for i := range have {
		if have[i] != expect[i] {
			if wrong++; wrong <= 3 {
				t.Errorf("event at %d:\n got %v\nwant %v", i, have[i], expect[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d wrong", wrong, len(have))
	}
	return len(have)
}

// TestCalls: every request of a collection has a caller, a reason and a pause, and can be found by the number of the
// collection.
func TestCalls(t *testing.T) {
	var requests uint64
	all := forEach(t, func(t *testing.T, tr recordings.Trace) {
		if !strings.HasSuffix(tr.Name, "-callers") {
			return
		}
		p, err := Read(bytes.NewReader(recordings.Read(t, tr.Path)))
		if err != nil {
			t.Fatal(err)
		}
		numbers := map[*Call]uint64{}
		for n := range uint32(1000) {
			if c := p.CallOf(n); c != nil {
				numbers[c]++
			}
		}
		for i := range p.Calls {
			c := &p.Calls[i]
			if numbers[c] != c.Count {
				t.Errorf("%d collections have the numbers of %d requests", numbers[c], c.Count)
			}
			path, method := p.Caller(c)
			if c.Timed != c.Count || c.Paused < c.Longest || c.Longest == 0 || len(path) == 0 ||
				!strings.HasPrefix(p.Frames[path[len(path)-1]].Namespace, "GcLoad.Shop.") ||
				method != "GC.Collect" && method != "GC.Collect or similar" {
				t.Errorf("%+v %q", c, method)
			}
			requests += c.Count
		}
	})
	if requests != 198 && !all || all && requests != 198+1332 {
		t.Errorf("%d requests", requests)
	}
}

// A site is a place of the program that allocates, and how much it says that it has.
type site struct {
	Path  []string
	Bytes float64
}

// TestTruth: the estimates of what each place of the program has allocated are within their intervals
// of 95 % of what the program says, and all within twice that; so are their sums.
func TestTruth(t *testing.T) {
	var sites, within int
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		b := NewBuilder()
		if err := b.Read(bytes.NewReader(recordings.Read(t, tr.Path))); err != nil &&
			!strings.HasSuffix(tr.Name, "-killed") {
			t.Fatal(err)
		}
		if _, err := os.Stat(tr.Beside(".first.nettrace.gz")); err == nil {
			if err := b.Read(bytes.NewReader(recordings.Read(t, tr.Beside(".first.nettrace.gz")))); err != nil {
				t.Fatal(err)
			}
		}
		p := b.Profile()
		if p.Source == None || strings.HasSuffix(tr.Name, "-names") || strings.HasSuffix(tr.Name, "-callers") ||
			strings.Contains(tr.Path, ".first.") {
			return
		}
		biased := strings.HasPrefix(tr.Name, "core31")
		truth := map[string]float64{}
		all := 0.0
		for line := range strings.Lines(string(recordings.Read(t, tr.Beside(".truth.jsonl.gz")))) {
			var account struct {
				Event string
				Sites []site
			}
			if err := json.Unmarshal([]byte(line), &account); err != nil {
				t.Fatal(err)
			}
			if account.Event != "alloc" {
				continue
			}
			all = 0
			for _, s := range account.Sites {
				name := strings.NewReplacer("+<>c.<Filter>", ".Filter.<lambda>", "`1",
					"").Replace(s.Path[len(s.Path)-1])
				truth[name] = s.Bytes // the last account is of everything since the recording began
				all += s.Bytes
			}
		}
		got := map[string]*Estimate{}
		for _, a := range p.Allocations {
			name := NoStack
			if f := p.AllocatedIn(a.Stack); f >= 0 {
				name = strings.ReplaceAll(p.Frames[f].String(), "<GcLoad.Shop.Cell>", "")
			}
			if got[name] == nil {
				got[name] = &Estimate{}
			}
			got[name].Add(a.Estimate)
		}
		sum := 0.0
		for name := range truth {
			if e := got[name]; e != nil {
				sum += e.Bytes
			}
		}
		if len(truth) != 8 {
			t.Fatalf("%v", truth)
		}
		for name, bytes := range truth {
			e := got[name]
			if e == nil {
				t.Errorf("%s: nothing; %v", name, slices.Collect(maps.Keys(got)))
				continue
			}
			share, margin := p.Share(*e)
			share *= p.Total.Bytes / sum // without the runtime's own allocations
			off := math.Abs(share - bytes/all)
			if biased {
				off = max(0, off-.2*bytes/all)
			}
			sites++
			if off <= margin {
				within++
			}
			if off > 2*margin || math.IsNaN(e.Objects) != biased && !math.IsInf(e.Objects, 0) {
				t.Errorf("%s: %.4f ± %.4f, in truth %.4f; %.0f objects", name, share, margin, bytes/all, e.Objects)
			}
		}
		if x := p.Total.Bytes / all; x < .95 || x > 1.05 && !biased || x > 1.25 {
			t.Errorf("total %.0f of %.0f", p.Total.Bytes, all)
		}
		threads := Estimate{}
		for _, th := range p.Threads {
			threads.Add(th.Estimate)
		}
		if math.Abs(threads.Bytes/p.Total.Bytes-1) > 1e-9 || threads.Events != p.Total.Events {
			t.Errorf("threads have %+v of %+v", threads, p.Total)
		}
	})
	if 100*within < 92*sites || sites == 0 {
		t.Errorf("%d of %d shares are within their interval", within, sites)
	}
	t.Logf("%d of %d shares are within their interval", within, sites)
}

// TestKilled: with what was compiled before, every frame of a program that was killed has a name.
func TestKilled(t *testing.T) {
	for _, tr := range recordings.Traces(t, filepath.Join("traces", "stacks")) {
		if !strings.HasSuffix(tr.Name, "-killed") || strings.HasSuffix(tr.Path, ".first.nettrace.gz") {
			continue
		}
		b := NewBuilder()
		var damage *parse.FormatError
		if err := b.Read(bytes.NewReader(recordings.Read(t, tr.Path))); !errors.As(err, &damage) {
			t.Fatal(err)
		}
		if n := b.Profile().Names; n.Complete || n.Unnamed*100 < n.Frames {
			t.Errorf("%s: %+v", tr.Name, n)
		}
		if err := b.Read(bytes.NewReader(recordings.Read(t, tr.Beside(".first.nettrace.gz")))); err != nil {
			t.Fatal(err)
		}
		p := b.Profile()
		if n := p.Names; !n.Complete || n.Unnamed != 0 || n.Frames == 0 {
			t.Errorf("%s: %+v", tr.Name, n)
		}
		if math.Abs(p.Duration.Seconds()-5) > 3 {
			t.Errorf("%s: %v", tr.Name, p.Duration)
		}
	}
}
