package top

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// reverse marks the row of the cursor; there is also a character in front of it.
const reverse screen.Style = "\x1b[7m"

func (m *Model) paint(s screen.Style, text string) string {
	return screen.Painter(m.o.Color)(s, text)
}

// line cuts a text to the width, and paints it.
func (m *Model) line(s screen.Style, text string) string {
	return m.paint(s, strings.TrimRight(screen.Cut(text, m.width), " "))
}

// parts returns a line of the parts that fit, and of the first one as much as fits.
func (m *Model) parts(s screen.Style, between string, list []string) string {
	text := list[0]
	for _, part := range list[1:] {
		if next := text + between + part; screen.Width(next) <= m.width {
			text = next
		}
	}
	return m.line(s, text)
}

// wrapped returns a text in as many lines as it needs, further ones indented.
func (m *Model) wrapped(s screen.Style, text string, indent int) (lines []string) {
	for l := range strings.SplitSeq(string(screen.Wrap(nil, text, m.width, indent)), "\n") {
		lines = append(lines, m.line(s, l))
	}
	return lines
}

// row is line for a row of a table, with a mark in front of it, and another one if the cursor is on it.
func (m *Model) row(s screen.Style, mark, text string, cursor bool) string {
	if !cursor {
		return m.line(s, " "+mark+text)
	}
	text = screen.Cut(">"+mark+text, m.width)
	text += strings.Repeat(" ", max(0, m.width-screen.Width(text)))
	if !m.o.Color {
		return strings.TrimRight(text, " ")
	}
	return m.paint(s+reverse, text)
}

// sides returns a line with as many parts as fit on the left, and a text on the right if there is room
// for it next to the first part.
func (m *Model) sides(s screen.Style, left []string, right string) string {
	const gap = 2
	room := m.width - screen.Width(right) - gap
	if screen.Width(left[0]) > room {
		return m.parts(s, "", left)
	}
	text := ""
	for _, part := range left {
		if screen.Width(text+part) <= room {
			text += part
		}
	}
	return m.paint(s, text+strings.Repeat(" ", m.width-screen.Width(text)-screen.Width(right))+right)
}

// clock returns the time for the first line.
func (m *Model) clock() string {
	now := m.now
	if p := m.current(); m.o.Replay && p != nil && p.started {
		now = p.facts.Time(p.now)
	}
	text := now.In(m.o.Zone).Format("15:04:05")
	if m.paused {
		text = "PAUSED " + text
	}
	return text
}

// footer returns the last line: a question, a message, or the keys.
func (m *Model) footer() string {
	switch {
	case m.confirming:
		return m.line(screen.Warning, m.message)
	case m.filtering:
		return m.line(screen.Heading, "filter: "+m.filter+"_")
	case m.message != "":
		return m.line(screen.Note, view.OneLine(m.message))
	}
	keys := map[page]string{
		pageList:        "enter open  v heaps  / filter  s sort  p pause  e export  g induce ? help q quit",
		pageProcess:     "enter explain  v heaps  a alloc  esc back  e export  g induce  ? help  q quit",
		pageHeaps:       "enter explain  v process  esc back  p pause  e export  ? help  q quit",
		pageAllocations: "a again  esc back  arrows scroll  e export  ? help  q quit",
		pageExplain:     "esc back  arrows scroll  e export  ? help  q quit",
		pageHelp:        "esc back  arrows scroll",
	}[m.page]
	return m.line(screen.Aside, keys)
}

// listFixed is how many lines of the list are no rows.
const listFixed = 4

// markWidth is that of the marks in front of a row of the list: the cursor, and the worst finding.
const markWidth = len("> ") + 1

