package report

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/view"
)

// keeper keeps the records of a recording: the judge of what a page contains.
type keeper struct {
	list []*gclog.GCDetails
}

// Observe takes a record.
func (k *keeper) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		k.list = append(k.list, d.Clone())
	}
}

// inputOf reads a recording.
func inputOf(t testing.TB, tr recordings.Trace) (*Input, []*gclog.GCDetails) {
	t.Helper()
	var in *Input
	var records keeper
	var s *analysis.Statistics
	var f *analysis.Findings
	_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(p *gclog.Process) gclog.Observer { // some are truncated
		if in != nil {
			return nil
		}
		p.Sync = p.Sync.UTC()
		s, f = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()}), analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())
		in = &Input{Source: tr.Name + ".nettrace", Command: "gclog explain " + tr.Name + ".nettrace", Version: "devel", Facts: []Fact{{"source", tr.Name}}, Process: p, Records: NewRecorder(analysis.Always(), f.List)}
		return gclog.Tee(s.Observe, f.Observe, in.Records.Observe, records.Observe)
	})
	in.Summary, in.Findings, in.NotEvaluated = s.Summary(), f.List(), f.NotEvaluated()
	return in, records.list
}

func written(t testing.TB, d *Data) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element returns the contents of an element with this id.
func element(t testing.TB, page, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<script type="[a-z/]*" id="` + id + `">(.*?)</script>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no %s", id)
	}
	return m[1]
}

func inflated(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A read is a table as the scripts of the page read it: see unpack.js.
type read struct {
	packedTable
	values map[string][]float64 // NaN: unknown
}

func readTable(t testing.TB, layout packedTable, data []byte) (r read, rest []byte) {
	t.Helper()
	r = read{layout, map[string][]float64{}}
	for _, c := range layout.Columns {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		var column []*float64
		if err := json.Unmarshal(line, &column); err != nil {
			t.Fatalf("column %s: %v", c.Key, err)
		}
		values, known := []float64{}, 0
		for _, v := range column {
			if v == nil {
				values = append(values, math.NaN())
				continue
			}
			values = append(values, *v/float64(c.Scale))
			known++
		}
		if len(values) != layout.Rows || known != c.Known {
			t.Fatalf("column %s has %d rows and %d values, want %d and %d", c.Key, len(values), known, layout.Rows, c.Known)
		}
		r.values[c.Key] = values
	}
	done := map[string]bool{}
	var add func(key string)
	add = func(key string) {
		if done[key] {
			return
		}
		done[key] = true
		c := layout.Columns[slices.IndexFunc(layout.Columns, func(c packedColumn) bool { return c.Key == key })]
		for _, base := range c.Base {
			name, before := strings.CutPrefix(base, "<")
			other, there := r.values[name]
			if !there {
				continue
			}
			add(name)
			for i := range r.values[key] {
				k := i
				if before {
					k--
				}
				if k >= 0 && !math.IsNaN(other[k]) {
					r.values[key][i] += other[k]
				}
			}
		}
	}
	for _, c := range layout.Columns {
		add(c.Key)
	}
	return r, data
}

// readPage reads the tables of a page.
func readPage(t testing.TB, page string) (data pageData, gcs, pauses read) {
	t.Helper()
	if err := json.Unmarshal([]byte(element(t, page, "data")), &data); err != nil {
		t.Fatal(err)
	}
	b := inflated(t, element(t, page, "tables"))
	gcs, b = readTable(t, data.GCs, b)
	pauses, _ = readTable(t, data.Pauses, b)
	return data, gcs, pauses
}

// TestNumbers: the columns of the page are the values of the records, and what the page adds up to is
// what the summary says.
func TestNumbers(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		in, records := inputOf(t, tr)
		d := New(in)
		_, gcs, pauses := readPage(t, written(t, d))
		slices.SortStableFunc(records, func(a, b *gclog.GCDetails) int { return int(max(-1, min(started(a)-started(b), 1))) })
		if gcs.Rows != len(records) {
			t.Fatalf("%d rows of %d collections", gcs.Rows, len(records))
		}
		for _, c := range view.Columns() {
			values, there := gcs.values[c.Key]
			if !there {
				continue
			}
			if names := gcs.Columns[slices.IndexFunc(gcs.Columns, func(x packedColumn) bool { return x.Key == c.Key })].Names; names != nil {
				for i, record := range records {
					got := "?"
					if v := values[i]; !math.IsNaN(v) {
						got = names[int(v)]
					}
					if want := c.Text(in.Process, record); !strings.HasPrefix(want, got) && !(got == "?" && want == "-") {
						t.Errorf("%s of collection %d is %q, want %q", c.Key, record.Number, got, want)
					}
				}
				continue
			}
			if c.Value == nil {
				continue
			}
			rounding := 0.5 // of integers; percentages have two decimals
			if c.Unit == "%" {
				rounding = 0.00501
			}
			for i, record := range records {
				want, known := c.Value(record)
				if got := values[i]; known == math.IsNaN(got) || known && math.Abs(got-want) > rounding && want < mostSafe {
					t.Errorf("%s of collection %d is %v, want %v, %v", c.Key, record.Number, got, want, known)
				}
			}
		}
		sum, longest := 0.0, 0.0
		for i, v := range gcs.values["pause.total"] {
			if name := in.Records.gcs.names[in.Records.gcs.column("type")].list; !math.IsNaN(v) && !math.IsNaN(gcs.values["type"][i]) && name[int(gcs.values["type"][i])] != "background" {
				sum += v
				longest = max(longest, v)
			}
		}
		for _, v := range pauses.values["duration"] {
			sum += v
			longest = max(longest, v)
		}
		all := &in.Summary.Classes[analysis.ClassAll].Pauses
		if all.Count > 0 && (math.Abs(sum-all.Total.Value) > 1 || longest != all.Max.Value) {
			t.Errorf("the pauses of the page add up to %v, the longest is %v; the summary has %v and %v", sum, longest, all.Total.Value, all.Max.Value)
		}
		bars := uint64(0)
		for _, b := range in.Records.histogram {
			for _, n := range b {
				bars += n
			}
		}
		if bars != all.Count {
			t.Errorf("the histogram has %d pauses, the summary %d", bars, all.Count)
		}
	})
}

