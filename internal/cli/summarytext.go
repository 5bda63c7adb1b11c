package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/screen"
)

// A summaryText is a summary for people.
type summaryText struct {
	bytes.Buffer
	h     *history
	s     *analysis.Summary
	a     *assessment
	paint func(screen.Style, string) string
	lacks []lack // why something is n/a
}

// A lack is why some numbers are not known.
type lack struct {
	why   string
	names []string
}

func (p *program) printSummary(h *history, a *assessment) error {
	t := &summaryText{h: h, s: a.statistics.Summary(), a: a, paint: screen.Painter(screen.Colored(p.stdout))}
	t.head()
	if t.s.Classes[analysis.ClassAll].Pauses.Count > 0 {
		t.pauses()
	}
	t.collections()
	if t.s.Classes[analysis.ClassAll].Count > 0 {
		t.heap()
	}
	t.data()
	t.findings(a.findings)
	t.unknown()
	_, err := t.WriteTo(p.out)
	return err
}

// num is a number for people. Why it is not known is told at the end, once for all that
// lack the same.
func (t *summaryText) num(name string, n analysis.Number, unit string) string {
	if !n.Known() {
		i := slices.IndexFunc(t.lacks, func(l lack) bool { return l.why == n.Why })
		if i < 0 {
			i = len(t.lacks)
			t.lacks = append(t.lacks, lack{why: n.Why})
		}
		if l := &t.lacks[i]; !slices.Contains(l.names, name) {
			l.names = append(l.names, name)
		}
	}
	return n.Text(unit)
}

func (t *summaryText) title(s string) { fmt.Fprintf(t, "\n%s\n", s) }

// line prints a name and what is to be said of it.
func (t *summaryText) line(name, format string, args ...any) {
	const indent = 18
	var b bytes.Buffer
	wrapped(&b, indent, fmt.Sprintf(format, args...))
	fmt.Fprintf(t, "  %-*s%s", indent-2, name, b.Bytes()[indent:])
}

// told prints a line that begins with a number, or that it is not known.
func (t *summaryText) told(name string, n analysis.Number, unit, format string, args ...any) {
	text := t.num(name, n, unit)
	if !n.Known() {
		t.line(name, "%s", text)
		return
	}
	t.line(name, format, append([]any{text}, args...)...)
}

// head says what the summary is about.
func (t *summaryText) head() {
	p := t.h.process
	fmt.Fprintln(t, oneLine(t.h.source()))
	who := strconv.FormatInt(p.ID, 10)
	if p.ID == 0 {
		who = "n/a (nothing tells its number)"
	}
	for _, s := range []string{p.Name, p.CommandLine} {
		if s != "" {
			who += "  " + oneLine(shorten(s, textWidth-len(who)-20))
			break
		}
	}
	t.line("process", "%s", who)
	t.line("runtime", "%s", oneLine(runtimeText(p)))
	w := t.s.Window
	part := ""
	if t.h.window != analysis.Always() {
		part = fmt.Sprintf(", of %s to %s", clockText(p, t.h.begin), clockText(p, t.h.end))
	}
	observed := ""
	if t.s.Unobserved > 0 {
		observed = " of it observed"
	}
	t.line("time", "%s to %s UTC, %s%s%s", p.Time(w.From).UTC().Format("2006-01-02 15:04:05.000"), clockText(p, w.To), t.num("time", t.s.Duration, "ns"), observed, part)
}

// runtimeText is what is known of the runtime and its GC.
func runtimeText(p *gclog.Process) string {
	var known []string
	if p.RuntimeVersion != "" {
		known = append(known, ".NET "+p.RuntimeVersion)
	}
	if p.Flavor != "" && p.Flavor != gclog.FlavorCoreCLR {
		known = append(known, p.Flavor)
	}
	if gc := doctor.GC(p); gc != "" {
		known = append(known, gc+" GC")
	}
	switch {
	case p.HeapCount == 1:
		known = append(known, "1 heap")
	case p.HeapCount > 1:
		known = append(known, fmt.Sprintf("%d heaps", p.HeapCount))
	}
	if len(known) == 0 {
		return "n/a (the events that tell it are not there)"
	}
	return strings.Join(known, ", ")
}

// A column is a number of the classes.
type column struct {
	head, unit string
	of         func(*analysis.Rollup) analysis.Number
}

func countOf(n uint64) analysis.Number { return analysis.Number{Value: float64(n)} }

