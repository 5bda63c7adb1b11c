package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) watchCommand() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "take snapshots of a running process at intervals: what grows every time",
		ArgsUsage: "PID|NAME",
		Description: `Finds leaks without a person: after each snapshot it prints what has grown since the
first one, and at the end, also after ^C or when the process exits, which types grew
every time and what holds them. Each snapshot pauses the program, as
gclog heap snapshot --help describes, and its cost is printed.

Examples:
   gclog heap watch MyApp                          6 snapshots in 50 minutes
   gclog heap watch 4711 --every 1h --count 24
   gclog heap watch 4711 --keep /var/tmp           keeps the files
   gclog heap watch 4711 -f json > growth.json     the result only`,
		Flags: flags.Join(subject.Flags(), listFlags(
			symbolsFlag(),
			&cli.StringFlag{Name: "every", Value: "10m", Usage: "take one each `TIME`, 10s or more"},
			&cli.IntFlag{Name: "count", Value: 6, Usage: "take `N` snapshots, 2 or more"},
			&cli.StringFlag{Name: "keep", Usage: "write each snapshot to a .gcdump file in the folder `DIR`"},
			&cli.BoolFlag{
				Name: "force",
				Usage: "take them even if there may not be enough memory, or space on the disk, or background " +
					"collections go on",
			},
		)),
		Action: results.Action(p.Run, results.Lists, p.watch),
	}
}

// A watcher is a series of snapshots of a process.
type watcher struct {
	list   selection
	every  time.Duration
	count  int
	keep   string // folder of the files; "": none
	o      snapshotOptions
	target *host.Target
	facts  gclog.Process

	snapshots []watchedSnapshot
	last      *heap.Graph // of the last snapshot; nil while the next one is taken
	leaks     []leak
	types     *heap.Graph // only the types of leaks
}

// A watchedSnapshot is what is kept of a snapshot.
type watchedSnapshot struct {
	at     time.Time
	gcs    []*gclog.GCDetails // that it caused
	counts *heap.Histogram
	file   string // "": none
}

// leastInterval is how long a program is left alone between two snapshots.
const leastInterval = 10 * time.Second

func (p *commands) watch(c *cli.Context, how string) error {
	w := &watcher{
		o:     snapshotOptions{daemon: usualSocket(c), force: c.Bool("force"), wait: waitBackground},
		count: c.Int("count"),
		keep:  c.String("keep"),
	}
	var err error
	if w.list, err = readHeapFlags(c, how); err != nil {
		return err
	}
	w.o.symbols = w.list.symbols
	ch, err := subject.Choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if w.every, err = flags.Duration(c, "every"); err != nil {
		return err
	}
	switch {
	case !ch.Made():
		return exit.Usagef("heap watch needs the PID or the NAME of a process (gclog ps lists them)")
	case w.every < leastInterval:
		return exit.Usagef("--every %s: each snapshot pauses the program, so it must be 10s or more", c.String("every"))
	case w.count < 2:
		return exit.Usagef("--count %d: growth needs two snapshots or more", w.count)
	}
	if w.keep != "" {
		if info, err := os.Stat(w.keep); err != nil || !info.IsDir() {
			return exit.Usagef("--keep %s: there is no such folder", w.keep)
		}
	}
	ctx, _, release := p.Signals(c.Context)
	defer release()
	err = p.watchHeap(ctx, ch, w)
	if len(w.snapshots) < 2 {
		if err == nil {
			err = exit.With(exit.Session, errors.New("growth needs two snapshots: there is nothing to compare"))
		}
		return err
	}
	return errors.Join(err, p.writeWatch(w))
}

