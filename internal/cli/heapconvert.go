package cli

import (
	"io"
	"path/filepath"

	"github.com/gclog/gclog/formats"
	"github.com/urfave/cli/v2"
)

func (p *program) heapConvertCommand() *cli.Command {
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
			&cli.StringFlag{Name: outputFlag, Aliases: []string{"o"}, Category: outputOptions, Usage: "write to `FILE`, a name that ends with .gcdump"},
			assembliesFlag(),
			symbolsFlag(),
			unpackFlag(),
		},
		Action: p.heapConvert,
	}
}

func (p *program) heapConvert(c *cli.Context) error {
	name, err := heapFile(c)
	if err != nil {
		return err
	}
	var n heapNames
	if err := n.read(c); err != nil {
		return err
	}
	to := c.String(outputFlag)
	if filepath.Ext(to) != ".gcdump" {
		return usagef("heap convert needs -o FILE.gcdump")
	}
	if err := p.checkFile(to); err != nil {
		return err
	}
	g, info, err := p.readGraph(name, &n)
	if err != nil {
		return err // a file with a part of the heap looks like a whole one
	}
	size, err := writeFile(to, modeSnapshot, func(w io.Writer) error { return g.WriteDump(w, info) })
	if err != nil {
		return err
	}
	p.ui.sayf("%s: %s, %s", to, counted(uint64(g.Len()), "object"), formats.SizeText(size))
	return nil
}