var pauseColumns = []column{
	{"pauses", "", func(r *analysis.Rollup) analysis.Number { return countOf(r.Pauses.Count) }},
	{"total", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.Total }},
	{"mean", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.Mean }},
	{"p50", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.P50 }},
	{"p90", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.P90 }},
	{"p95", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.P95 }},
	{"p99", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.P99 }},
	{"p99.9", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.P999 }},
	{"longest", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pauses.Max }},
}

var collectionColumns = []column{
	{"GCs", "", func(r *analysis.Rollup) analysis.Number { return countOf(r.Count) }},
	{"a minute", "", func(r *analysis.Rollup) analysis.Number { return r.PerMinute }},
	{"induced", "", func(r *analysis.Rollup) analysis.Number { return r.Induced }},
	{"compacting", "", func(r *analysis.Rollup) analysis.Number { return r.Compacting }},
	{"mean pause", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pause.Mean }},
	{"max pause", "ns", func(r *analysis.Rollup) analysis.Number { return r.Pause.Max }},
	{"max suspend", "ns", func(r *analysis.Rollup) analysis.Number { return r.Suspend.Max }},
	{"max pinned", "", func(r *analysis.Rollup) analysis.Number { return r.PinnedObjects.Max }},
}

var sizeColumns = []column{
	{"max peak", "bytes", func(r *analysis.Rollup) analysis.Number { return r.Peak.Max }},
	{"mean after", "bytes", func(r *analysis.Rollup) analysis.Number { return r.After.Mean }},
	{"max after", "bytes", func(r *analysis.Rollup) analysis.Number { return r.After.Max }},
	{"promoted", "bytes", func(r *analysis.Rollup) analysis.Number { return r.Promoted.Total }},
	{"allocated", "bytes", func(r *analysis.Rollup) analysis.Number { return r.Allocated.Total }},
	{"max rate", "bytes/s", func(r *analysis.Rollup) analysis.Number { return r.AllocationRate.Max }},
}

// classes prints a table with a row for each class of which there is anything, and a
// column for each number that is known of any.
func (t *summaryText) classes(columns []column, there func(*analysis.Rollup) bool) {
	var x table
	all := &t.s.Classes[analysis.ClassAll]
	head := []string{""}
	var known []column
	for _, c := range columns {
		if t.num(c.head, c.of(all), c.unit); c.of(all).Known() {
			known = append(known, c)
			head = append(head, c.head)
		}
	}
	if len(known) == 0 {
		return
	}
	x.add(head...)
	for class := range analysis.Classes {
		r := &t.s.Classes[class]
		if !there(r) && class != analysis.ClassAll {
			continue
		}
		row := []string{strings.ReplaceAll(class.String(), ".", " ")}
		switch {
		case class == analysis.ClassNone:
			row[0] = "without a GC"
		case class == analysis.ClassGen0 && t.s.Young:
			row[0] = "young"
		}
		for _, c := range known {
			row = append(row, t.num(c.head+" of "+row[0], c.of(r), c.unit))
		}
		x.add(row...)
	}
	fmt.Fprintln(t)
	x.print(t)
}

func hasPauses(r *analysis.Rollup) bool { return r.Pauses.Count > 0 || r.Count > 0 }

func hasGCs(r *analysis.Rollup) bool { return r.Count > 0 }

// pauses tells how long and how much of the time the program stood.
func (t *summaryText) pauses() {
	s := t.s
	t.title("Pauses")
	t.line("share", "the program stood %s of the time", t.num("share", s.Share, "%"))
	for _, w := range s.Worst {
		when := ""
		if w.Percent.Known() {
			when = " from " + clockText(t.h.process, w.At)
		}
		name := "worst " + lengthText(w.Length)
		t.line(name, "%s%s", t.num(name, w.Percent, "%"), when)
	}
	var least []string
	for _, u := range s.Utilization {
		name := lengthText(u.Length)
		least = append(least, t.num("least of "+name, u.Percent, "%")+" of "+name)
	}
	t.line("ran at least", "%s", strings.Join(least, ", "))
	t.spread("suspension", "until all threads stood", &s.Suspend)
	t.spread("between GCs", "from one to the next", &s.Between)
	for _, x := range s.WithoutGC {
		t.line("without a GC", "%s: %d %s, longest %s", x.Kind, x.Pauses.Told, plural(int(x.Pauses.Told), "pause", "pauses"), t.num("without a GC", x.Pauses.Max, "ns"))
	}
	t.classes(pauseColumns, hasPauses)
}

func (t *summaryText) spread(name, what string, d *analysis.Distribution) {
	if d.Count == 0 {
		t.line(name, "%s", t.num(name, d.Mean, "ns"))
		return
	}
	t.line(name, "%s: median %s, p99 %s, longest %s", what, t.num(name, d.P50, "ns"), t.num(name, d.P99, "ns"), t.num(name, d.Max, "ns"))
}