// watchHeap takes the snapshots, until the process exits or ctx is done.
func (p *commands) watchHeap(ctx context.Context, ch subject.Choice, w *watcher) error {
	first, err := p.planSnapshot(ctx, ch, w.o)
	if err != nil {
		return err
	}
	w.target, w.facts = first.target, first.facts
	next := time.Now()
	for s := first; ; {
		err := p.whole(ctx, s, func(s *plannedSnapshot) error { return p.watchOne(ctx, w, s) })
		if err != nil {
			return w.ended(ctx, p, err)
		}
		walked := s.walked
		if len(w.snapshots) == w.count {
			return nil
		}
		if next = next.Add(w.every); time.Until(next) < leastInterval {
			next = time.Now().Add(leastInterval)
		}
		if !p.awaitNext(ctx, w, next) {
			return w.ended(ctx, p, orInterrupted(ctx, nil, "the next snapshot: growth needs two"))
		}
		if s, err = p.planOf(ctx, w.target, w.o); err == nil {
			s.plan.After(walked)
			err = p.allow(s)
		}
		if err != nil {
			return w.ended(ctx, p, err)
		}
	}
}

// ended reports why there are fewer snapshots than asked for. That the process has exited, or that
// the user has interrupted gclog, is no error.
func (w *watcher) ended(ctx context.Context, p *commands, err error) error {
	switch {
	case ctx.Err() != nil && len(w.snapshots) > 1:
		return nil
	case ctx.Err() != nil || w.target.Alive() || len(w.snapshots) == 0:
		return err
	}
	p.UI.Sayf("process %d has exited after %s", w.target.PID, view.Counted(uint64(len(w.snapshots)), "snapshot"))
	return nil
}

// awaitNext waits for the time of the next snapshot. It returns false if there will be none.
func (p *commands) awaitNext(ctx context.Context, w *watcher, next time.Time) bool {
	stop := p.UI.Watch(func(time.Duration) string {
		return fmt.Sprintf("[%s] until snapshot %d of %d", view.Elapsed(time.Until(next)), len(w.snapshots)+1, w.count)
	})
	defer stop()
	for time.Until(next) > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(time.Until(next), time.Second)):
		}
		if !w.target.Alive() {
			return false
		}
	}
	return true
}

// watchOne takes a snapshot, and prints what has grown.
func (p *commands) watchOne(ctx context.Context, w *watcher, s *plannedSnapshot) error {
	w.last = nil
	debug.FreeOSMemory() // for the next one
	if err := s.checkOwnMemory(p.Host); err != nil {
		return err
	}
	ctx, guard, release := p.guardSnapshot(ctx, s)
	defer release()
	pr, pw := io.Pipe()
	g, taken, err := takeInto(ctx, p, s, guard, pr, pw, heap.Read, func(g *heap.Graph) *heap.Walk { return &g.Walk })
	if taken != nil {
		defer taken.Close()
	}
	if err != nil {
		return err
	}
	names := p.resolveNames(ctx, g, s)
	w.list.remember(g.Types)
	if ctx.Err() != nil {
		return orInterrupted(ctx, nil, waitedNames)
	}
	x := watchedSnapshot{at: time.Now(), gcs: taken.GCs, counts: g.Histogram()}
	if w.keep != "" {
		x.file = filepath.Join(w.keep, dumpName(s.target, x.at))
		if _, err := p.writeSnapshot(x.file, s, guard, g, p.dumpInfo(s, taken, g, names)); err != nil {
			return err
		}
	}
	w.last, w.snapshots = g, append(w.snapshots, x)
	w.list.MinOf(x.counts.Total().Bytes)
	w.leaks, w.types = w.findLeaks(), &heap.Graph{Types: g.Types}
	p.UI.Say(w.progress())
	if w.list.format != "text" || len(w.snapshots) == 1 {
		return nil
	}
	rows := w.growth()
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(out io.Writer) error {
		writeDiff(out, width, &w.list, w.counts(), lists.Cut(rows, w.list.top), len(rows))
		return nil
	})
}

// progress describes the last snapshot and its cost.
func (w *watcher) progress() string {
	x := &w.snapshots[len(w.snapshots)-1]
	pause, total := int64(0), x.counts.Total()
	for _, gc := range x.gcs {
		pause += gc.Pause()
	}
	text := fmt.Sprintf("snapshot %d of %d: %s in %s; it has paused the program for %.1f ms", len(w.snapshots), w.count,
		view.Counted(total.Objects, "object"), formats.SizeText(int64(total.Bytes)), float64(pause)/1e6)
	if x.file != "" {
		text += "; " + x.file
	}
	return text
}

