package heap

import (
	"io"
	"path/filepath"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a snapshot as a .gcdump file",
		ArgsUsage: "FILE",
		Description: `PerfView, Visual Studio and dotnet-gcdump read a .gcdump file. gclog's also contains what
they have no place for, such as the generations before the snapshot, so that gclog reads
from it what it reads from the recording. With --assemblies the names in the file are
exact. An existing file is replaced when the new one is complete.

Examples:
   gclog heap convert app.nettrace -o app.gcdump
   gclog heap convert app.nettrace -o app.gcdump --assemblies /app`,
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name:     flags.Output,
				Aliases:  []string{"o"},
				Category: flags.OutputGroup,
				Usage:    "write to `FILE`, a name that ends with .gcdump",
			},
			assembliesFlag(),
			symbolsFlag(),
			flags.Unpack(),
		},
		Action: p.convert,
	}
}

func (p *commands) convert(c *cli.Context) error {
	name, err := fileOf(c)
	if err != nil {
		return err
	}
	var n naming
	if err := n.read(c); err != nil {
		return err
	}
	to := c.String(flags.Output)
	if filepath.Ext(to) != ".gcdump" {
		return exit.Usagef("heap convert needs -o FILE.gcdump")
	}
	if err := outfile.Check(p.Run, to); err != nil {
		return err
	}
	g, info, err := p.readGraph(name, &n)
	if err != nil {
		return err // a file with a part of the heap looks like a whole one
	}
	size, err := outfile.Write(to, outfile.SnapshotMode, func(w io.Writer) error { return g.WriteDump(w, info) })
	if err != nil {
		return err
	}
	p.UI.Sayf("%s: %s, %s", to, view.Counted(uint64(g.Len()), "object"), formats.SizeText(size))
	return nil
}
