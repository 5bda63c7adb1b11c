package heap

import (
	"cmp"
	"io"
	"slices"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/flame"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write what objects retain, for tools that draw flame graphs",
		ArgsUsage: "FILE",
		Description: `A stack is the chain of what keeps objects alive alone, by type: flat is what the objects
of a type occupy, cum is what they retain. The outermost frame is what holds the first
object: a static field, a local variable (stack), a handle, several roots, or no root.
pprof is a profile for go tool pprof, speedscope JSON for speedscope, folded has lines for
flamegraph.pl.

Examples:
   gclog heap export app.gcdump -o app.pb.gz
   go tool pprof -top -cum app.pb.gz
   go tool pprof -http :8080 -diff_base monday.pb.gz friday.pb.gz
   gclog heap export app.gcdump -f speedscope -o app.json
   gclog heap export app.gcdump -f folded | flamegraph.pl > app.svg`,
		Flags: flags.Join([]cli.Flag{
			assembliesFlag(),
			symbolsFlag(),
			flags.Unpack(),
			rawNamesFlag(),
		}, results.Flags(results.FlameFormats)),
		Action: p.export,
	}
}

func (p *commands) export(c *cli.Context) error {
	var n naming
	if err := n.read(c); err != nil {
		return err
	}
	name, err := fileOf(c)
	if err != nil {
		return err
	}
	how, err := results.Format(c, results.FlameFormats)
	if err != nil {
		return err
	}
	write := map[string]func(*flame.Profile, io.Writer) error{
		"pprof": (*flame.Profile).WritePprof, "speedscope": (*flame.Profile).WriteSpeedscope,
		"folded": (*flame.Profile).WriteFolded,
	}[how]
	to := cmp.Or(c.String(flags.Output), output.Stdout)
	if err := outfile.NotInput(to, name); err != nil {
		return err
	}
	if how == "pprof" && to == output.Stdout && screen.IsTerminal(p.Unfiltered) {
		return exit.Usagef("a profile for pprof is binary: give a file with -o, or a pipe")
	}
	if err := outfile.Check(p.Run, to); err != nil {
		return err
	}
	g, info, err := p.readGraph(name, &n)
	if err != nil {
		return err // without references it is unknown what retains what
	}
	x := flameOf(g, &n)
	x.Title, x.Time = subject.InputName(name), info.Time
	return results.Write(p.Run, to, view.Counted(uint64(len(x.Samples)), "stack"),
		func(w io.Writer) error { return write(x, w) })
}

// flameOf returns the chains of dominators of all objects as stacks.
func flameOf(g *heap.Graph, n *naming) *flame.Profile {
	const deepest = 60
	x := &flame.Profile{}
	types := make([]int, len(g.Types)) // their frames, plus 1
	frame := func(of int) int {
		if types[of] == 0 {
			t := &g.Types[of]
			types[of] = x.Frame(flame.Frame{Name: n.name(t.String()), File: view.Clean(g.Modules[t.Module])}) + 1
		}
		return types[of] - 1
	}
	var stack []int
	lengths := []int{0} // by depth: frames of the branches above
	eachBranch(g.Dominators().Chains(deepest), func(depth int, b *heap.Branch) {
		stack = stack[:lengths[depth]]
		if b.Holder != "" { // in brackets, as in .gcdump files: a type may have the same name
			stack = append(stack, x.Frame(flame.Frame{Name: "[" + view.Clean(b.Holder) + "]"}))
		}
		stack = append(stack, frame(b.Type))
		lengths = append(lengths[:depth+1], len(stack))
		if b.Own.Objects > 0 {
			x.Samples = append(x.Samples,
				flame.Sample{Stack: slices.Clone(stack), Objects: b.Own.Objects, Bytes: b.Own.Bytes})
		}
	})
	return x
}