func (w *watcher) counts() (list []*heap.Histogram) {
	for i := range w.snapshots {
		list = append(list, w.snapshots[i].counts)
	}
	return list
}

// growth returns the types that are listed and have grown: those first that grew every time, and of
// these the program's own, because byte[] and string say nothing about who keeps them.
func (w *watcher) growth() []heap.Growth {
	list := slices.DeleteFunc(heap.Compare(w.counts()...), func(g heap.Growth) bool {
		return g.Bytes() <= 0 || g.Bytes() < int64(w.list.Min) || !w.list.matches(g.Name)
	})
	rank := func(g *heap.Growth) (n int) {
		if !g.Always() {
			n += 2
		}
		if !ofProgram(g.Name) {
			n++
		}
		return n
	}
	slices.SortStableFunc(list, func(a, b heap.Growth) int { return cmp.Compare(rank(&a), rank(&b)) })
	return list
}

// ofProgram reports whether the name of a type contains one that is not of the runtime and its libraries,
// as a list of the program's objects does.
func ofProgram(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("<>[], +*&", r) })
	if len(words) == 0 {
		return false
	}
	for i, word := range words {
		if !heap.OfLibrary(word) && (i == 0 || strings.Contains(word, ".")) { // the others are nested classes
			return true
		}
	}
	return false
}

// A leak is a type that grew every time, with what holds its objects.
type leak struct {
	heap.Growth
	held []*heap.Branch // the shortest paths to them, merged
}

// findLeaks returns the types that grew every time, the largest with what holds them.
func (w *watcher) findLeaks() (list []leak) {
	if len(w.snapshots) < 2 {
		return nil
	}
	var paths *heap.Paths
	for _, g := range w.growth() {
		if !g.Always() || w.list.top > 0 && len(list) == w.list.top {
			continue
		}
		if paths == nil {
			paths = w.last.Paths()
		}
		l := leak{Growth: g}
		if len(list) < lists.TableRows { // each needs a walk through the whole heap
			is := make([]bool, len(w.last.Types))
			for i := range is {
				is[i] = w.last.Types[i].String() == g.Name
			}
			l.held, _ = paths.Merge(func(o heap.Object) bool { return is[w.last.Type(o)] })
		}
		list = append(list, l)
	}
	return list
}

// path returns the path to most of the objects: what holds the first step, and the types on it.
func (l *leak) path(list *selection, g *heap.Graph) (steps []string) {
	if len(l.held) == 0 {
		return nil
	}
	b := l.held[0]
	steps = []string{b.Holder}
	event := ""
	for {
		steps = append(steps, list.name(g.Types[b.Type].String())+event)
		if len(b.Below) == 0 {
			return steps
		}
		event = eventText(g, b.Type, b.Below[0].Type)
		b = b.Below[0]
	}
}

// unheld is what holds objects of which no path is known.
const unheld = "not searched for, or unreachable"

// cli.heldBy describes the path to most of the objects.
func (l *leak) heldBy(list *selection, g *heap.Graph) string {
	return cmp.Or(strings.Join(l.path(list, g), " > "), unheld)
}

// writeWatch prints the result.
func (p *commands) writeWatch(w *watcher) error {
	leaks := w.leaks
	switch w.list.format {
	case "json":
		return p.PrintJSON(newWatchJSON(w, leaks))
	case "csv":
		return lists.PrintCSV(p.Run, []lists.Column[leak]{
			{CSV: "type", Value: func(l *leak) any { return l.Name }},
			{CSV: "objects_diff", Value: func(l *leak) any { return l.Objects() }},
			{CSV: "bytes_diff", Value: func(l *leak) any { return l.Bytes() }},
			{CSV: "held_by", Value: func(l *leak) any { return l.heldBy(&w.list, w.types) }},
		}, leaks)
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(out io.Writer) error {
		writeLeaks(out, width, w, leaks)
		return nil
	})
}

