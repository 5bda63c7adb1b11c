package analyse

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/view"
)

// A summaryText is a summary for people: problems first, then the numbers.
type summaryText struct {
	bytes.Buffer
	h     *history.History
	s     *analysis.Summary
	a     *assess.Assessment
	why   bool // also print why rules were not evaluated and values are unknown
	width int  // of text; that of tables is wide, which may be larger on a terminal
	wide  int
	paint func(screen.Style, string) string
	lacks []view.Lack // reasons of n/a
}

func (p *commands) printSummary(h *history.History, a *assess.Assessment, why bool) error {
	width := screen.TextWidth(p.Unfiltered)
	wide, _ := screen.Size(p.Unfiltered)
	t := &summaryText{
		h: h, s: a.Statistics.Summary(), a: a, why: why, width: width, wide: max(wide, width),
		paint: screen.Painter(screen.Colored(p.Unfiltered)),
	}
	t.page()
	_, err := t.WriteTo(p.Out)
	return err
}

func (t *summaryText) page() {
	v := t.a.Findings.Verdict()
	t.paragraph(0, view.OneLine(v.Sentence()))
	fmt.Fprintln(t)
	t.head()
	t.findings(t.a.Findings)
	if all := &t.s.Classes[analysis.ClassAll]; all.Pauses.Count > 0 || t.s.CollectionsOnly && all.Count > 0 {
		t.pauses()
	}
	t.collections()
	if t.s.Classes[analysis.ClassAll].Count > 0 {
		t.heap()
		t.allocated(t.a.Types)
	}
	t.data()
	t.reasons(t.a.Findings.NotEvaluated())
}

// num formats a number. If it is unknown, the reason is kept for -v.
func (t *summaryText) num(name string, n analysis.Number) string {
	if !n.Known() {
		t.lacks = view.AddLack(t.lacks, n.Why, name)
	}
	return n.Text()
}

func (t *summaryText) title(s string) { fmt.Fprintf(t, "\n%s\n", t.paint(screen.Heading, s)) }

// paragraph prints indented text.
func (t *summaryText) paragraph(indent int, text string) { view.Wrapped(t, t.width, indent, text) }

// line prints a name and a text.
func (t *summaryText) line(name, format string, args ...any) {
	const indent = 18
	var b bytes.Buffer
	view.Wrapped(&b, t.width, indent, fmt.Sprintf(format, args...))
	fmt.Fprintf(t, "  %-*s%s", indent-2, name, b.Bytes()[indent:])
}

// known prints a line that begins with a number, if that is known.
func (t *summaryText) known(name string, n analysis.Number, format string, args ...any) {
	if text := t.num(name, n); n.Known() {
		t.line(name, format, append([]any{text}, args...)...)
	}
}

// head prints what the summary is about.
func (t *summaryText) head() {
	p := t.h.Process
	fmt.Fprintln(t, view.OneLine(t.h.Source()))
	who := strconv.FormatInt(p.ID, 10)
	if p.ID == 0 {
		who = "n/a (its pid is not recorded)"
	}
	for _, s := range []string{p.Name, p.CommandLine} {
		if s != "" {
			who += "  " + view.OneLine(view.Shorten(s, t.width-len(who)-20))
			break
		}
	}
	t.line("process", "%s", who)
	if e := t.h.Ended; e != nil {
		how := fmt.Sprintf("it %s, at %s", e.AppendTo(nil), clockText(p, e.At))
		if e.Bad() {
			how = t.paint(screen.Failure, how)
		}
		t.line("end", "%s", how)
	}
	t.line("runtime", "%s", view.OneLine(assess.RuntimeText(p)))
	w := t.s.Window
	observed := ""
	if t.s.Unobserved > 0 {
		observed = " of it observed"
	}
	from, to := p.Time(w.From), p.Time(w.To)
	if p.Dated() {
		t.line("time", "%s to %s, %s%s", from.Format("2006-01-02 15:04:05.000"), to.Format("15:04:05.000 MST"),
			t.num("time", t.s.Duration), observed)
	} else {
		t.line("time", "%s%s, at an unknown time", t.num("time", t.s.Duration), observed)
	}
	if t.h.Window != analysis.Always() {
		t.line("part of", "%s to %s", clockText(p, t.h.Begin), clockText(p, t.h.End))
	}
	if t.h.Damage != "" {
		t.line("damaged", "%s", view.OneLine(t.h.Damage))
	}
}