// TestThinnedOften: however many rows there are, as many remain as there is room for, and all maximums.
func TestThinnedOften(t *testing.T) {
	const limit = 1000
	for _, n := range []int{1001, 2000, 2001, 10_000, 300_000} {
		table := newTable(pauseColumns(), limit, "duration", "suspend")
		var most [2]int64
		random := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range n {
			duration, suspend := random.Int64N(1e9), random.Int64N(1e6)
			most[0], most[1] = max(most[0], duration), max(most[1], suspend)
			table.addValues(int64(i), duration, suspend, 0, 0, int64(i))
		}
		table.finish()
		if rows := table.rows(); rows > limit || rows < limit/4 || slices.Max(table.values[1]) != most[0] || slices.Max(table.values[2]) != most[1] {
			t.Errorf("%d rows of %d, the longest %d and %d, want %v", rows, n, slices.Max(table.values[1]), slices.Max(table.values[2]), most)
		}
	}
}

// TestThinned: of too many collections those with the maximums stay, wherever one looks, and what
// findings name.
func TestThinned(t *testing.T) {
	extent.Long(t)
	const n, rows = 20_000, 3000
	in := newWorld(3).observe(n, rows)
	exact := newWorld(3).observe(n, n)
	New(exact)
	d := New(in)
	if got := in.Records.gcs.rows(); got > rows || got < rows/4 {
		t.Errorf("%d rows", got)
	}
	if !strings.Contains(d.Thinned, "of 20,000") {
		t.Errorf("it says %q", d.Thinned)
	}
	thin, full := in.Records.gcs, exact.Records.gcs
	window := thin.width
	for _, c := range full.maximum {
		most := map[int]int64{} // by window of consecutive collections
		for i, id := range thin.ids {
			most[id/window] = max(most[id/window], thin.values[c][i])
		}
		for from := 0; from+window <= n; from += window {
			if want := slices.Max(full.values[c][from : from+window]); most[from/window] != want {
				t.Errorf("the largest %s of collections %d to %d is %d, want %d", full.columns[c].Key, from, from+window, most[from/window], want)
			}
		}
	}
	explained := map[int64]bool{}
	for _, row := range d.page.Explained {
		explained[thin.values[thin.column("number")][row]] = true
	}
	for _, f := range in.Findings {
		for _, number := range f.GCs {
			if !explained[int64(number)] {
				t.Errorf("collection %d of %s is not explained", number, f.Rule.ID)
			}
		}
	}
	if len(explained) != MostExplained {
		t.Errorf("%d collections are explained", len(explained))
	}
}

