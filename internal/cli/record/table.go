package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/parquet"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

// tableGCPercent keeps the memory of gclog while it writes a table in proportion to what it needs.
const tableGCPercent = 30

// tableFlags adds the format of tables to the flags of outputs.
func tableFlags(list []cli.Flag) []cli.Flag {
	for _, f := range list {
		if f, ok := f.(*cli.StringSliceFlag); ok && f.Name == flags.Format {
			f.Usage = strings.Replace(f.Usage, formatNames(), formatNames()+", "+results.ParquetFormat, 1)
		}
	}
	return list
}

// isTable reports whether the outputs of a call are a table.
func isTable(c *cli.Context) bool {
	if given := c.StringSlice(flags.Format); len(given) > 0 {
		return slices.Contains(given, results.ParquetFormat)
	}
	return slices.ContainsFunc(c.StringSlice(flags.Output), func(path string) bool {
		return strings.EqualFold(filepath.Ext(path), ".parquet")
	})
}

// convertTable writes the records of all inputs as a table. Inputs are independent of each other,
// except for the files of one rotated log.
func (p *commands) convertTable(c *cli.Context, names []string) error {
	path, err := p.tablePath(c)
	if err != nil {
		return err
	}
	chosen, err := subject.InFiles(c)
	if err != nil {
		return err
	}
	inputs := subject.Series(names)
	for _, name := range names {
		if name == "-" {
			continue
		}
		f, _, err := history.OpenFile(name) // so that a wrong name is reported before hours of work
		if err != nil {
			return subject.InputError(err)
		}
		_ = f.Close()
	}
	rotate := rotate.Options{Sudo: outfile.SudoUser(), MakeDirs: strings.Contains(filepath.Dir(path), "%")}
	check := func(path string) error { return outfile.NotInput(path, names...) }
	if err := check(path); err != nil {
		return err
	}
	t := parquet.NewTable(parquet.Options{
		Path:    path,
		Rotate:  rotate,
		Version: p.Version,
		Part:    "-" + program.RandomID(),
		Check:   check,
	})
	defer t.Discard()
	// Row groups and sorted runs are garbage soon, and there is nothing else.
	defer debug.SetGCPercent(debug.SetGCPercent(tableGCPercent))
	x := &tableInput{p: p, table: t, chosen: chosen}
	stop := p.UI.Watch(func(time.Duration) string {
		return fmt.Sprintf("%d of %s read, %s",
			x.done.Load(), view.Counted(uint64(len(inputs)), "input"), view.Counted(uint64(x.rows.N.Load()), "row"))
	})
	defer stop()
	var bad error
	for _, names := range inputs {
		err := x.read(names)
		if x.failed != nil {
			return x.failed
		}
		bad = errors.Join(bad, err)
		x.done.Add(1)
	}
	files, err := t.Finish()
	stop()
	switch {
	case err != nil:
		return err
	case len(files) > 0:
		p.sayTable(t, files)
	case bad == nil && subject.ByFlag(c):
		return exit.NoProcessf("the inputs contain no records of the chosen process")
	case bad == nil:
		p.UI.Say("nothing was written: the inputs contain no records")
	}
	if bad != nil {
		return exit.With(exit.Data, bad)
	}
	return nil
}

// sayTable says what was written.
func (p *commands) sayTable(t *parquet.Table, files []parquet.File) {
	var rows, size int64
	for _, f := range files {
		rows += f.Rows
		size += f.Size
	}
	path := files[0].Path
	if len(files) > 1 {
		path = fmt.Sprintf("%d files, the first is %s", len(files), path)
	}
	more := ""
	if twice := t.Rows() - rows; twice > 0 {
		more = fmt.Sprintf("; %s in several inputs", view.Counted(uint64(twice), "row"))
		if twice == 1 {
			more += " was written once"
		} else {
			more += " were written once"
		}
	}
	p.UI.Sayf("wrote %s: %s of %s, %s%s",
		path, view.Counted(uint64(rows), "row"), processCount(t.Processes()), formats.SizeText(size), more)
}

func processCount(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// tablePath returns the path of a table from the flags.
func (p *commands) tablePath(c *cli.Context) (string, error) {
	for _, name := range []string{"filecount", "filesize", "rotation-names", "causes", flags.Xlog} {
		if c.IsSet(name) {
			return "", exit.Usagef("--%s does not apply to the format parquet", name)
		}
	}
	paths := c.StringSlice(flags.Output)
	switch {
	case len(paths) == 0 || slices.ContainsFunc(paths, output.IsStream):
		return "", exit.Usagef("the format parquet needs a file: give one, such as -o fleet.parquet")
	case len(paths) > 1 || len(c.StringSlice(flags.Format)) > 1:
		return "", exit.Usagef("the format parquet is written alone: use one -o, and another convert for the rest")
	}
	path := paths[0]
	if bad := output.BadTablePlace(path); bad != "" {
		return "", exit.Usagef("%s: there is no %s: %s", path, bad, output.TablePlaces)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return "", exit.Usagef("cannot write to %s: the format parquet needs a file, not a device or pipe", path)
	}
	folder := output.KnownFolder(path)
	if folder == filepath.Dir(path) {
		return path, outfile.CheckOutput(p.Run, output.ExpandTime(path, time.Time{}))
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() { // those below it are created
		return "", exit.Usagef("cannot write to %s: there is no directory %s; create it first (mkdir -p %s)",
			path, folder, folder)
	}
	return path, nil
}

// A tableInput reads inputs into a table.
type tableInput struct {
	p      *commands
	table  *parquet.Table
	chosen history.Choice
	failed error // the table cannot be written
	done   atomic.Int64
	rows   subject.Counter
}

// read reads one input. What precedes damage is in the table, too.
func (x *tableInput) read(names []string) error {
	in, err := subject.Open(x.p.Run, names, history.Options{Choice: x.chosen})
	if none, ok := errors.AsType[*history.ProcessError](err); ok && none.Asked() {
		return nil // another input may contain it
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return in.ReadAll(func(p *gclog.Process) gclog.Observer {
		o := gclog.Tee(x.rows.Observe, x.table.Observe(p, "", func(err error) {
			x.failed = err
			in.Stop(err)
		}))
		if !in.IsLog() {
			return analysis.Judged(p, o)
		}
		return o
	})
}