func writeLeaks(out io.Writer, width int, w *watcher, leaks []leak) {
	if len(leaks) == 0 {
		fmt.Fprintf(out, "\nNo type grew every time in %s.\n", view.Counted(uint64(len(w.snapshots)), "snapshot"))
		return
	}
	fmt.Fprintf(out, "\nGrew every time in %s:\n", view.Counted(uint64(len(w.snapshots)), "snapshot"))
	t := &view.Table{Columns: []screen.Column{
		{Title: "objects", Right: true},
		{Title: "bytes", Right: true},
		{Title: "what holds most of it, and what grew", Cut: true, Width: 20},
	}}
	top := &leakStep{}
	for i := range leaks {
		top.add(&leaks[i], leaks[i].lines(&w.list, w.types))
	}
	top.rows(t, 0)
	t.Print(out, width)
}

// lines returns the path as lines of a table.
func (l *leak) lines(list *selection, g *heap.Graph) []string {
	path := l.path(list, g)
	if len(path) == 0 {
		return []string{list.name(l.Name) + " (" + unheld + ")"}
	}
	path = append([]string{view.Clean(path[0]) + ": " + path[1]}, path[2:]...)
	first, omitted, last := middle(path)
	if omitted == 0 {
		return path
	}
	return slices.Concat(first, []string{fmt.Sprintf("... %s ...", view.Counted(uint64(omitted), "step"))}, last)
}

// A leakStep is a step of the paths to leaks. Many leaks have most of their paths in common.
type leakStep struct {
	text  string
	leaks []*leak // whose paths end here
	bytes int64   // by which those whose paths begin so have grown
	below []*leakStep
}

func (s *leakStep) add(l *leak, path []string) {
	s.bytes += l.Bytes()
	if len(path) == 0 {
		s.leaks = append(s.leaks, l)
		return
	}
	at := slices.IndexFunc(s.below, func(x *leakStep) bool { return x.text == path[0] })
	if at < 0 {
		at = len(s.below)
		s.below = append(s.below, &leakStep{text: path[0]})
	}
	s.below[at].add(l, path[1:])
}

// rows adds the steps below, those first that have grown most.
func (s *leakStep) rows(t *view.Table, depth int) {
	slices.SortStableFunc(s.below, func(a, b *leakStep) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, x := range s.below {
		text := strings.Repeat("  ", depth) + x.text
		for _, l := range x.leaks {
			t.Add(fmt.Sprintf("%+d", l.Objects()), signedSize(l.Bytes()), text)
		}
		if len(x.leaks) == 0 {
			t.Add("", "", text)
		}
		x.rows(t, depth+1)
	}
}

type watchJSON struct {
	Process   string                `json:"process"`
	PID       int                   `json:"pid"`
	Snapshots []watchedSnapshotJSON `json:"snapshots"`
	Types     []lists.Object        `json:"grew_every_time"`
}

type watchedSnapshotJSON struct {
	Time  time.Time `json:"time"`
	GCs   []uint32  `json:"gcs"`
	Pause int64     `json:"pause_ns"`
	File  string    `json:"file,omitempty"`
	countJSON
}

func newWatchJSON(w *watcher, leaks []leak) *watchJSON {
	out := &watchJSON{Process: w.facts.Name, PID: w.target.PID, Types: []lists.Object{}}
	for i := range w.snapshots {
		x := &w.snapshots[i]
		row := watchedSnapshotJSON{
			Time:      x.at,
			GCs:       []uint32{},
			File:      x.file,
			countJSON: countJSON(x.counts.Total().Count),
		}
		for _, gc := range x.gcs {
			row.GCs = append(row.GCs, gc.Number)
			row.Pause += gc.Pause()
		}
		out.Snapshots = append(out.Snapshots, row)
	}
	columns := growthColumns(&w.list, true)
	for i := range leaks {
		row := lists.Objects(columns, []heap.Growth{leaks[i].Growth})[0]
		out.Types = append(out.Types,
			append(row, lists.Member{Name: "paths", Value: branchesJSON(w.types, leaks[i].held)}))
	}
	return out
}

// dumpName returns the name of a file for a snapshot of a process.
func dumpName(t *host.Target, at time.Time) string {
	return strings.TrimSuffix(outfile.RecordingName(attach.Names(&t.Process)[0], at), ".nettrace") + ".gcdump"
}