// pauses prints how long and for how much of the time the program was paused.
func (t *summaryText) pauses() {
	s := t.s
	t.title("Pauses")
	t.line("share", "paused %s of the time", t.num("share", s.Share))
	for _, w := range s.Worst {
		t.known("worst "+lengthText(w.Length), w.Percent, "%s from %s", clockText(t.h.Process, w.At))
	}
	var least []string
	for _, u := range s.Utilization {
		length := lengthText(u.Length)
		if text := t.num("MMU of "+length, u.Percent); u.Percent.Known() {
			least = append(least, text+" of "+length)
		}
	}
	if len(least) > 0 {
		t.line("MMU", "minimum mutator utilization: %s", strings.Join(least, ", "))
	}
	t.spread("suspension", "until all threads were suspended", &s.Suspend)
	t.spread("between GCs", "from start to start", &s.Between)
	for _, x := range s.WithoutGC {
		t.line("without a GC",
			"%s: %s, longest %s", x.Kind, view.Counted(x.Pauses.Count, "pause"), t.num("without a GC", x.Pauses.Max))
	}
	t.classes(view.PauseColumns(), hasPauses)
}

func (t *summaryText) spread(name, what string, d *analysis.Distribution) {
	if d.Count == 0 {
		t.num(name, d.Mean)
		return
	}
	p99 := ""
	if text := t.num("p99 of "+name, d.P99); d.P99.Known() {
		p99 = ", p99 " + text
	}
	t.line(name, "%s: median %s%s, longest %s", what, t.num(name, d.P50), p99, t.num(name, d.Max))
}

// lengthText formats the length of a window.
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

// collections prints how many collections of each class there were, and why.
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
			demoted = fmt.Sprintf("; %d others were started as background but ran as blocking", all.Demoted)
		}
		t.line("background", "%d, with %s foreground %s while they ran and %s in their first pause%s",
			n, t.num("foreground", s.SparseCount(all.Foreground)), view.Plural(all.Foreground, "GC"),
			t.num("in the first pause", s.SparseCount(all.InsideBGCStart)), demoted)
	}
	if s.BlockingGen2.Known() {
		latest := ""
		switch {
		case s.SinceLastGen2.Known() && s.SinceLastGen2.Value == 0:
			latest = "; the latest lasted until the end"
		case s.SinceLastGen2.Known():
			latest = "; the latest ended " + s.SinceLastGen2.Text() + " before the end"
		}
		t.line("gen2", "%s of them blocking%s", s.BlockingGen2.Text(), latest)
	}
	if all.Provisional > 0 {
		t.line("special", "%s of provisional mode", view.Counted(all.Provisional, "full GC"))
	}
	if all.HeapDumps > 0 {
		t.line("snapshots", "%s, longest pause %s, not counted in findings",
			view.Counted(all.HeapDumps, "heap snapshot"),
			t.num("longest pause for a heap snapshot", all.HeapDumpPause.Max))
	}
	if all.Count == 0 {
		t.line("GCs", "none")
		return
	}
	t.classes(view.CollectionColumns(), hasGCs)
}

