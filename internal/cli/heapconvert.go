package cli

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/urfave/cli/v2"
)

func (p *program) heapConvertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a recording's snapshot as a .gcdump file",
		ArgsUsage: "FILE",
		Description: `PerfView, Visual Studio and dotnet-gcdump read the file. It also contains what they have
no place for, such as the generations before the snapshot, so that gclog reads from it
what it reads from the recording. An existing file is replaced when the new one is complete.

Examples:
   gclog heap convert app.nettrace -o app.gcdump`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, a name that ends with .gcdump"},
		},
		Action: p.heapConvert,
	}
}

func (p *program) heapConvert(c *cli.Context) error {
	name, err := heapFile(c)
	if err != nil {
		return err
	}
	to := c.String("output")
	if filepath.Ext(to) != ".gcdump" {
		return usagef("heap convert needs -o FILE.gcdump")
	}
	g, info, err := p.readGraph(name, &heap.Assemblies{})
	if err != nil {
		return err // a file with a part of the heap looks like a whole one
	}
	size, err := writeDump(to, g, info)
	if err != nil {
		return err
	}
	p.ui.sayf("%s: %s, %s", to, counted(uint64(g.Len()), "object"), formats.SizeText(size))
	return nil
}

// writeDump writes a .gcdump file under another name, and renames it when it is complete. It returns
// the file's size.
func writeDump(name string, g *heap.Graph, info *heap.DumpInfo) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return 0, usagef("cannot write %s: %w", name, bare(err))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	err = g.WriteDump(w, info)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		size, err = f.Seek(0, 1)
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return 0, dataf("cannot write %s: %w", name, bare(err))
	}
	return size, nil
}

// bare returns an error of the file system without the name in it.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
