package heap

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"sync/atomic"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/parse"
	"github.com/urfave/cli/v2"
)

func (p *commands) heapCommand() *cli.Command {
	return &cli.Command{
		Name:      "heap",
		Usage:     "analyze heap snapshots: what is alive, what holds it, what grows",
		ArgsUsage: "COMMAND",
		Description: `A heap snapshot lists every object that a full collection left alive, with its
references. FILE is a .gcdump file, of gclog, dotnet-gcdump, dotnet-monitor or PerfView,
or a .nettrace recording with a heap walk, also .gz and .zst; - is standard input.
docs/heap.md has an example of each command.

Examples:
   gclog heap snapshot 4711 -o app.gcdump          of a running process
   gclog heap stat app.nettrace                    the types with the most bytes
   gclog heap diff monday.nettrace friday.nettrace what grew
   gclog heap retained app.nettrace                what holds the most memory
   gclog heap roots app.gcdump MyApp.Session       why these objects are alive
   gclog heap suspects app.nettrace                where memory accumulates
   gclog heap tree app.nettrace                    what retains what
   gclog heap inspect app.nettrace                 known kinds of waste and leaks
   gclog heap export app.nettrace -o app.pb.gz
   gclog heap convert app.nettrace -o app.gcdump   for PerfView and Visual Studio`,
		Subcommands: []*cli.Command{
			p.snapshotCommand(),
			p.watchCommand(),
			p.statCommand(),
			p.diffCommand(),
			p.retainedCommand(),
			p.rootsCommand(),
			p.suspectsCommand(),
			p.treeCommand(),
			p.inspectCommand(),
			p.exportCommand(),
			p.convertCommand(),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return flags.NoSuchCommand(c.Command.Subcommands, "gclog heap", c.Args().First())
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// fileFlags are the flags that all commands about files with snapshots have.
func fileFlags(more ...cli.Flag) []cli.Flag {
	return listFlags(append([]cli.Flag{assembliesFlag(), symbolsFlag(), flags.Unpack()}, more...)...)
}

// listFlags are the flags of all commands that list what a snapshot contains.
func listFlags(more ...cli.Flag) []cli.Flag {
	return flags.Join(results.Flags(results.Lists), []cli.Flag{
		lists.TopFlag("20 in a table, 5 for each detector of inspect; else all"),
		&cli.StringFlag{Name: "filter", Usage: "list only what matches the regular expression `RE`"},
		rawNamesFlag(),
		&cli.StringFlag{
			Name: "min", Usage: "list only what has at least `SIZE`: bytes (K, M, G), or a share of the heap (1%)",
		},
	}, more)
}

// A selection is what the flags say about a list.
type selection struct {
	format string
	top    int // 0: all
	filter *regexp.Regexp
	lists.Least
	naming
}

func readHeapFlags(c *cli.Context, how string) (l selection, err error) {
	l.format = how
	if l.top, err = lists.Top(c, how); err != nil {
		return l, err
	}
	if err := l.Read(c); err != nil {
		return l, err
	}
	if l.filter, err = regexp.Compile(c.String("filter")); err != nil {
		return l, exit.Usagef("--filter: %v", err)
	}
	return l, l.naming.read(c)
}

// keeps reports whether the list contains a row with a name and a number of bytes.
func (l *selection) keeps(name string, bytes uint64) bool {
	return bytes >= l.Min && l.matches(name)
}

func (l *selection) matches(name string) bool {
	return l.filter.MatchString(name) || l.filter.MatchString(heap.Readable(name))
}

// addressOf returns the address of an object for scripts, or "" for none.
func addressOf(g *heap.Graph, o heap.Object) string {
	if o == heap.NoObject {
		return ""
	}
	return fmt.Sprintf("0x%x", g.Address(o))
}

// narrows reports whether the flags may leave out everything.
func (l *selection) narrows() bool { return l.Min > 0 || l.that() != "" }

// that describes what --filter chooses, after a noun.
func (l *selection) that() string {
	if l.filter.String() == "" {
		return ""
	}
	return " that matches --filter " + view.Clean(l.filter.String())
}

// none is the line of a list without rows: what has not been found.
func (l *selection) none(noun, verb string) string {
	if l.Min == 0 {
		return "  there is no " + noun + l.that()
	}
	return fmt.Sprintf("  no %s%s %s %s or more", noun, l.that(), verb, formats.SizeText(int64(l.Min)))
}

// firstOf says that a list has the first n of all types.
func firstOf(n, all int) string {
	if n == 1 {
		return "the first of " + view.Counted(uint64(all), "type")
	}
	return fmt.Sprintf("the first %d of %s", n, view.Counted(uint64(all), "type"))
}

// fileOf returns the only argument.
func fileOf(c *cli.Context) (string, error) {
	if c.Args().Len() != 1 {
		return "", exit.Usagef("heap %s needs one file: see gclog heap %[1]s --help", c.Command.Name)
	}
	return c.Args().First(), nil
}

// readHeap reads a snapshot: a recording with one function, a .gcdump file with another. A snapshot
// that is incomplete is returned with an error that says so.
func readHeap[T any](
	p *commands, name string, recording func(io.Reader) (*T, error), dump func(r io.Reader, memory int64) (*T, error),
	walk func(*T) *heap.Walk,
) (*T, error) {
	src, err := subject.OpenInput(p.Run, name, "a snapshot or a recording")
	switch {
	case errors.Is(err, fs.ErrNotExist) && !subject.AreFiles([]string{name}):
		return nil, exit.Usagef("there is no file %[1]s; a snapshot of a process, which pauses it, makes one: gclog "+
			"heap snapshot %[1]s -o heap.gcdump", name)
	case err != nil:
		return nil, err
	}
	defer src.Close()
	name = subject.InputName(name)
	var read atomic.Int64
	content, err := unpack.Reader(src, &read, subject.Limit(p.Run, unpack.LimitKept))
	if err != nil {
		return nil, exit.Dataf("%s: %w", name, err)
	}
	r := input{bufio.NewReaderSize(content, 256<<10), content}
	if heap.IsDump(r) {
		memory := p.snapshotMemory(r)
		x, err := dump(r, memory)
		if err != nil {
			return nil, exit.Dataf("%s: %w", name, tooLarge(err, memory))
		}
		p.sayLesser(name, walk(x))
		return x, incomplete(name, walk(x))
	}
	x, err := recording(r)
	var kind *parse.KindError
	switch {
	case errors.Is(err, heap.ErrNoWalk):
		return nil, exit.Dataf("%s contains no heap walk: it needs the keywords 0x1980001 of "+
			"Microsoft-Windows-DotNETRuntime (dotnet-gcdump's) and a .NET that is not NativeAOT before 10", name)
	case errors.As(err, &kind):
		return nil, exit.Dataf("%s is neither a recording (.nettrace) nor a heap snapshot (.gcdump): %w", name, err)
	case x == nil:
		return nil, exit.Dataf("%s: %w", name, err)
	}
	p.sayLesser(name, walk(x))
	return x, unread(name, err, walk(x))
}

// A input is the content of a file, whose head can be looked at.
type input struct {
	*bufio.Reader
	content io.Reader
}

// Len returns how many bytes are left, -1 if that is unknown. Memory for what a file contains is
// allocated at once if its size is known.
func (i input) Len() int {
	if rest, ok := i.content.(interface{ Len() int }); ok {
		return i.Buffered() + rest.Len()
	}
	return -1
}

// sayLesser says so if a walk followed a collection of younger generations only. The runtime walks its
// heap at every collection that comes before the one that was asked for; if that is lost, the best walk
// may be such a one. A .gcdump file of another tool does not say which one it was.
func (p *commands) sayLesser(name string, w *heap.Walk) {
	if w.Collection > 0 && w.Depth < uint32(gclog.Gen2) {
		p.UI.Sayf("%s: the walk followed a gen%d collection, so objects of older generations may be dead",
			name, w.Depth)
	}
}

// unread returns what a walk lacks as an error, or nil. err is how reading it ended: damage behind a
// complete walk does not matter.
func unread(name string, err error, w *heap.Walk) error {
	_, damaged := errors.AsType[*parse.FormatError](err)
	ended := errors.Is(err, io.ErrUnexpectedEOF) // the recording, or what it is compressed with
	switch {
	case err == nil, (damaged || ended) && w.Complete():
		return incomplete(name, w)
	case ended:
		return lacking(name, "it was cut off")
	case damaged:
		return lacking(name, err.Error())
	}
	return exit.Dataf("%s: %w", name, err)
}

// incomplete returns what a walk lacks as an error, or nil.
func incomplete(name string, w *heap.Walk) error {
	switch {
	case w.Complete():
		return nil
	case w.Lost > 0:
		return lacking(name,
			fmt.Sprintf("the runtime dropped %s, which a larger buffer may avoid", view.Counted(w.Lost, "event")))
	case w.Limited:
		return lacking(name, "its writer has cut it off, at its limit of 10,000,000 objects; gclog heap snapshot and "+
			"recordings have no such limit")
	case w.Unrooted:
		return lacking(name,
			"it was cut off: most of its objects are reachable from no root, so what keeps them alive is missing")
	case w.Cut:
		return lacking(name, "it ends in the middle of the heap walk")
	case w.Gaps:
		return lacking(name, "events of the heap walk are missing")
	}
	return exit.Dataf("%s is incomplete: it contains no root, so what keeps its objects alive is unknown", name)
}

// lacking returns the error that a snapshot is incomplete.
func lacking(name, why string) error {
	return exit.Dataf("%s is incomplete: %s; the counts are minimums, and references are unknown", name, why)
}

func (p *commands) readGraph(name string, n *naming) (*heap.Graph, *heap.DumpInfo, error) {
	info := &heap.DumpInfo{}
	g, err := readHeap(p, name, heap.Read, func(r io.Reader, memory int64) (g *heap.Graph, err error) {
		g, info, err = heap.ReadDumpWithin(r, memory)
		if err == nil && info.Multipliers != nil {
			p.UI.Sayf("%s is a sample of the heap: the numbers are those of the sample", subject.InputName(name))
		}
		return g, err
	}, func(g *heap.Graph) *heap.Walk { return &g.Walk })
	if g != nil {
		info.Time = g.Time // of a recording, too
		n.assemblies.Notify = p.UI.Say
		g.Resolve(context.Background(), &n.assemblies)
		n.remember(g.Types)
		p.sayNameless(subject.InputName(name), &n.assemblies, g.Types)
		if g.Walk.Complete() && g.LacksStackRoots() {
			p.UI.Sayf("%s lacks the roots on the stack, which NativeAOT sends from .NET 11 on: what only local "+
				"variables and thread statics hold counts as unreachable", subject.InputName(name))
		}
	}
	return g, info, err
}

// readHistogram counts the objects of a snapshot. A .gcdump file is first searched for the counts that
// gclog writes, then its objects are counted in one pass if they are many, and only if that is not
// possible is a graph made of it, as it is of input that can only be read once.
func (p *commands) readHistogram(name string, n *naming) (h *heap.Histogram, err error) {
	read := func(dump countFunc) (*heap.Histogram, error) {
		return readHeap(p, name, heap.ReadHistogram, func(r io.Reader, memory int64) (*heap.Histogram, error) {
			h, info, err := dump(r, memory)
			if err == nil && info.Multipliers != nil {
				p.UI.Sayf("%s is a sample of the heap: the numbers are estimates", subject.InputName(name))
				h.Scale(info.Multipliers)
			}
			return h, err
		}, func(h *heap.Histogram) *heap.Walk { return &h.Walk })
	}
	ways := []countFunc{graphCounts}
	if info, statErr := os.Stat(name); statErr == nil && info.Mode().IsRegular() {
		ways = append([]countFunc{heap.ReadDumpHistogramWithin, inPassing(countLarge)}, ways...)
	}
	for _, way := range ways {
		if h, err = read(way); !errors.Is(err, heap.ErrUncounted) {
			break
		}
	}
	if h != nil {
		n.assemblies.Notify = p.UI.Say
		n.assemblies.Resolve(context.Background(), h.Types, h.Modules)
		n.remember(h.Types)
		p.sayNameless(subject.InputName(name), &n.assemblies, h.Types)
	}
	return h, err
}

// A countFunc counts the objects of a .gcdump file, in some memory.
type countFunc func(r io.Reader, memory int64) (*heap.Histogram, *heap.DumpInfo, error)

// inPassing is for a function whose memory does not depend on the number of objects.
func inPassing(count func(io.Reader) (*heap.Histogram, *heap.DumpInfo, error)) countFunc {
	return func(r io.Reader, _ int64) (*heap.Histogram, *heap.DumpInfo, error) { return count(r) }
}

// fewForGraph is how many objects of another tool's file are few enough for a graph when they are only
// counted: it takes some 80 MB.
const fewForGraph = 1_000_000

// countLarge counts the objects of a large .gcdump file of another tool. Of a small one a graph says
// more: what is unreachable, and whether that is because the file was cut off.
func countLarge(r io.Reader) (*heap.Histogram, *heap.DumpInfo, error) {
	h, info, err := heap.CountDump(r)
	if err == nil && h.Walk.Complete() && h.Walk.Objects <= fewForGraph {
		return nil, nil, heap.ErrUncounted
	}
	return h, info, err
}

// graphCounts counts the objects of a .gcdump file of any tool, and those that are unreachable.
func graphCounts(r io.Reader, memory int64) (*heap.Histogram, *heap.DumpInfo, error) {
	g, info, err := heap.ReadDumpWithin(r, memory)
	if err != nil {
		return nil, nil, err
	}
	h := g.Histogram()
	if info.Multipliers == nil && h.Walk.Complete() {
		unreachable := g.Unreachable()
		h.Unreachable = &unreachable
	}
	return h, info, nil
}

// memoryOfUnpacked is how much memory a snapshot may take, as a multiple of the limit of its size. Those
// of real programs take two or three times their size.
const memoryOfUnpacked = 4

// snapshotMemory returns how much memory a snapshot may take: as much as it needs if its size is known.
func (p *commands) snapshotMemory(r input) int64 {
	if r.Len() >= 0 {
		return math.MaxInt64
	}
	return memoryOfUnpacked * subject.Limit(p.Run, unpack.LimitKept)
}

// tooLarge returns an error of reading a snapshot, or one that says how to raise the limit that it has
// exceeded.
func tooLarge(err error, memory int64) error {
	if errors.Is(err, heap.ErrTooLarge) {
		return fmt.Errorf("it needs more than %s of memory: --%s SIZE lets it have %d times SIZE, and a file that is "+
			"not packed has no limit", formats.SizeText(memory), unpack.Flag, memoryOfUnpacked)
	}
	return err
}
