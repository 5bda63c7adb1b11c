package top

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/parse/clr"
)

// heaps is the table of the heaps of server GC, for one collection.
func (m *Model) heaps(p *process) []string {
	lines := m.head(p)
	d := p.chosen()
	if d == nil {
		return append(lines, "", m.line(screen.Plain, "no collection yet"))
	}
	title := fmt.Sprintf("heaps of #%d %s %s", d.Number, d.GenerationName(), d.Kind)
	if r := d.Gen0Imbalance(); r > 0 {
		title += "; the fullest heap had " + strconv.FormatFloat(r, 'f', 2, 64) + " times the mean in gen0"
	}
	if r := d.SurvivedImbalance(); r > 0 {
		title += ", the most that survived in a heap is " + strconv.FormatFloat(r, 'f', 2, 64) + " times the mean"
	}
	lines = append(append(lines, ""), m.wrapped(screen.Heading, title, 2)...)
	rows := heapRows(d)
	if len(rows) == 0 {
		why := "the collection reports no heaps: the runtime did not send their histories (GCPerHeapHistory)"
		if d.Summary != nil {
			why = "logs, and the records of the daemon, have no numbers of each heap: stop the daemon's session, or " +
				"open a recording"
		}
		return append(lines, m.wrapped(screen.Plain, why, 0)...)
	}
	t := screen.NewTable(heapColumns)
	t.Fit(m.width)
	lines = append(lines, m.line(screen.Heading, string(t.Head(nil))))
	room := max(1, m.height-1-len(lines))
	for i, cells := range rows {
		if i == room-1 && len(rows) > room {
			return append(lines, m.line(screen.Aside, fmt.Sprintf("and %d more heaps", len(rows)-i)))
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

// heapColumns are the columns of the table of heaps. In and out are the objects in the collected
// generations before and after; the balance is the share of a heap in out, relative to the mean.
var heapColumns = []screen.Column{
	{Title: "heap", Width: 4, Right: true},
	{Title: "in", Width: 8, Right: true},
	{Title: "out", Width: 8, Right: true},
	{Title: "gen0 budget", Width: 11, Right: true, Rank: 1},
	{Title: "free", Width: 8, Right: true, Rank: 2},
	{Title: "mark ms", Width: 8, Right: true},
	{Title: "of mean", Width: 7, Right: true},
	{Title: "", Width: 20, Rank: 3},
}

func heapRows(d *gclog.GCDetails) (rows [][]string) {
	var sum, n float64
	out := func(h *gclog.HeapDetails) (v uint64) {
		for g := range gclog.Generations {
			if d.Collected(g) {
				v += h.History.Generation[g].Survivors()
			}
		}
		return v
	}
	for i := range d.Heaps {
		if h := &d.Heaps[i]; h.HasHistory {
			sum, n = sum+float64(out(h)), n+1
		}
	}
	for i := range d.Heaps {
		h := &d.Heaps[i]
		if !h.HasHistory {
			continue
		}
		var in int64
		var free uint64
		for g := range gclog.Generations {
			x := &h.History.Generation[g]
			if d.Collected(g) {
				in += max(0, x.ObjectsBefore())
			}
			free += x.Fragmentation()
		}
		mark, marked := int64(0), false
		for t := range clr.MarkTypes {
			if took, known := d.MarkTime(i, t); known {
				mark, marked = mark+took, true
			}
		}
		cells := []string{
			strconv.FormatUint(uint64(h.Heap), 10), view.Text(float64(in), "bytes"),
			view.Text(float64(out(h)), "bytes"), view.Text(float64(h.History.Generation[gclog.Gen0].Budget), "bytes"),
			view.Text(float64(free), "bytes"), "-", "-", "",
		}
		if marked {
			cells[5] = strconv.FormatFloat(float64(mark)/1e6, 'f', 3, 64)
		}
		if sum > 0 {
			of := float64(out(h)) * n / sum
			cells[6] = view.Text(100*of, "%")
			cells[7] = strings.Repeat("█", int(min(20, max(0, of*10+0.5))))
		}
		rows = append(rows, cells)
	}
	return rows
}

// explanation is what gclog explain says about the selected collection.
func (m *Model) explanation(p *process) []string {
	d := p.chosen()
	if d == nil || m.o.Explain == nil {
		return []string{m.line(screen.Plain, "the collection is no longer kept")}
	}
	peers := analysis.NewPeers()
	for _, x := range p.gcs {
		peers.Observe(x)
	}
	c := analysis.Context{Process: &p.facts, Begin: p.begin, HasBegin: true, Peers: peers}
	if d.Summary != nil {
		c.Log = "json"
	}
	text := m.o.Explain(m.width, m.o.Color, d, c)
	return m.scrolled(strings.Split(strings.TrimRight(text, "\n"), "\n"))
}

// scrolled returns the lines from the one that the user has scrolled to.
func (m *Model) scrolled(lines []string) []string {
	m.scroll = max(0, min(m.scroll, len(lines)-max(1, m.height-1)))
	return lines[m.scroll:]
}

// allocations is who allocates in a process.
func (m *Model) allocations(p *process) []string {
	lines := m.head(p)
	x := p.profile
	if x == nil {
		return append(lines, "", m.line(screen.Plain, "nobody has asked who allocates"))
	}
	lines = append(append(lines, ""), m.wrapped(screen.Heading, "who allocates: "+view.OneLine(x.Text), 2)...)
	var rows []string
	for _, part := range []struct {
		name string
		list []Allocated
	}{{"type", x.Types}, {"method, and what called it", x.Paths}} {
		if len(part.list) == 0 {
			continue
		}
		rows = append(rows, m.line(screen.Heading, fmt.Sprintf("%15s  %10s  %s", "share", "per second", part.name)))
		for _, r := range part.list {
			text := fmt.Sprintf("%15s  %10s  %s", r.Share, r.Rate, view.OneLine(r.Name))
			rows = append(rows, m.line(screen.Plain, text))
		}
		rows = append(rows, "")
	}
	room := max(1, m.height-1-len(lines))
	m.scroll = max(0, min(m.scroll, len(rows)-room))
	return append(lines, rows[m.scroll:]...)
}

func (m *Model) help() []string {
	var lines []string
	for l := range strings.SplitSeq(helpText, "\n") {
		style := screen.Plain
		if l[0] != ' ' {
			style = screen.Heading
		}
		lines = append(lines, m.wrapped(style, l, helpIndent)...)
	}
	return m.scrolled(lines)
}

// helpIndent is where explanations start in helpText.
const helpIndent = 20

const helpText = `Keys
  up down j k       move the cursor, or scroll; pgup, pgdown, home, end move farther
  enter             open a process, and explain a collection
  esc               back
  v                 the heaps of server GC, for the selected collection
  a                 who allocates in the process of the page: watches it for 30 s, at most 2 % of its CPU time
  /                 show only processes whose pid, name or command line contain a text
  s                 sort by another column
  p                 pause the screen; the records of that time follow
  e                 write the screen to a file in the current directory
  g                 induce a full blocking collection; asks first
  q                 quit
List
  X, !              in front of a process: its worst finding is an error, a warning
  NAME              of processes of one name also the words of the command line and working directory that differ
  RSS               resident memory at the latest collection
  PAUSED            share of the last minute that the program was paused
  LONGEST           longest pause of the last minute
  ALLOC/S           allocation rate of the last minute
  LAST GC           generation of the latest collection, and how long ago it ended
  PAUSES            longest pauses of the last minute; the highest bar is at least 50 ms
  FROM              session: gclog's own; daemon: the records of gclog daemon
  -                 unknown
Collections
  gen               0->1: gen0 was condemned first, and escalated to gen1; B: background, F: foreground
  exceeded          the oldest generation whose budget was exceeded, and by how much (an estimate)
  free              free space in the heap after the collection
Heaps
  in, out           objects in the collected generations, before the collection and after
  of mean           out, relative to the mean of all heaps
Who allocates
  share             of what was allocated, with its interval of 95 %
  ←                 called by
Colors
  yellow, red       a pause of at least 50 ms, 200 ms
  dim               old numbers: the process has exited, or no collection for a minute
  bold red, !       the program is suspended, or a collection goes on, for more than a second`