// heap prints sizes and allocations, and the other memory of the process.
func (t *summaryText) heap() {
	h, all := &t.s.Heap, &t.s.Classes[analysis.ClassAll]
	t.title("Heap and allocation")
	t.known("size", h.Last, "%s after the latest GC, %s after the latest gen2; at most %s",
		t.num("size after gen2", h.LastGen2), t.num("largest size", h.Max))
	t.known("committed", h.Committed, "%s; at most %s", h.MaxCommitted.Text())
	t.memory(&t.s.Memory)
	t.known("allocated", t.s.AllocationRate,
		"%s: %s in %s between GCs", t.s.Allocated.Text(), t.s.AllocationTime.Text())
	t.known("pinned", all.PinnedShare, "%s of the survivors not moved: pinned, or next to a pinned object")
	t.pins(all)
	retained := ""
	if size := t.num("size of finalization", all.FinalizationBytes.Max); all.FinalizationBytes.Max.Known() {
		retained = ", " + size + " retained for it"
	}
	t.known("finalization", all.Finalization.Max,
		"at most %s %s%s", view.Plural(uint64(all.Finalization.Max.Value), "object"), retained)
	t.finalized(t.a.Types.Finalized(3))
	t.classes(view.SizeColumns(), hasGCs)
}

// memory prints how much of the process's memory is the GC's, and how close its control group is to
// its limit.
func (t *summaryText) memory(m *analysis.Memory) {
	rest := ""
	if other := t.num("memory outside the GC heap", m.Other); m.Other.Known() {
		rest = fmt.Sprintf(": %s committed by the GC, %s other", m.Committed.Text(), other)
	}
	t.known("RSS", m.Resident, "%s%s; at most %s", rest, m.MaxResident.Text())
	limit := ""
	if text := t.num("limit of the cgroup", m.CgroupLimit); m.CgroupLimit.Known() {
		limit = fmt.Sprintf(" of %s, %s", text, m.CgroupShare.Text())
	}
	t.known("cgroup", m.Cgroup, "%s%s, page cache included; at most %s", limit, m.MaxCgroup.Text())
}

// allocated lists the types that were allocated most, if there were allocation ticks.
func (t *summaryText) allocated(a *analysis.Types) {
	const most, least, few = 10, 1, 3 // number of types; minimum percentage after the first few
	types := a.Allocated(most)
	list := types.Types
	for len(list) > few && list[len(list)-1].Share.Value < least {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return
	}
	t.title("Allocated types")
	t.paragraph(2, fmt.Sprintf("Estimated from %s, which represent %s. ± is the 95 %% confidence interval of a share.",
		view.Counted(uint64(types.Samples.Value), "allocation tick"), types.Sampled.Text()))
	fmt.Fprintln(t)
	rest := 100.0
	for _, x := range list {
		rest -= x.Share.Value
		fmt.Fprintf(t,
			"  %5.1f %%  ± %4.1f  %s\n", x.Share.Value, x.Error.Value, view.OneLine(view.Shorten(x.Type, t.width-19)))
	}
	if more := types.Named - len(list); more > 0 {
		fmt.Fprintf(t, "  %5.1f %%          %s\n", max(rest, 0), view.Counted(uint64(more), "more type"))
	}
}

// finalized prints the types that were finalized most, if events named any.
func (t *summaryText) finalized(list []analysis.FinalizedType) {
	var most []string
	for _, x := range list {
		most = append(most, fmt.Sprintf("%d %s", x.Objects, view.OneLine(view.Shorten(x.Type, t.width/2))))
	}
	if len(most) > 0 {
		t.line("finalized", "most: %s", strings.Join(most, ", "))
	}
}

// pins prints what events reported about pinned objects, if any did: few sessions ask for them.
func (t *summaryText) pins(all *analysis.Rollup) {
	var parts []string
	if seen := &all.PinsSeen; seen.Count > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", seen.Total.Text(), view.Counted(seen.Count, "GC")))
	}
	if plugs := &all.PinPlugs; plugs.Count > 0 {
		parts = append(parts,
			fmt.Sprintf("%s could not be moved in %s", plugs.Total.Text(), view.Counted(plugs.Count, "GC")))
	}
	if len(parts) == 0 {
		return
	}
	share := ""
	if all.UserPinned.Known() {
		share = ", " + all.UserPinned.Text() + " of it pinned"
	}
	t.line("pins", "%s%s", strings.Join(parts, "; "), share)
}

