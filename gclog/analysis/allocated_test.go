package analysis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// tick passes on an allocation tick.
func tick(a *analysis.Types, at int64, id uint64, name string, bytes uint64) {
	var text clr.UTF16
	for _, u := range utf16.Encode([]rune(name)) {
		text = append(text, byte(u), byte(u>>8))
	}
	a.Event(gclog.Stamp{Time: at}, &clr.GCAllocationTick{TypeID: id, TypeName: text, Amount: bytes}, nil)
}

// TestAllocated checks that shares are of all bytes in the window, including those without a name,
// and that types with the same name are one.
func TestAllocated(t *testing.T) {
	a := analysis.NewTypes(analysis.Window{From: 10, To: 20})
	if x := a.Allocated(5); len(x.Types) > 0 || x.Samples.Known() || x.Sampled.Known() {
		t.Errorf("of nothing there are %v", x)
	}
	tick(a, 9, 1, "early", 1000)
	tick(a, 20, 1, "late", 1000)
	tick(a, 10, 1, "A", 300)
	tick(a, 19, 2, "A", 300)
	tick(a, 15, 3, "B", 300)
	tick(a, 15, 0, "", 100)
	x := a.Allocated(5)
	if x.Samples.Value != 4 || x.Sampled.Value != 1000 {
		t.Errorf("%v samples of %v bytes", x.Samples, x.Sampled)
	}
	var got string
	for _, x := range x.Types {
		got += fmt.Sprintf("%s %.0f ", x.Type, x.Share.Value)
	}
	if got != "A 60 B 30 " {
		t.Errorf("the types are %s", got)
	}
	if x := a.Allocated(1); len(x.Types) != 1 || x.Named != 2 {
		t.Errorf("the largest is %v", x)
	}
}

// TestAllocatedHostile checks that shares are valid whatever amounts a file contains.
func TestAllocatedHostile(t *testing.T) {
	a := analysis.NewTypes(analysis.Always())
	tick(a, 1, 1, "A", 0)
	if list := a.Allocated(5).Types; len(list) > 0 {
		t.Errorf("of no bytes there are %v", list)
	}
	for i := range uint64(3000) {
		tick(a, 1, i, fmt.Sprint("T", i), math.MaxUint64-i)
	}
	for _, x := range a.Allocated(9999).Types {
		if !(x.Share.Value >= 0 && x.Share.Value <= 100 && x.Error.Value >= 0 && x.Error.Value <= 100) {
			t.Fatalf("%+v", x)
		}
	}
	if n := a.Allocated(1).Named; n > 1024 {
		t.Errorf("%d types are kept", n)
	}
}

// TestAllocatedError simulates a program that allocates objects of known types, and ticks as the
// runtime sends them: for every 100 KB, with the type of the object that completed them. The margin
// must contain the true share in 95 of 100 cases, also for a single sample.
func TestAllocatedError(t *testing.T) {
	extent.Long(t)
	r := rand.New(rand.NewPCG(7, 8))
	sizes := map[string]float64{"System.String": 60, "System.Byte[]": 4000, "Shop.Order": 200, "Shop.Rare": 24}
	names := slices.Sorted(maps.Keys(sizes))
	all, right, width := 0, 0, 0.0
	for range 300 {
		a := analysis.NewTypes(analysis.Always())
		weights, sum := map[string]float64{}, 0.0
		for _, name := range names {
			weights[name] = r.Float64()
			sum += weights[name]
		}
		allocated, total, since := map[string]float64{}, 0.0, 0.0
		for ticks := 1 + r.IntN(150); ticks > 0; {
			x, name := r.Float64()*sum, ""
			for _, name = range names {
				if x -= weights[name]; x < 0 {
					break
				}
			}
			size := sizes[name] * r.ExpFloat64()
			allocated[name] += size
			total += size
			if since += size; since > 102_400 {
				tick(a, 1, uint64(len(name)), name, uint64(since))
				since = 0
				ticks--
			}
		}
		for _, x := range a.Allocated(len(names)).Types {
			all++
			if truth := 100 * allocated[x.Type] / total; math.Abs(x.Share.Value-truth) <= x.Error.Value {
				right++
			}
			width += x.Error.Value / 100
		}
	}
	t.Logf("the error holds %d of %d shares, and is %.2g on average", right, all, width/float64(all))
	if share := float64(right) / float64(all); share < 0.93 || share > 0.995 {
		t.Error("that is not 95 of 100")
	}
}

// TestAllocatedRecordings compares shares with those counted from the events; without ticks there
// are none. The ticks stand for the bytes that the program says it allocated.
func TestAllocatedRecordings(t *testing.T) {
	seen := 0
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		if strings.HasPrefix(tr.Name, "v6-") { // of several processes, some without versions
			return
		}
		stream := recordings.Read(t, tr.Path)
		s, types := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()}), analysis.NewTypes(analysis.Always())
		read(t, stream, func(*gclog.Process) gclog.Observer { return s.Observe }, func(*gclog.Process) gclog.EventObserver { return types.Event })
		want, total, ticks := map[string]float64{}, 0.0, uint64(0)
		r := parse.NewReader(bytes.NewReader(stream), parse.All)
		var d *clr.Decoder
		for r.Scan() {
			e := r.Event()
			if e == nil || e.Meta.Provider != clr.RuntimeProvider || e.Meta.EventID != clr.IDGCAllocationTick {
				continue
			}
			if d == nil {
				d = clr.NewDecoder(r.Trace().PointerSize)
			}
			event, err := d.Decode(e)
			x, ok := event.(*clr.GCAllocationTick)
			if !ok {
				t.Fatalf("a tick that is %v: %v", event, err)
			}
			ticks++
			want[x.TypeName.String()] += float64(x.Amount)
			total += float64(x.Amount)
		}
		most := types.Allocated(9999)
		if most.Samples.Value != float64(ticks) || most.Sampled.Value != total {
			t.Errorf("%v samples of %v bytes, want %d of %v", most.Samples, most.Sampled, ticks, total)
		}
		list := most.Types
		if ticks > 0 && len(list) == 0 || len(list) != len(want) {
			t.Errorf("%d types, want %d", len(list), len(want))
		}
		before := 100.0
		for _, x := range list {
			if math.Abs(x.Share.Value-100*want[x.Type]/total) > 1e-9 || x.Share.Value > before {
				t.Errorf("%+v, want %v", x, 100*want[x.Type]/total)
			}
			before = x.Share.Value
		}
		if ticks == 0 {
			return
		}
		seen++
		// Ticks count what threads were given to allocate from, which they need not have used up.
		if marked, all := programAllocated(t, tr); all > 0 && (total < 0.97*marked || total > 1.08*all) {
			t.Errorf("the ticks stand for %v bytes, the program allocated %v between its marks, and %v", total, marked, all)
		}
	})
	if seen == 0 {
		t.Error("no recording has ticks")
	}
}

// programAllocated returns what a program says it allocated between its marks, during the session,
// and in total; 0 if it does not.
func programAllocated(t *testing.T, tr recordings.Trace) (marked, all float64) {
	path := tr.Beside(".truth.jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		return 0, 0
	}
	marks := map[string]float64{}
	for line := range bytes.Lines(recordings.Read(t, path)) {
		var m struct {
			Event, Label string
			Allocated    float64
		}
		if json.Unmarshal(line, &m) == nil && m.Event == "mark" && marks[m.Label] == 0 {
			marks[m.Label] = m.Allocated
		}
	}
	return marks["end"] - marks["begin"], marks["end"]
}
