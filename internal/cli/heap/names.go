package heap

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

// naming are what the flags say about the names of types.
type naming struct {
	raw        bool // they are not made readable
	assemblies heap.Assemblies
	symbols    []string          // files and folders with symbols of NativeAOT programs
	symbolOf   map[string]string // the symbols of types by their exact names, if raw
}

func assembliesFlag() cli.Flag {
	return &cli.StringSliceFlag{
		Name: "assemblies",
		Usage: "look in `DIR` for the program's assemblies, which have the names that a recording lacks; may " +
			"be repeated",
	}
}

func symbolsFlag() cli.Flag {
	return &cli.StringSliceFlag{
		Name: "symbols",
		Usage: "read the names of a NativeAOT program's types from the symbols in `FILE`, the program or its .dbg, " +
			"or in a folder; may be repeated",
	}
}

func rawNamesFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:  "raw-names",
		Usage: "show the names of types as the runtime writes them, of NativeAOT programs the symbols",
	}
}

// read reads the flags, as far as the command has them.
func (n *naming) read(c *cli.Context) error {
	n.raw = c.Bool("raw-names")
	for _, dir := range c.StringSlice("assemblies") {
		if err := n.assemblies.AddDir(dir); err != nil {
			return exit.Usagef("--assemblies %s: %w", dir, cause.Of(err))
		}
	}
	n.symbols = c.StringSlice("symbols")
	for _, path := range n.symbols {
		if err := n.assemblies.AddSymbols(path); err != nil {
			return exit.Usagef("--symbols %s: %w", path, cause.Of(err))
		}
	}
	return nil
}

// name returns the name of a type for people.
func (n *naming) name(exact string) string {
	if symbol := n.symbolOf[exact]; symbol != "" {
		return view.Clean(symbol)
	}
	if n.raw {
		return view.Clean(exact)
	}
	return view.Clean(heap.Readable(exact))
}

// remember keeps the symbols of types, if they are to be shown.
func (n *naming) remember(types []heap.Type) {
	for i := range types {
		t := &types[i]
		if !n.raw || t.Symbol == "" {
			continue
		}
		if n.symbolOf == nil {
			n.symbolOf = map[string]string{}
		}
		if _, known := n.symbolOf[t.Exact]; !known {
			n.symbolOf[t.Exact] = t.Symbol
		}
	}
}

// processName names a process in front of what is said about it.
func processName(pid int) string { return fmt.Sprintf("process %d", pid) }

// sayNameless says where the names of the types of a file or process are, if they have only numbers.
func (p *commands) sayNameless(of string, a *heap.Assemblies, types []heap.Type) {
	if !heap.Nameless(types) {
		return
	}
	const where = "the program itself if it was not stripped, or in the .dbg file that dotnet publish writes next to it"
	if looked := a.LookedFor(); len(looked) > 0 {
		p.UI.Sayf("%s: the types have numbers instead of names: there are no symbols of this build of the program in "+
			"%s. They are in %s: --symbols FILE or DIR, also later for the file of a snapshot",
			of, strings.Join(looked, ", "), where)
		return
	}
	p.UI.Sayf("%s: the types have numbers instead of names, which are in the symbols of the NativeAOT program: in %s "+
		"(--symbols FILE or DIR)", of, where)
}