// data prints how reliable the numbers are.
func (t *summaryText) data() {
	s := t.s
	all := &s.Classes[analysis.ClassAll]
	t.title("Data")
	before := ""
	if n := all.StartedBefore; n > 0 {
		before = fmt.Sprintf("; %d began before the session", n)
	}
	t.line("complete", "%d of %s%s", all.Count-all.Incomplete, view.Counted(all.Count, "GC"), before)
	if t.h.Skipped > 0 {
		t.line("left out", "%s, damaged or not written by gclog", view.Counted(uint64(t.h.Skipped), "line"))
	}
	t.line("missing", "%s", t.missing())
	if s.Unobserved > 0 {
		n := analysis.Number{Value: float64(s.Unobserved), Unit: "ns"}
		t.line("not observed", "%s without a session or with missing records, which shares and rates exclude", n.Text())
	}
}

// missing lists what is known to be missing.
func (t *summaryText) missing() string {
	s := t.s
	var parts []string
	if t.h.Cut() {
		parts = append(parts, "everything after the damage")
	}
	if t.h.Skipped > 0 {
		parts = append(parts, "the lines left out, if they were gclog's")
	}
	if s.Missed+s.LostEvents+s.Dropped > 0 || s.LostInexact || s.MissedInexact {
		lost, missed := view.Counted(s.LostEvents, "event"), view.Counted(s.Missed, "GC")
		if s.LostInexact {
			lost = "at least " + lost
		}
		switch {
		case s.MissedInexact:
			missed = "at least " + missed
		case s.CollectionsOnly && s.Missed > 0:
			missed = view.Counted(s.Missed, "GC number") + " (some may be those of no-GC regions)"
		}
		parts = append(parts, missed, lost, view.Counted(s.Dropped, "record"))
	}
	if len(parts) == 0 {
		parts = []string{"none known"}
	}
	missing := strings.Join(parts, ", ")
	if s.Sparse && s.Missed+s.LostEvents+s.Dropped == 0 {
		missing += "; logs of this format may omit it"
	}
	return missing
}

// findings prints the findings, and what to do about them.
func (t *summaryText) findings(f *analysis.Findings) {
	list, unjudged := f.List(), f.NotEvaluated()
	fmt.Fprintf(t, "\n%s %s\n", t.paint(screen.Heading, "Findings:"), t.verdict(list))
	hidden := 0
	for n := 0; len(list) > 0; list = list[n:] {
		n = 1
		for n < len(list) && list[n].SymptomOf != nil {
			n++
		}
		full := t.whole(list[:n])
		shown := full
		if !t.why {
			shown = t.block(list[:n])
		}
		hidden += len(full) - len(shown)
		t.WriteString(strings.Join(shown, ""))
		fmt.Fprintln(t)
	}
	rules, why := len(analysis.Rules()), ""
	if len(unjudged) > 0 {
		why = t.unless("; -v shows why the others were not")
	}
	t.paragraph(2, fmt.Sprintf("Evaluated %d of %d rules%s.", rules-len(unjudged), rules, why))
	if hidden > 0 {
		t.paragraph(2, fmt.Sprintf("-v shows %s more about the findings.", view.Counted(uint64(hidden), "line")))
	}
}

// mostLines is how many lines a cause takes with its symptoms. However long its text is, advice and symptoms
// may take partLines each.
const (
	mostLines = 12
	partLines = 4
)

// lines returns what a function prints, in lines.
func (t *summaryText) lines(write func()) []string {
	from := t.Len()
	write()
	list := slices.Collect(strings.Lines(string(t.Bytes()[from:])))
	t.Truncate(from)
	return list
}

// upTo returns a text in so many lines at most: as many sentences as they have room for.
func (t *summaryText) upTo(most int, text string) []string {
	for {
		list := t.lines(func() { t.paragraph(4, text) })
		i := strings.LastIndex(text, ". ")
		if len(list) <= most || i < 0 {
			return list[:min(len(list), most)]
		}
		text = text[:i+1]
	}
}