// listColumns are the columns of the list. Ranks order what narrow terminals leave out.
func (m *Model) listColumns() []screen.Column {
	size := len("99.9 MB")
	return []screen.Column{
		{Title: "PID", Width: 7, Right: true},
		{Title: "NAME", Width: max(10, min(32, m.width-70))},
		{Title: "RUNTIME", Width: 8, Rank: 9},
		{Title: "GC", Width: 11, Rank: 10},
		{Title: "HEAP", Width: size, Right: true, Rank: 1},
		{Title: "RSS", Width: size, Right: true, Rank: 4},
		{Title: "COMMIT", Width: size, Right: true, Rank: 7},
		{Title: "LIMIT", Width: size, Right: true, Rank: 8},
		{Title: "ALLOC/S", Width: 7, Right: true, Rank: 3},
		{Title: "PAUSED", Width: 6, Right: true},
		{Title: "LONGEST", Width: 7, Right: true, Rank: 2},
		{Title: "LAST GC", Width: 12, Rank: 5},
		{Title: "PAUSES", Width: m.sparkWidth(), Rank: 6},
		{Title: "FROM", Width: 7, Rank: 11},
	}
}

// sparkWidth is how many characters the last minute has in the list.
func (m *Model) sparkWidth() int { return max(10, min(30, (m.width-100)/3)) }

func (m *Model) list() []string {
	list := m.shown()
	title := []string{"gclog top  " + counted(len(list), "process", "processes")}
	if m.filter != "" {
		title = append(title, fmt.Sprintf(" matching %q of %d", m.filter, len(m.processes)))
	}
	if worst := worst(list); worst != "" {
		title = append(title, ", findings: "+worst)
	}
	title = append(title, ", by "+sorts[m.sort].name)
	cursor, about := m.index(list), ""
	if len(list) > 0 {
		about = list[cursor].about()
	}
	lines := []string{
		m.sides(screen.Heading, title, m.clock()), m.line(screen.Aside, strings.Repeat(" ", markWidth)+about),
	}
	t := screen.NewTable(m.listColumns())
	t.Fit(m.width - markWidth)
	lines = append(lines, m.line(screen.Heading, strings.Repeat(" ", markWidth)+string(t.Head(nil))))
	if len(list) == 0 {
		return append(lines, m.line(screen.Plain, "   no process with a .NET runtime; those that start will appear"))
	}
	differs := distinct(m.processes)
	from, to := m.window(len(list), cursor)
	for i := from; i < to; i++ {
		lines = append(lines, m.listRow(t, list[i], differs[list[i].ID], i == cursor))
	}
	return lines
}

// about returns the working directory and the command line of a process.
func (p *process) about() string {
	text := p.command()
	if p.Directory != "" {
		text = "in " + p.Directory + ": " + text
	}
	return view.OneLine(text)
}