// lengthText is the length of a window.
func lengthText(ns int64) string {
	switch d := time.Duration(ns); {
	case d >= time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= time.Second:
		return fmt.Sprintf("%d s", d/time.Second)
	default:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	}
}

// collections tells which there were, and why.
func (t *summaryText) collections() {
	s := t.s
	t.title("Collections")
	var reasons []string
	for _, r := range s.Reasons {
		reasons = append(reasons, fmt.Sprintf("%s %d", r.Reason, r.Count))
	}
	if len(reasons) > 0 {
		t.line("reasons", "%s", strings.Join(reasons, ", "))
	}
	all := &s.Classes[analysis.ClassAll]
	if n := s.Classes[analysis.ClassBackground].Count; n+all.Demoted > 0 {
		demoted := ""
		if all.Demoted > 0 {
			demoted = fmt.Sprintf("; %d that began so ran blocking", all.Demoted)
		}
		t.line("background", "%d, with %s foreground %s while they ran and %s in their first pause%s", n, t.num("foreground", s.Rare(all.Foreground), ""), plural(int(all.Foreground), "GC", "GCs"), t.num("in the first pause", s.Rare(all.InsideBGCStart), ""), demoted)
	}
	if s.BlockingGen2.Known() {
		newest := ""
		if s.SinceLastGen2.Known() {
			newest = "; the newest ended " + s.SinceLastGen2.Text("ns") + " before the end"
		}
		t.line("gen2", "%s of them blocking%s", s.BlockingGen2.Text("%"), newest)
	}
	if all.Provisional+all.HeapDumps > 0 {
		t.line("special", "%d full GCs of provisional mode, %d for heap snapshots", all.Provisional, all.HeapDumps)
	}
	if all.Count == 0 {
		t.line("GCs", "none")
		return
	}
	t.classes(collectionColumns, hasGCs)
}

// heap tells sizes and allocations.
func (t *summaryText) heap() {
	h, all := &t.s.Heap, &t.s.Classes[analysis.ClassAll]
	t.title("Heap and allocation")
	t.told("size", h.Last, "bytes", "%s after the newest GC, %s after the newest gen2; the most was %s", t.num("size after gen2", h.LastGen2, "bytes"), t.num("largest size", h.Max, "bytes"))
	t.told("committed", h.Committed, "bytes", "%s; the most was %s", h.MaxCommitted.Text("bytes"))
	t.told("allocated", all.Allocated.Total, "bytes", "%s before the GCs that tell it, at %s", t.num("allocation rate", t.s.AllocationRate, "bytes/s"))
	t.told("pinned", all.PinnedShare, "%", "%s of what survived")
	t.pins(all)
	objects := "objects"
	if all.Finalization.Max.Value == 1 {
		objects = "object"
	}
	t.told("finalization", all.Finalization.Max, "", "at most %s "+objects+", %s kept alive for it", t.num("size of finalization", all.FinalizationBytes.Max, "bytes"))
	t.finalized(t.a.finalized.Most(3))
	t.classes(sizeColumns, hasGCs)
	t.allocated(t.a.allocated)
}

// allocated lists the types that were allocated most, if there were allocation ticks.
func (t *summaryText) allocated(a *analysis.Allocated) {
	const most, least, few = 10, 1, 3 // types, percent of a type that is listed behind the first few
	list := a.Most(most)
	for len(list) > few && list[len(list)-1].Share < least {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return
	}
	n, bytes := a.Samples()
	t.title("Allocated types")
	wrapped(t, 2, fmt.Sprintf("Estimated from %s, which stand for %s. After ± is how far a share may be off, with 95 %% confidence.",
		counted(n, "allocation tick"), analysis.Number{Value: bytes}.Text("bytes")))
	fmt.Fprintln(t)
	rest := 100.0
	for _, x := range list {
		rest -= x.Share
		fmt.Fprintf(t, "  %5.1f %%  ± %4.1f  %s\n", x.Share, x.Error, oneLine(shorten(x.Type, textWidth-19)))
	}
	if more := a.Types() - len(list); more > 0 {
		fmt.Fprintf(t, "  %5.1f %%          %s\n", max(rest, 0), counted(uint64(more), "more type"))
	}
}

// finalized tells the types that were finalized most, if events named any.
func (t *summaryText) finalized(list []analysis.FinalizedType) {
	var most []string
	for _, x := range list {
		most = append(most, fmt.Sprintf("%d %s", x.Objects, oneLine(shorten(x.Type, textWidth/2))))
	}
	if len(most) > 0 {
		t.line("finalized", "most: %s", strings.Join(most, ", "))
	}
}