// whole returns all about a cause and its symptoms.
func (t *summaryText) whole(list []analysis.Finding) []string {
	return t.lines(func() {
		for i := range list {
			x := &list[i]
			if i > 0 {
				fmt.Fprintln(t)
			}
			t.heading(x)
			t.paragraph(4, textOf(x))
			if x.SymptomOf != nil {
				t.paragraph(4, "A symptom of "+x.SymptomOf.ID+".")
			}
			t.paragraph(4, x.Rule.Explanation)
			t.paragraph(4, "What to do: "+x.Advice)
		}
	})
}

// block returns what matters of that.
func (t *summaryText) block(list []analysis.Finding) []string {
	x := &list[0]
	head := t.lines(func() { t.heading(x) })
	var symptoms []string
	if len(list) > 1 {
		var names []string
		for i := range list[1:] {
			names = append(names, fmt.Sprintf("%s (%s)", list[i+1].Rule.ID, list[i+1].Severity))
		}
		symptoms = t.upTo(partLines, "Symptoms: "+strings.Join(names, ", ")+".")
	}
	room := mostLines - len(head) - len(symptoms)
	advice := "What to do: " + x.Advice
	does := t.upTo(min(partLines, room/2), advice)
	says := t.upTo(room-len(does), textOf(x))
	does = t.upTo(room-len(says), advice)
	why := t.lines(func() { t.paragraph(4, x.Rule.Explanation) })
	if len(says)+len(why)+len(does) > room {
		why = nil
	}
	return slices.Concat(head, says, why, does, symptoms)
}

// textOf returns the text of a finding with its collections.
func textOf(x *analysis.Finding) string {
	text := x.Text
	if len(x.GCs) > 0 {
		text += " (GC " + numbersText(x.GCs) + ")"
	}
	return view.OneLine(text)
}

// heading prints the title of a finding.
func (t *summaryText) heading(x *analysis.Finding) {
	var b bytes.Buffer
	severity := x.Severity.String() + ":"
	view.Wrapped(&b, t.width, 2, fmt.Sprintf("%s %s (%s)", severity, x.Rule.Title, x.Rule.ID))
	t.WriteString(strings.Replace(b.String(), severity, t.paint(view.OfSeverity(x.Severity).Style, severity), 1))
}

// verdict counts findings by severity.
func (t *summaryText) verdict(list []analysis.Finding) string {
	var parts []string
	for s := analysis.Error; s >= analysis.Info; s-- {
		n := uint64(0)
		for i := range list {
			if list[i].Severity == s {
				n++
			}
		}
		text := view.Counted(n, s.String())
		if s == analysis.Info {
			text = fmt.Sprintf("%d info", n)
		}
		if n > 0 {
			parts = append(parts, t.paint(view.OfSeverity(s).Style, text))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
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

// unless returns text about where to find the reasons, or "" if they are printed.
func (t *summaryText) unless(text string) string {
	if t.why {
		return ""
	}
	return text
}

// reasons prints why rules were not evaluated and numbers are unknown, or how many those are.
func (t *summaryText) reasons(unjudged []analysis.NotEvaluated) {
	format := logs.Lacks(t.h.Format)
	if !t.why {
		n := 0
		for _, l := range t.lacks {
			n += len(l.Names)
		}
		if n > 0 || format != "" {
			fmt.Fprintln(t)
			t.paragraph(0, fmt.Sprintf("Unknown (n/a): %s; -v shows why.", view.Counted(uint64(n), "value")))
		}
		return
	}
	var rules []view.Lack
	for _, u := range unjudged {
		rules = view.AddLack(rules, u.Why, u.Rule.ID)
	}
	if len(rules) > 0 {
		t.title("Rules that were not evaluated")
		t.lackings(rules)
	}
	if len(t.lacks) > 0 || format != "" {
		t.title("Unknown (n/a)")
		t.lackings(t.lacks)
		t.paragraph(2, format)
	}
}

func (t *summaryText) lackings(list []view.Lack) {
	for _, l := range list {
		t.paragraph(2, strings.Join(l.Names, ", ")+": "+view.OneLine(l.Why))
	}
}