// worst counts the findings of all processes by severity.
func worst(list []*process) string {
	count := map[analysis.Severity]int{}
	for _, p := range list {
		for _, f := range p.current() {
			count[f.Severity]++
		}
	}
	var parts []string
	if n := count[analysis.Error]; n > 0 {
		parts = append(parts, counted(n, "error", "errors"))
	}
	if n := count[analysis.Warning]; n > 0 {
		parts = append(parts, counted(n, "warning", "warnings"))
	}
	return strings.Join(parts, ", ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// processEnd is the rule about how a process ended.
const processEnd = "process-end"

// current returns the findings that are true now: of a process that has exited, that about its end.
func (p *process) current() []analysis.Finding {
	if !p.exited {
		return p.list()
	}
	return slices.DeleteFunc(slices.Clone(p.list()), func(f analysis.Finding) bool { return f.Rule.ID != processEnd })
}

// mark returns the letter of the worst finding of a process, and a space.
func (p *process) mark() string {
	most := analysis.Info
	for _, f := range p.current() {
		most = max(most, f.Severity)
	}
	if most >= analysis.Warning {
		return view.OfSeverity(most).Letter + " "
	}
	return "  "
}

// named returns the name of a process, and what distinguishes it from others of that name, in a width.
// The name is the part that they share: it is shortened first.
func named(name, differs string, width int) string {
	if differs == "" {
		return screen.Cut(name, width)
	}
	differs = screen.Cut(differs, width-2)
	return screen.Cut(name, max(1, width-1-screen.Width(differs))) + " " + differs
}

func (m *Model) listRow(t *screen.Table, p *process, differs string, cursor bool) string {
	columns := m.listColumns()
	cells := make([]string, len(columns))
	cells[0], cells[1] = strconv.Itoa(p.PID), named(p.title(), differs, columns[1].Width)
	style := screen.Plain
	if !p.started {
		what := "opening a session"
		if p.exited {
			what = "exited"
		}
		if why := p.why(); why != "" {
			what, style = "! "+why, screen.Aside
		}
		t.Row()
		var b []byte
		for i := range 2 {
			b = t.Cell(b, []byte(screen.Cut(cells[i], columns[i].Width)))
		}
		return m.row(style, "  ", string(b)+"  "+view.OneLine(what), cursor)
	}
	recent := p.recent()
	cells[2], cells[3] = runtimeText(&p.facts), gcText(&p.facts)
	size := func(n uint64) string {
		if n == 0 {
			return "-"
		}
		return view.Text(float64(n), "bytes")
	}
	cells[4], cells[5], cells[6], cells[7] = size(p.heap()), size(p.resident()), short(p.commit()), size(p.limit())
	cells[8] = strings.TrimSuffix(short(recent.rate), "/s")
	cells[9], cells[10] = short(recent.share), short(recent.longest)
	cells[11] = p.lastText()
	values, most := p.buckets(m.sparkWidth())
	cells[12] = view.Sparkline(values, max(most, screen.NoticeablePause))
	cells[13] = p.from
	switch {
	case p.stall != nil:
		style = screen.Alarm
		cells[11] = "! " + stallText(p)
	case p.stale():
		style = screen.Aside
	case recent.longest.Known():
		style = screen.PauseStyle(int64(recent.longest.Value), screen.Plain)
	}
	last := len(columns) - 1 // a cell of the last column has the rest of the line
	for !t.Shows(last) {
		last--
	}
	t.Row()
	var b []byte
	for i, cell := range cells {
		if i < last {
			cell = screen.Cut(cell, columns[i].Width)
		}
		b = t.Cell(b, []byte(cell))
	}
	return m.row(style, p.mark(), string(b), cursor)
}

// short is the text of a number in a column, whose title says that "-" is unknown.
func short(n analysis.Number) string {
	if !n.Known() {
		return "-"
	}
	return n.Text()
}

func runtimeText(p *gclog.Process) string {
	version := view.OneLine(p.RuntimeVersion)
	if version == "" {
		return "-"
	}
	return version
}

// gcText returns the kind of GC: server or workstation with the number of heaps.
func gcText(p *gclog.Process) string {
	text := map[gclog.Known]string{gclog.Yes: "server", gclog.No: "workstation"}[p.Server]
	switch {
	case text == "":
		return "-"
	case p.Server == gclog.Yes && p.HeapCount > 0:
		text += " " + strconv.Itoa(p.HeapCount)
	}
	return text
}

// lastText returns the generation of the latest collection, and how long ago it was.
func (p *process) lastText() string {
	switch age, known := p.age(); {
	case p.exited:
		return "exited"
	case p.over && p.from == "replay":
		return "ended"
	case p.over:
		return "no session"
	case !known:
		return "none"
	default:
		text := ageText(age)
		if large := strings.Fields(text); len(large) > 2 {
			text = large[0] + " " + large[1]
		}
		return generation(p.last) + " " + text
	}
}

func generation(d *gclog.GCDetails) string {
	return d.GenerationName() + map[gclog.Kind]string{gclog.KindBackground: "B", gclog.KindForeground: "F"}[d.Kind]
}

// ageText formats an age in whole seconds and larger units: 0 s, 59 s, 4 min 12 s, 3 h 20 min.
func ageText(ns int64) string {
	d := time.Duration(ns).Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

func stallText(p *process) string {
	what := "collecting"
	if p.stall.Kind == gclog.OpenSuspension {
		what = "suspended"
	}
	return what + " " + ageText(max(p.now, p.stall.Now)-p.stall.Since)
}

// list returns the findings about a process, the most severe first.
func (p *process) list() []analysis.Finding {
	if p.started && (p.now-p.foundAt >= judgeEvery || p.over && !p.final) {
		p.final = p.over
		p.found, p.verdict, p.foundAt = p.findings.List(), p.findings.Verdict(), p.now
	}
	return p.found
}

// sentence is the verdict about a process.
func (m *Model) sentence(p *process) (lines []string) {
	p.list()
	style := screen.Warning
	if c := p.verdict.Cause; c == analysis.CauseNone || c == analysis.CauseUnknown || p.stale() {
		style = screen.Plain
	}
	var b strings.Builder
	view.Wrapped(&b, m.width, 0, view.OneLine(p.verdict.Sentence()))
	for l := range strings.SplitSeq(strings.TrimSuffix(b.String(), "\n"), "\n") {
		lines = append(lines, m.line(style, l))
	}
	return lines
}

// processPage is the page of a process: what it is, its numbers, charts, generations, findings and
// collections.
func (m *Model) processPage(p *process) []string {
	lines := m.head(p)
	if !p.started {
		return lines
	}
	lines = append(lines, m.charts(p)...)
	lines = append(lines, m.generations(p)...)
	lines = append(lines, m.findings(p)...)
	return append(lines, m.collections(p, m.height-1-len(lines))...)
}

// title returns the name of a process for people.
func (p *process) title() string {
	for _, s := range []string{p.Name, p.facts.EntryAssembly, p.facts.CommandLine} {
		if s != "" {
			return screen.Cut(view.OneLine(s), 40)
		}
	}
	return "process"
}

// head returns the first lines of a process's pages.
func (m *Model) head(p *process) []string {
	who := []string{p.title(), "pid " + strconv.Itoa(p.PID)}
	if p.started {
		if p.facts.RuntimeVersion != "" {
			who = append(who, ".NET "+runtimeText(&p.facts))
		}
		if gc := gcText(&p.facts); gc != "-" {
			who = append(who, gc+" GC")
		}
		who = append(who,
			map[string]string{"session": "own session", "daemon": "records of the daemon", "replay": "replay"}[p.from])
	}
	for i := range who[1:] {
		who[i+1] = "  " + who[i+1]
	}
	lines := []string{m.sides(screen.Heading, who, m.clock())}
	if about := p.about(); about != "" {
		lines = append(lines, m.line(screen.Aside, about))
	}
	if !p.started || p.why() != "" && p.over {
		what := "opening a session"
		switch {
		case p.why() != "":
			what = "! " + view.OneLine(p.why())
		case p.exited:
			what = "the process has exited"
		}
		lines = append(lines, m.wrapped(screen.Warning, what, 2)...)
	}
	if !p.started {
		return lines
	}
	lines = append(lines, m.sentence(p)...)
	recent := p.recent()
	total := p.total.Summary()
	sizes := []string{"heap " + total.Heap.Last.Text(), "committed " + total.Heap.Committed.Text()}
	if n := p.limit(); n > 0 {
		sizes = append(sizes, "limit "+view.Text(float64(n), "bytes"))
	}
	if n := p.resident(); n > 0 {
		sizes = append(sizes, "RSS "+view.Text(float64(n), "bytes"))
	}
	sizes = append(sizes, "allocation "+recent.rate.Text())
	if p.last != nil && p.last.Global.MemoryLoad > 0 {
		sizes = append(sizes, fmt.Sprintf("load %d %%", p.last.Global.MemoryLoad))
	}
	if d := p.last; d != nil && d.Known.Has(gclog.GroupFragmentation|gclog.GroupAfter) && d.SizeAfter() > 0 {
		sizes = append(sizes, "fragmentation "+view.Text(100*float64(d.Fragmentation)/float64(d.SizeAfter()), "%"))
	}
	pauses := fmt.Sprintf("last minute: paused %s, %s, longest %s",
		recent.share.Text(), counted(recent.pauses, "pause", "pauses"), recent.longest.Text())
	whole := []string{
		fmt.Sprintf("since the start: paused %s, gen0 %d, gen1 %d, blocking gen2 %d, background %d", total.Share.Text(),
			total.Classes[analysis.ClassGen0].Count, total.Classes[analysis.ClassGen1].Count,
			total.Classes[analysis.ClassGen2].Count, total.Classes[analysis.ClassBackground].Count),
		total.Classes[analysis.ClassAll].Pauses.Total.Text() + " of pauses", total.Allocated.Text() + " allocated",
	}
	style := screen.Plain
	if p.stale() {
		style = screen.Aside
	}
	return append(append(lines, m.parts(style, "  ", sizes), m.line(style, pauses), m.parts(style, ", ", whole)),
		m.state(p)...)
}

// state returns a line about a stall, an end or old numbers.
func (m *Model) state(p *process) []string {
	age, known := p.age()
	var notes []string
	if p.missing > 0 {
		notes = append(notes, counted(p.missing, "record is", "records are")+" missing: top was too slow")
	}
	style := screen.Warning
	switch {
	case p.stall != nil:
		style = screen.Alarm
		text := "! the program has been suspended for "
		if p.stall.Kind != gclog.OpenSuspension {
			text = "! a collection has been going on for "
		}
		notes = append([]string{text + ageText(max(p.now, p.stall.Now)-p.stall.Since)}, notes...)
	case p.exited:
		notes = append([]string{"the process has exited: numbers and findings are its last ones"}, notes...)
	case p.over && p.from == "replay":
	case p.over:
		notes = append([]string{"there is no session any more: the numbers are the last ones"}, notes...)
	case known && age > staleAfter:
		notes = append([]string{"no collection for " + ageText(age)}, notes...)
	case !known:
		notes = append([]string{"no collection since the start of the session, " + ageText(p.now-p.begin) + " ago"},
			notes...)
	}
	if len(notes) == 0 {
		return nil
	}
	return []string{m.line(style, strings.Join(notes, "; "))}
}

// charts returns the charts of the last minute's pauses, and of the heap before and after the latest
// collections.
func (m *Model) charts(p *process) []string {
	rows := 1
	if m.height >= 40 {
		rows = 4
	}
	width := max(1, m.width-len("pauses ")-len("  at most 99.9 MB"))
	values, most := p.buckets(min(width, 120))
	lines := m.chart("pauses", values, max(most, 1e6), rows, atMost(most, "ns"))
	sizes, largest := p.heapSizes(width)
	return append(lines, m.chart("heap", sizes, largest, rows, atMost(largest, "bytes"))...)
}

// atMost returns the scale of a chart.
func atMost(v float64, unit string) string {
	if v == 0 {
		return "none"
	}
	return "at most " + view.Text(v, unit)
}

// chart returns a chart of so many rows.
func (m *Model) chart(name string, values []float64, most float64, rows int, scale string) (lines []string) {
	for r := rows - 1; r >= 0; r-- {
		part := make([]float64, len(values))
		for i, v := range values {
			part[i] = max(0, min(1, v/max(most, 1)*float64(rows)-float64(r)))
			if v < 0 && r == 0 {
				part[i] = -1
			}
		}
		label, right := "", ""
		if r == rows-1 {
			label, right = name, "  "+scale
		}
		lines = append(lines, m.line(screen.Plain, fmt.Sprintf("%-7s", label)+view.Sparkline(part, 1)+right))
	}
	return lines
}

// generations returns the table of the generations after the latest collection of each.
func (m *Model) generations(p *process) []string {
	columns := []screen.Column{
		{Title: "", Width: 4},
		{Title: "size", Width: 8, Right: true},
		{Title: "free", Width: 8, Right: true},
		{Title: "budget", Width: 8, Right: true},
		{Title: "survival", Width: 8, Right: true},
		{Title: "promoted", Width: 8, Right: true, Rank: 1},
		{Title: "collected", Width: 20, Rank: 2},
	}
	if p.last == nil {
		return nil
	}
	t := screen.NewTable(columns)
	t.Fit(m.width)
	lines := []string{m.line(screen.Heading, string(t.Head(nil)))}
	for g := range max(4, p.last.GenerationCount) {
		d := p.collected(g)
		cells := []string{gclog.GenerationName(g), "-", "-", "-", "-", "-", "-"}
		if p.last.Known.Has(gclog.GroupAfter) {
			cells[1] = view.Text(float64(p.last.Generations[g].After), "bytes")
		}
		if p.last.Known.Has(gclog.GroupHistory) {
			cells[2] = view.Text(float64(p.last.Generations[g].Fragmentation), "bytes")
		}
		if d != nil {
			x := &d.Generations[g]
			if x.Budget > 0 {
				cells[3] = view.Text(float64(x.Budget), "bytes")
			}
			if v, known := d.Survival(g); known {
				cells[4] = view.Text(v, "%")
			}
			if v, known := d.Promoted(g); known {
				cells[5] = view.Text(float64(v), "bytes")
			}
			cells[6] = "#" + strconv.FormatUint(uint64(d.Number), 10) + ", " + ageText(max(0, p.now-ended(d))) + " ago"
		}
		t.Row()
		var b []byte
		for _, c := range cells {
			b = t.Cell(b, []byte(c))
		}
		lines = append(lines, m.line(screen.Plain, string(b)))
	}
	return lines
}

// collected returns the latest collection of a generation that reports what it found.
func (p *process) collected(g int) *gclog.GCDetails {
	for _, d := range slices.Backward(p.gcs) {
		if d.Known.Has(gclog.GroupHistory) && d.Collected(g) {
			return d
		}
	}
	return nil
}

// findings returns the most severe findings, a line each. Those of a process that has exited are dim,
// but for how it ended.
func (m *Model) findings(p *process) (lines []string) {
	most := 2
	if m.height >= 40 {
		most = 6
	}
	list := p.list()
	for i, f := range list {
		if i == most {
			break
		}
		look := view.OfSeverity(f.Severity)
		if p.exited && f.Rule.ID != processEnd {
			look.Style = screen.Aside
		}
		more := ""
		if i == most-1 && len(list) > most {
			more = fmt.Sprintf(" (and %d more)", len(list)-most)
		}
		lines = append(lines, m.line(look.Style, look.Letter+" "+f.Rule.ID+more+": "+view.OneLine(f.Text)))
	}
	return lines
}

// moreColumns returns the columns that a wide screen has room for in addition to those of the text
// format and a note after them.
func moreColumns(width int) (list []formats.TextColumn) {
	const note, gap = len("  took 1234.567 ms"), len("  ")
	text := formats.TextColumns()
	width -= note
	for i := range text {
		width -= text[i].Width + gap
	}
	for _, c := range view.Columns() {
		if slices.ContainsFunc(text, func(t formats.TextColumn) bool { return t.Key == c.Key }) {
			continue
		}
		if width -= c.Width + gap; width < 0 {
			break
		}
		list = append(list, formats.NewTextColumn(c.Column, c.Key,
			func(b []byte, d *gclog.GCDetails) []byte { return append(b, c.Text(nil, d)...) }))
	}
	return list
}

// collections returns the table of collections, the latest first, in so many lines.
func (m *Model) collections(p *process, height int) []string {
	t := formats.NewTextTable(moreColumns(m.width - 2)...)
	t.Fit(m.width - 2)
	lines := []string{m.line(screen.Heading, "  "+string(t.Head(nil)))}
	rows, chosen := max(1, height-1), p.chosen()
	at := max(0, slices.Index(p.gcs, chosen))
	newest := len(p.gcs) - 1
	first := min(newest, max(at+rows/2, rows-1))
	process := p.facts
	process.Sync = process.Sync.In(m.o.Zone)
	for i := first; i >= 0 && len(lines) <= rows; i-- {
		d := p.gcs[i]
		text := string(t.AppendRow(nil, &process, d, m.width-2))
		lines = append(lines, m.row(screen.PauseStyle(d.PauseMax(), screen.Plain), " ", text, d == chosen))
	}
	return lines
}
