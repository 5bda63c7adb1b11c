package cli

import (
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cause"
	"github.com/urfave/cli/v2"
)

// heapNames are what the flags say about the names of types.
type heapNames struct {
	raw        bool // they are not made readable
	assemblies heap.Assemblies
}

func assembliesFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "assemblies", Usage: "look in `DIR` for the program's assemblies, which have the names that a recording lacks; may be repeated"}
}

func rawNamesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "raw-names", Usage: "show the names of types as the runtime writes them"}
}

// read reads the flags, as far as the command has them.
func (n *heapNames) read(c *cli.Context) error {
	n.raw = c.Bool("raw-names")
	for _, dir := range c.StringSlice("assemblies") {
		if err := n.assemblies.AddDir(dir); err != nil {
			return usagef("--assemblies %s: %w", dir, cause.Of(err))
		}
	}
	return nil
}

// name returns the name of a type for people.
func (n *heapNames) name(exact string) string {
	if n.raw {
		return clean(exact)
	}
	return clean(heap.Readable(exact))
}
