package record

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/urfave/cli/v2"
)

func (p *commands) convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "convert recordings (.nettrace) or logs to logs of any format",
		ArgsUsage: "FILE...",
		Description: `- is standard input; .gz and .zst are unpacked. Several recordings of one process, or the files
of a rotated log, are treated as one log. An input with several processes requires --pid or --name, %p in the name
of the output, or a format that supports several processes: json, csv. Logs can be
unified (with DotNet: lines), json or csv; what they do not contain is unknown in the
output.

The format parquet makes one table of any number of inputs and processes, for DuckDB,
ClickHouse or Spark (docs/fleet.md). In the name of its output %d is the date and %H the
hour of the records (UTC): there is a file for each.

Examples:
   gclog convert app.nettrace                    lines on the terminal
   gclog convert app.nettrace -o gc.log          for GCViewer
   gclog convert app.nettrace.gz --format csv > gc.csv
   gclog convert machine.nettrace -o gc-%p.log   one log for each process
   gclog convert gc*.json -o gc.log              a log of another format
   gclog convert logs/*.json -o fleet.parquet    one table of all processes
   gclog convert logs/*.json -o 'fleet/date=%d/hour=%H/%s.parquet'`,
		Flags: flags.Join(tableFlags(outputFlags()), rotationFlags(0), []cli.Flag{
			flags.Unpack(),
		}, subject.Flags()),
		Action: p.convert,
	}
}

// A conversion is one run of gclog convert.
type conversion struct {
	p           *commands
	specs       []output.Spec
	opener      *output.Opener
	names       []string // of the inputs
	in          *history.Source
	format      formats.Options
	sets        []*output.Set
	processes   []*converting
	first       *gclog.Process // of logs: the process for which an output was last opened
	suspensions bool           // an output needs suspensions
	failed      error          // an output cannot be opened
	gcs         atomic.Int64
}

func (p *commands) convert(c *cli.Context) error {
	names := c.Args().Slice()
	if len(names) == 0 {
		return exit.Usagef("convert needs a file, or - for standard input")
	}
	if isTable(c) {
		return p.convertTable(c, names)
	}
	specs, err := p.outputs(c, output.Stdout, "")
	if err != nil {
		return err
	}
	for i := range specs {
		specs[i].Rotate.Buffered = true
	}
	v := &conversion{
		p:           p,
		specs:       specs,
		suspensions: output.Suspensions(specs),
		opener:      opener(p.Run),
		format:      formatOptions(p.Run),
		names:       names,
	}
	if v.format.DotnetCauses, err = dotnetCauses(c); err != nil {
		return err
	}
	v.format.Host = "" // a recording does not contain the host's name
	for _, name := range names {
		if err := v.checkOutputs(name, &gclog.Process{}); err != nil {
			return err
		}
	}
	chosen, err := subject.InFiles(c)
	if err != nil {
		return err
	}
	v.in, err = subject.Open(p.Run, names, history.Options{Choice: chosen, Single: subject.ByFlag(c) || !v.several()})
	if several, ok := errors.AsType[*history.ProcessError](err); ok && !several.Asked() {
		return exit.Usagef("it contains %d processes with a .NET runtime (%s): choose one with --pid or --name, "+
			"write one file for each with %%p in the name, or use the format json or csv",
			len(several.Processes), several.PIDs())
	}
	if err != nil {
		return subject.InputError(err)
	}
	defer v.in.Close()
	if f := v.in.Files[0]; v.in.IsLog() {
		p.UI.Sayf("%s: %s", f.Name, logs.Lacks(f.Log.Format))
	}
	p.UI.Data = onScreen(p.Run, specs)
	stop := subject.Progress(p.Run, v.in, v.gcs.Load)
	defer stop()
	err = v.in.ReadAll(v.observe)
	if v.failed == nil {
		v.endLogs()
	}
	written := slices.ContainsFunc(v.sets, (*output.Set).Written) || v.first != nil && len(v.processes) > 1
	err = errors.Join(err, v.finish())
	stop()
	if code := (*exit.Error)(nil); errors.As(err, &code) && code.Code == exit.Usage {
		return err
	}
	if err != nil {
		return exit.With(exit.Data, err)
	}
	if v.gcs.Load() == 0 {
		p.UI.Say(v.in.NothingText())
	} else if !written {
		p.UI.Sayf("nothing was written: %s contains nothing of the selection", strings.Join(names, ", "))
	}
	return nil
}

// checkOutputs makes sure that an input is not overwritten, and is not mistaken for an archived
// file of the output, of which only a limited number are kept.
func (v *conversion) checkOutputs(input string, process *gclog.Process) error {
	if input == "-" {
		return nil
	}
	for _, s := range v.specs {
		path := output.Expand(s.Path, process, v.format.Host)
		if err := outfile.NotInput(path, input); err != nil {
			return err
		}
		archived := output.Resolved(rotate.ArchivedFrom(input)) == output.Resolved(path)
		if archived && s.Rotate.Count > 0 && !output.IsStream(path) {
			return exit.Usagef("%s would count as an old file of %s and be deleted: choose another output", input, path)
		}
	}
	return nil
}

// several reports whether the outputs can take several processes.
func (v *conversion) several() bool {
	for _, s := range v.specs {
		if !output.PerProcess(s.Path) && !s.Format.ManyProcesses() {
			return false
		}
	}
	return true
}

// observe returns the converter of a process in an input: in recordings there is one for each pid,
// in logs one for each process instance.
func (v *conversion) observe(p *gclog.Process) gclog.Observer {
	i := slices.IndexFunc(v.processes, func(o *converting) bool { return !v.in.IsLog() && o.process.ID == p.ID })
	if i < 0 {
		i = len(v.processes)
		v.processes = append(v.processes, &converting{v: v})
	}
	o := v.processes[i]
	if o.start == nil {
		o.process = p
	}
	if !v.in.IsLog() {
		return analysis.Judged(p, o.Observe)
	}
	return o.Observe
}

// fail ends the conversion.
func (v *conversion) fail(err error) {
	v.failed = err
	v.in.Stop(err)
}

// endLogs ends the outputs of processes from logs.
func (v *conversion) endLogs() {
	for _, o := range v.processes {
		if v.in.IsLog() && o.set != nil && !o.ended {
			o.Observe(&gclog.End{At: o.newest, Reason: gclog.EndOfLog})
			o.ended = true
		}
	}
}

// finish writes what is buffered.
func (v *conversion) finish() error {
	var all error
	for _, set := range v.sets {
		all = errors.Join(all, set.Err(), set.Close())
	}
	v.sets = nil
	return all
}