// pins tells what events told of pinned objects, if they did: few sessions ask for them.
func (t *summaryText) pins(all *analysis.Rollup) {
	var parts []string
	if seen := &all.PinsSeen; seen.Told > 0 {
		parts = append(parts, fmt.Sprintf("%s in %d %s", seen.Total.Text("bytes"), seen.Told, plural(int(seen.Told), "GC", "GCs")))
	}
	if plugs := &all.PinPlugs; plugs.Told > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be moved in %d %s", plugs.Total.Text("bytes"), plugs.Told, plural(int(plugs.Told), "GC", "GCs")))
	}
	if len(parts) == 0 {
		return
	}
	share := ""
	if all.UserPinned.Known() {
		share = ", " + all.UserPinned.Text("%") + " of it pinned"
	}
	t.line("pins", "%s%s", strings.Join(parts, "; "), share)
}

// counted is a number of things.
func counted(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// data tells how far the numbers can be trusted.
func (t *summaryText) data() {
	s := t.s
	all := &s.Classes[analysis.ClassAll]
	t.title("Data")
	t.line("complete", "%d of %s", all.Count-all.Incomplete, counted(all.Count, "GC"))
	lost := counted(s.LostEvents, "event")
	if s.LostUnsure {
		lost = "at least " + lost
	}
	missed := counted(s.Missed, "GC")
	switch {
	case s.MissedUnsure:
		missed = "at least " + missed
	case s.Sparse && s.Missed > 0:
		missed = counted(s.Missed, "number") + " of GCs (some may be those of no-GC regions)"
	}
	missing := missed + ", " + lost + ", " + counted(s.Dropped, "record")
	if s.Missed+s.LostEvents+s.Dropped == 0 && !s.LostUnsure && !s.MissedUnsure {
		missing = "nothing that is known of"
		if s.Sparse {
			missing += "; a log of this format need not tell it"
		}
	}
	t.line("missing", "%s", missing)
	if s.Unobserved > 0 {
		n := analysis.Number{Value: float64(s.Unobserved)}
		t.line("not observed", "%s, in which no session was on or records are missing: shares and rates leave it out", n.Text("ns"))
	}
}

var severityStyles = map[analysis.Severity]screen.Style{analysis.Error: screen.Failure, analysis.Warning: screen.Warning, analysis.Info: screen.Note}

// findings tells what is wrong, and what to do about it.
func (t *summaryText) findings(f *analysis.Findings) {
	t.title("Findings")
	list := f.List()
	for i := range list {
		x := &list[i]
		if i > 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "  %s %s (%s)\n", t.paint(severityStyles[x.Severity], x.Severity.String()+":"), x.Rule.Title, x.Rule.ID)
		text := x.Text
		if len(x.GCs) > 0 {
			counted := ""
			if t.s.Counted {
				counted = "counted, "
			}
			text += " (" + counted + "GC " + numbersText(x.GCs) + ")"
		}
		wrapped(t, 4, oneLine(text))
		wrapped(t, 4, x.Rule.Explanation)
		wrapped(t, 4, "What to do: "+x.Rule.Advice)
	}
	unjudged := f.Unjudged()
	switch judged := len(analysis.Rules()) - len(unjudged); {
	case len(list) > 0:
	case judged == 1:
		fmt.Fprint(t, "  the only rule that could be judged found nothing\n")
	default:
		fmt.Fprintf(t, "  none of %d rules found anything\n", judged)
	}
	if len(unjudged) == 0 {
		return
	}
	fmt.Fprintf(t, "\n  not judged, of %d rules:\n", len(analysis.Rules()))
	var whys []lack
	for _, u := range unjudged {
		i := slices.IndexFunc(whys, func(l lack) bool { return l.why == u.Why })
		if i < 0 {
			i = len(whys)
			whys = append(whys, lack{why: u.Why})
		}
		whys[i].names = append(whys[i].names, u.Rule.ID)
	}
	t.lackings(whys)
}

func (t *summaryText) lackings(list []lack) {
	for _, l := range list {
		wrapped(t, 4, oneLine(l.why)+": "+strings.Join(l.names, ", "))
	}
}

// numbersText lists numbers of collections.
func numbersText(list []uint32) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatUint(uint64(n), 10))
	}
	return b.String()
}

// unknown tells why numbers are not known.
func (t *summaryText) unknown() {
	format := logs.Lacks(t.h.format)
	if len(t.lacks) == 0 && format == "" {
		return
	}
	t.title("Not known (n/a)")
	t.lackings(t.lacks)
	wrapped(t, 4, format)
}
