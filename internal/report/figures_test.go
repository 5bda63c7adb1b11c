package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/view"
)

// withoutScripts returns what a page shows where scripts cannot run.
func withoutScripts(t *testing.T, d *Data) string {
	t.Helper()
	return regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(written(t, d), "")
}

// figure returns a chart of a page.
func figure(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<figure class="chart" data-chart="` + name + `">.*?</figure>`).FindString(page)
	if m == "" {
		t.Fatalf("there is no chart %s", name)
	}
	return m
}

// TestStatic: without scripts every chart is a table, or says why there is none, and the numbers are
// those of the records.
func TestStatic(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		in, records := inputOf(t, tr)
		page := withoutScripts(t, New(in))
		for _, name := range []string{"pauses", "heap", "generations", "budgets", "allocation", "balance", "background"} {
			f := figure(t, page, name)
			if strings.Contains(f, "<table") == strings.Contains(f, `class="missing"`) && !strings.Contains(f, "Not recorded") {
				t.Errorf("the chart %s is\n%s", name, f)
			}
		}
		var sizes []float64
		longest := int64(-1)
		for _, d := range records {
			if d.Known.Has(gclog.GroupAfter) {
				sizes = append(sizes, float64(d.SizeAfter()))
			}
			for _, p := range d.Pauses {
				longest = max(longest, p.Duration)
			}
		}
		if len(sizes) > 0 {
			text := func(v float64) string { return `<td class="num">` + view.Text(v, "bytes") + "</td>" }
			// In the order of time records may be in another order than here: only the extremes are compared.
			if want := text(slices.Min(sizes)) + text(slices.Max(sizes)); !strings.Contains(figure(t, page, "heap"), want) {
				t.Errorf("the chart of the heap does not contain %s", want)
			}
		}
		if longest > 0 && !strings.Contains(figure(t, page, "pauses"), ">"+view.Text(float64(longest), "ns")+"<") {
			t.Errorf("the pauses are without the longest, %d ns", longest)
		}
		_, table, _ := strings.Cut(page, `<div id="table">`)
		table, _, _ = strings.Cut(table, "</section>")
		if got, want := strings.Count(table, "<tr>")-1, min(len(records), staticCollections); want > 0 && got != want {
			t.Errorf("the table has %d collections, want %d", got, want)
		}
	})
}

// TestMissing: what a page says of an empty chart is true of the history.
func TestMissing(t *testing.T) {
	noBudgets := func(d *gclog.GCDetails) {
		for g := range d.Generations {
			d.Generations[g].Budget = 0
		}
	}
	last := func(change func(*gclog.GCDetails)) *Input {
		in := newWorld(1).observe(0, 100)
		d := newWorld(1).next()
		change(d)
		in.Records.Observe(d)
		return in
	}
	for _, x := range []struct {
		in           *Input
		format, name string
		want         string
	}{
		{newWorld(1).observe(0, 100), "json", "heap", "No collection was recorded."},
		{newWorld(1).observe(0, 100), "json", "background", "No collection was recorded."},
		{last(func(d *gclog.GCDetails) { d.Kind = gclog.KindBlocking }), "json", "background", "No background collection ran."},
		{last(func(d *gclog.GCDetails) {
			d.Peak, d.Memory = 0, gclog.Memory{}
			d.Known &^= gclog.GroupAfter | gclog.GroupBefore | gclog.GroupCommittedAfter
		}), "", "heap", "None of the collections reports the size of the heap."},
		{last(noBudgets), "csv", "budgets", "Logs in csv do not contain allocation budgets: recordings and logs in json do."},
		{last(noBudgets), "json", "budgets", "None of the collections reports allocation budgets."},
		{last(func(d *gclog.GCDetails) {
			d.Window, d.AllocationRate = 0, 0
			d.Known &^= gclog.GroupAllocated | gclog.GroupGenerationAllocated | gclog.GroupSinceLast
		}), "json", "allocation", "The allocation rate needs two collections."},
	} {
		x.in.Format = x.format
		if got := New(x.in).Figures[x.name]; got.Missing != x.want {
			t.Errorf("%s, %s: %q, %v, want %q", x.format, x.name, got.Missing, got.Table, x.want)
		}
	}
	one := last(func(*gclog.GCDetails) {})
	one.Process.HeapCount = 1
	if got, want := New(one).Figures["balance"].Missing, "There is one heap: only server GC has several."; got != want {
		t.Errorf("balance: %q, want %q", got, want)
	}

	// Conditions: none was met, none is known, or the format has none.
	for _, x := range []struct {
		known        bool
		format, want string
	}{
		{true, "json", "Conditions are recorded for 1 collection; none was met."},
		{false, "json", "None of the collections reports why a generation was condemned."},
		{false, "csv", "Logs in csv do not contain why a generation was condemned: recordings and logs in json do."},
	} {
		in := last(func(d *gclog.GCDetails) { d.Global.HasCondemned = x.known })
		in.Format = x.format
		d := New(in)
		if d.NoConditions != x.want || !strings.Contains(withoutScripts(t, d), x.want) {
			t.Errorf("%v, %s: %q, want %q", x.known, x.format, d.NoConditions, x.want)
		}
	}
}

// TestOtherProcess: a snapshot of another process than that of the log says so, everywhere.
func TestOtherProcess(t *testing.T) {
	in := newWorld(1).observe(10, 100)
	in.Process.Started = in.Process.Sync.Add(-time.Hour)
	at := in.Process.Sync.Add(time.Second)
	in.Snapshots = []*Snapshot{
		{Name: "a", PID: 4711, Process: "Shop.Api", Time: at},
		{Name: "b", PID: 8, Process: "Jobs", Time: at},
		{Name: "c", PID: 4711, Time: at.Add(-2 * time.Hour)},
		{Name: "d"},
	}
	d := New(in)
	var got []string
	for _, s := range d.Snapshots {
		got = append(got, s.Other)
	}
	want := []string{"", "This snapshot is of process 8 (Jobs), the log of process 4711 (Shop.Api).", "This snapshot was taken before the process of the log was started, at 2026-11-21 07:00:00 UTC: it is of an earlier one.", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var md strings.Builder
	if err := d.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, text := range want[1:3] {
		if !strings.Contains(withoutScripts(t, d), text) || !strings.Contains(md.String(), escaped(text)) {
			t.Errorf("the page or the Markdown does not say %q", text)
		}
	}
	if m := d.page.Marks; len(m) != 3 || m[0].Text != "heap snapshot a" || m[1].Text != "heap snapshot b of process 8" {
		t.Errorf("the marks are %v", m)
	}
}

// TestLatestUnknown: the tile has the latest size that is known, and says that there is a later
// collection.
func TestLatestUnknown(t *testing.T) {
	in := newWorld(1).observe(300, 1000)
	in.Summary.Heap.LastGen2.Why, in.Summary.Heap.LastGen2.Value = "the latest gen2 collection does not report the size of the heap", 0
	tile := New(in).Tiles[2]
	if tile.Value == "n/a" || tile.Trend == nil || tile.Value != view.Text(tile.Trend.Last, "bytes") || !slices.Contains(tile.Notes, in.Summary.Heap.LastGen2.Why) {
		t.Errorf("the tile is %+v", tile)
	}
}

// TestOutline: the parts of a snapshot are in the page before its scripts have run.
func TestOutline(t *testing.T) {
	s := &Snapshot{Name: "a", Tree: &Node{Name: "all roots", Bytes: 1000, Below: []*Node{
		{Name: "static Cache", Bytes: 900, Count: 1, Below: []*Node{{Name: "Dictionary", Bytes: 800, Count: 2}}},
		{Name: "dust", Bytes: 5},
		{Name: "Thread", Bytes: 90, Count: 12_000},
	}}}
	for i := range 60 {
		s.Types = append(s.Types, Type{Name: "Type" + strings.Repeat("x", i), Objects: 1, Bytes: uint64(60 - i), Retained: 7})
	}
	page := withoutScripts(t, New(&Input{Source: "a", Snapshots: []*Snapshot{s}}))
	want := [][]string{{"900 B", "1", "static Cache"}, {"800 B", "2", "\u2003Dictionary"}, {"90 B", "12,000", "Thread"}}
	if got := s.Outline().Rows; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the outline is %q, want %q", got, want)
	}
	for _, text := range []string{"\u2003Dictionary", "The first 50 of 60 types", ">Type" + strings.Repeat("x", 49) + "<"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not contain %s", text)
		}
	}
}
