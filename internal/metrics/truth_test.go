package metrics

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A record is a line of a JSON log.
type record map[string]any

// at returns the value at a path, nil if there is none.
func (r record) at(path ...string) any {
	var v any = map[string]any(r)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (r record) number(path ...string) float64 {
	n, _ := r.at(path...).(float64)
	return n
}

// of is number for a path within dotnet.gc.
func (r record) of(path ...string) float64 {
	return r.number(append([]string{"dotnet", "gc"}, path...)...)
}

func (r record) text(path ...string) string {
	s, _ := r.at(path...).(string)
	return s
}

// fromLog computes the numbers of docs/metrics.md from the lines of a log, as somebody would who has
// nothing else.
func fromLog(list []record) map[string]float64 {
	n := map[string]float64{}
	generations := []string{"gen0", "gen1", "gen2", "loh", "poh"}
	for _, g := range generations[:3] {
		n["dotnet.gc.collections "+g] = 0
	}
	for _, name := range []string{"dotnet.gc.pause.time", "gclog.gc.resume.time", "gclog.gc.other_pause.time", "gclog.gc.promoted", "gclog.gcs_incomplete", "gclog.gcs_missed", "gclog.events_lost", "gclog.records_dropped", "gclog.gc.stalls suspension", "gclog.gc.stalls gc"} {
		n[name] = 0
	}
	n["gclog.process.info"] = 1
	for _, r := range list {
		gc, _ := r.at("dotnet", "gc").(map[string]any)
		switch r.text("event", "action") {
		case "gc-suspension":
			n["gclog.gc.other_pause.time"] += r.of("suspension", "ns") / 1e9
			continue
		case "gc-gap":
			n["gclog.events_lost"] += r.of("gap", "lost_events", "count")
			n["gclog.records_dropped"] += r.of("gap", "records", "count")
			if why := r.text("dotnet", "gc", "gap", "reason"); (why == "reattached" || why == "missed-gcs") && r.of("gap", "to") > 0 {
				n["gclog.gcs_missed"] += r.of("gap", "to") - r.of("gap", "from") + 1
			}
			continue
		case "gc-stall":
			n["gclog.gc.stalls "+r.text("dotnet", "gc", "stall", "kind")]++
			continue
		case "gc-session-end":
			if why := r.text("event", "reason"); why != "detached" && why != "stream-error" && why != "end-of-recording" {
				n["gclog.process.ended "+why] = 1
			}
			continue
		case "gc":
		default:
			continue
		}
		g := generations[int(min(r.of("generation"), 2))]
		n["dotnet.gc.collections "+g]++
		parts, _ := r.at("dotnet", "gc", "pause", "parts").([]any)
		for _, x := range parts {
			part := record(x.(map[string]any))
			kind := "blocking"
			if k := part.text("kind"); k == "initial" || k == "final" {
				kind = "background"
			}
			resume := 0.0
			if part.at("resume") != nil {
				resume = part.number("resume", "ns") / 1e9
			}
			n["dotnet.gc.pause.time"] += part.number("ns")/1e9 - resume
			n["gclog.gc.resume.time"] += resume
			n["dotnet.gc.pause.duration "+g+" "+kind+" sum"] += part.number("ns") / 1e9
			n["dotnet.gc.pause.duration "+g+" "+kind+" count"]++
			if part.at("suspend") != nil && part.number("suspend", "ns") > 0 {
				n["gclog.gc.suspend sum"] += part.number("suspend", "ns") / 1e9
				n["gclog.gc.suspend count"]++
			}
		}
		if r.at("event", "duration") != nil {
			group := r.text("dotnet", "gc", "reason_group")
			if group == "" {
				group = "unknown"
			}
			key := "gclog.gc.duration " + g + " " + r.text("dotnet", "gc", "type") + " " + group
			n[key+" sum"] += r.number("event", "duration") / 1e9
			n[key+" count"]++
		}
		if r.at("dotnet", "gc", "complete") != true {
			n["gclog.gcs_incomplete"]++
		}
		n["gclog.gc.promoted"] += r.of("heap", "promoted", "bytes")
		if gc["allocated"] != nil {
			n["dotnet.gc.heap.total_allocated"] += r.of("allocated", "bytes")
		}
		for _, h := range generations {
			if r.at("dotnet", "gc", h, "after") != nil {
				n["dotnet.gc.last_collection.heap.size "+h] = r.of(h, "after", "bytes")
			}
			if r.at("dotnet", "gc", h, "fragmentation") != nil {
				n["dotnet.gc.last_collection.heap.fragmentation.size "+h] = r.of(h, "fragmentation", "bytes")
			}
		}
		last := func(name string, scale float64, path ...string) {
			if r.at(append([]string{"dotnet", "gc"}, path...)...) != nil {
				n[name] = r.of(path...) * scale
			}
		}
		last("dotnet.gc.last_collection.memory.committed_size", 1, "heap", "committed", "bytes")
		last("gclog.gc.pinned_objects", 1, "pinned", "count")
		last("gclog.gc.memory_load", 1, "memory_load", "pct")
		if g == "gen2" {
			last("gclog.gc.last_full_collection.heap.size", 1, "heap", "after", "bytes")
		}
		last("gclog.gc.heap_hard_limit", 1, "hard_limit", "bytes")
	}
	return n
}

// counted returns what a Process counted, in the same form.
func counted(v *View) map[string]float64 {
	n := map[string]float64{}
	for _, f := range (Naming{}).Families() {
		name := func(set *Set) string {
			s := f.Name
			for _, a := range set.Attributes {
				if f.Name != "gclog.process.info" {
					s += " " + a.Value
				}
			}
			return s
		}
		f.Points(v, Points{
			Value: func(x float64, set *Set) { n[name(set)] = x },
			Histogram: func(h *Histogram, set *Set) {
				n[name(set)+" sum"], n[name(set)+" count"] = h.Sum(), float64(h.Count())
			},
		})
	}
	delete(n, "gclog.gc.last_timestamp")                   // the log has it as text
	delete(n, "gclog.verdict.info "+string(v.state.cause)) // what it comes from does not judge itself
	return n
}

// TestTruth: what is counted of recordings is what their JSON logs contain.
func TestTruth(t *testing.T) {
	extent.Long(t)
	json1, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		in, err := history.Open([]string{tr.Path}, history.Options{})
		if err != nil {
			t.Skip(err)
		}
		defer in.Close()
		type pair struct {
			counts *Process
			log    *bytes.Buffer
			both   gclog.Observer
		}
		var all []pair
		_ = in.ReadAll(func(known *gclog.Process) gclog.Observer { // damaged recordings end in an error
			x := pair{NewRegistry().Process(), &bytes.Buffer{}, nil}
			x.both = gclog.Tee(x.counts.Observe(known), formats.NewWriter(json1, formats.NewStream(x.log, false), formats.Options{Process: *known}).Observe)
			all = append(all, x)
			return x.both
		})
		for i, x := range all {
			x.both(&gclog.End{Reason: gclog.EndsOfProcess[(i+len(tr.Name))%len(gclog.EndsOfProcess)]})
			var list []record
			for line := range bytes.Lines(x.log.Bytes()) {
				var r record
				if err := json.Unmarshal(line, &r); err != nil {
					t.Fatal(err)
				}
				list = append(list, r)
			}
			want := fromLog(list)
			x.counts.registry.Read(Scraper, func(views []View) int {
				got := counted(&views[0])
				if _, limited := want["gclog.gc.heap_hard_limit"]; !limited {
					delete(got, "gclog.gc.heap_hard_limit") // known before the first collection
				}
				if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-9), cmpopts.EquateNaNs()); d != "" {
					t.Error(d)
				}
				return 1
			})
		}
	})
}