// TestExplained: the texts in the page are those of explain.
func TestExplained(t *testing.T) {
	tr := recordings.Repository(t)[0]
	in, records := inputOf(t, tr)
	page := written(t, New(in))
	var list []explanation
	if err := json.Unmarshal(inflated(t, element(t, page, "explanations")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != min(len(records), MostExplained) {
		t.Fatalf("%d explanations of %d collections", len(list), len(records))
	}
	peers := analysis.NewPeers()
	for _, d := range records {
		peers.Observe(d)
	}
	e := analysis.Explain(records[0], analysis.Context{Process: in.Process, HasBegin: true, Peers: peers})
	var want, got []string
	for _, s := range slices.Concat(e.What, e.Trigger, e.Generation, e.Pause, e.Result, e.Comparison) {
		want = append(want, s.Text)
	}
	for _, s := range list[0].Sections {
		if s.Title != "Unknown" {
			got = append(got, s.Texts...)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// hostile is what a process may be called.
const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\x1b[31m\u0000\"'`${x}{{.}}|*_#1 @someone https://evil.example www.evil.example"

// hostileStacks are the call stacks of a program whose methods have such names.
func hostileStacks() *Stacks {
	grid := Grid{Caption: "What", Head: []string{"bytes", "name"}, Rows: [][]string{{"1 B", hostile}}}
	return &Stacks{
		Notes: []string{hostile}, Allocated: "100 B allocated.", Types: grid, Paths: grid, Requested: "1 collection.",
		Callers: Grid{Caption: "Who", Head: []string{"count", "call", "caller"}, Rows: [][]string{{"1", hostile, hostile}}},
		Tree: &Node{Name: "all threads", Bytes: 100, Below: []*Node{
			{Name: hostile, Bytes: 60, Count: 3, Below: []*Node{{Name: hostile, Bytes: 50, Count: 2}, {Name: "other", Bytes: 10}}},
			{Name: "Shop.Cart.Load", Bytes: 40, Count: 7},
		}},
	}
}

// TestHostile: names of a process are text.
func TestHostile(t *testing.T) {
	w := newWorld(5)
	in := w.observe(300, 1000)
	in.Process.Name, in.Source, in.Command = hostile, hostile, hostile+strings.Repeat("x", 1<<20)
	in.Facts = []Fact{{"command line", hostile + strings.Repeat("long ", 1<<18)}}
	in.Snapshots = []*Snapshot{{
		Name: hostile, Incomplete: hostile, Facts: []Fact{{"file", hostile}}, Tree: &Node{Name: hostile, Bytes: 1},
		Types: []Type{{Name: hostile}}, Before: hostile, Growth: []Growth{{Name: hostile}}, Roots: Grid{Rows: [][]string{{hostile}}},
		Suspects: []Suspect{{Text: hostile, Held: hostile, Path: []string{hostile}, Advice: hostile, Below: Grid{Rows: [][]string{{hostile}}}}},
	}}
	in.Stacks = hostileStacks()
	d := New(in)
	page := written(t, d)
	for _, bad := range []string{"<img", "<script>alert", "\u202e", "\x1b", "\x00"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if got := strings.Count(page, "<script"); got != 7 {
		t.Errorf("%d scripts", got)
	}
	if len(page) > 1<<20 {
		t.Errorf("%d bytes", len(page))
	}
	for _, name := range []string{"explanations", "heaps", "stacks"} {
		if b := inflated(t, element(t, page, name)); bytes.ContainsAny(b, "\u202e\x1b") {
			t.Errorf("%s contain control characters", name)
		}
	}
	var md bytes.Buffer
	if err := d.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<img", "<script", "\u202e", "\x1b", " #1", "@someone", "https://", "www."} {
		if strings.Contains(md.String(), bad) {
			t.Errorf("Markdown contains %q", bad)
		}
	}
}

// TestPolicy: the page allows no scripts and styles but those in it.
func TestPolicy(t *testing.T) {
	page := written(t, New(newWorld(1).observe(10, 100)))
	_, rest, _ := strings.Cut(page, `http-equiv="Content-Security-Policy" content="`)
	policy, _, _ := strings.Cut(rest, `"`)
	policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %s", policy)
	}
	inline := regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(page, -1)
	if len(inline) != 3 {
		t.Fatalf("%d scripts and styles", len(inline))
	}
	for _, m := range inline {
		sum := sha256.Sum256([]byte(m[2]))
		if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %s does not allow a %s with %s", policy, m[1], want)
		}
	}
	if loads := regexp.MustCompile(`(?i)<[a-z]+ [^>]*\b(src|srcset|action|background)=|@import|\burl\([^#]`).FindString(strings.ReplaceAll(page, element(t, page, "tables"), "")); loads != "" {
		t.Errorf("the page has %s", loads)
	}
}

// TestScripts: our scripts only make texts, and cannot end their element.
func TestScripts(t *testing.T) {
	for _, name := range append(slices.Clone(scripts), "uplot/uPlot.iife.min.js") {
		text := file(name)
		for _, bad := range []string{"</script", "<!--", "<script"} {
			if strings.Contains(strings.ToLower(text), bad) {
				t.Errorf("%s contains %s", name, bad)
			}
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(", "XMLHttpRequest", "import("} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %s", name, bad)
			}
		}
	}
}

// TestVendored: uPlot is the published file.
func TestVendored(t *testing.T) {
	for name, want := range map[string]string{
		"uplot/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uplot/uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
	} {
		sum := sha256.Sum256([]byte(file(name)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has the SHA-256 %s, want %s", name, got, want)
		}
	}
	if !strings.Contains(file("uplot/LICENSE"), "Permission is hereby granted") {
		t.Error("there is no license of uPlot")
	}
}

// TestGolden: what a page shows without scripts, and the Markdown.
func TestGolden(t *testing.T) {
	for _, tr := range recordings.Repository(t) {
		if tr.Name != "net10-wks-oom" {
			continue
		}
		in, _ := inputOf(t, tr)
		d := New(in)
		page := regexp.MustCompile(`(?s)<script.*</script>\n|<style>.*?</style>\n|<meta http-equiv[^>]*>\n`).ReplaceAllString(written(t, d), "")
		generated.File(t, "testdata/"+tr.Name+".html", page)
		var md bytes.Buffer
		if err := d.WriteMarkdown(&md); err != nil {
			t.Fatal(err)
		}
		generated.File(t, "testdata/"+tr.Name+".md", md.String())
	}
}

// TestCompare: a comparison has the numbers of both summaries, and says which findings are new.
func TestCompare(t *testing.T) {
	extent.Long(t)
	a, b := newWorld(1).observe(500, 1000), newWorld(2).observe(2000, 1000)
	b.Findings = b.Findings[1:]
	c := Compare(a, b)
	for _, m := range c.Metrics {
		i := slices.IndexFunc(a.Summary.Metrics(), func(x analysis.Metric) bool { return x.Name == m.Name })
		if want := cell(a.Summary.Metrics()[i].Number); m.Before != want {
			t.Errorf("%s was %s, want %s", m.Name, m.Before, want)
		}
		if want := cell(b.Summary.Metrics()[i].Number); m.After != want {
			t.Errorf("%s is %s, want %s", m.Name, m.After, want)
		}
	}
	if len(c.Metrics) < 20 || len(c.Gone) == 0 || c.Gone[0].Rule != a.Findings[0].Rule.ID {
		t.Errorf("%d metrics, gone: %v", len(c.Metrics), c.Gone)
	}
	n := func(v float64, unit string) analysis.Number { return analysis.Number{Value: v, Unit: unit} }
	for _, x := range []struct {
		a, b analysis.Number
		want string
	}{
		{n(10, "ns"), n(15, "ns"), "+50 %"},
		{n(10, "ns"), n(5, "ns"), "−50 %"},
		{n(10, "%"), n(15, "%"), "+5 points"},
		{n(0, ""), n(5, ""), "–"},
		{n(5, ""), n(5, ""), "0 %"},
		{analysis.Number{Why: "unknown"}, n(5, ""), "–"},
	} {
		if got := change(x.a, x.b); got != x.want {
			t.Errorf("from %v to %v: %s, want %s", x.a, x.b, got, x.want)
		}
	}
	var page bytes.Buffer
	if err := c.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "Only in A") {
		t.Errorf("the page says nothing of the finding that is gone: %v", err)
	}
}

// TestNothing: a recording without a collection has a page that says so.
func TestNothing(t *testing.T) {
	d := New(newWorld(1).observe(0, 100))
	if page := written(t, d); d.Histogram != nil || !strings.Contains(page, "Findings") {
		t.Error("the page of nothing has a histogram, or no findings")
	}
}
