package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "record the raw events of a running process (.nettrace)",
		ArgsUsage: "[PID|NAME]",
		Description: `The file can be converted with gclog convert at any time, and opened with PerfView and
dotnet-trace. Without PID or NAME, gclog records the only .NET process.

Examples:
   gclog record 4711                          until Ctrl-C, into MyApp_20260131_120000.nettrace
   gclog record 4711 -o a.nettrace --for 1m
   gclog record 4711 --level full             with allocations and pinned objects
   gclog record 4711 --stacks --for 30s       for gclog alloc and gclog induced
   gclog record -- dotnet app.dll             from the first event on
   gclog record 4711 -o - | gclog convert -   record and convert at the same time
   gclog record 4711 --on 'pause > 1s'        only the time around such a collection
   gclog record 4711 --on 'generation == 2 && heap.after > 8GB' --last 2m`,
		Flags: flags.Join(subject.TargetFlags(), sessionFlags(), []cli.Flag{
			&cli.StringFlag{
				Name:     flags.Output,
				Aliases:  []string{"o"},
				Category: flags.OutputGroup,
				Usage:    "write to `FILE`, - is standard output",
			},
			flags.Length(flags.EndingGroup, "stop after `TIME`: 90s, 5m, 00:00:05:00", "", ""),
			&cli.BoolFlag{
				Name:     unsafeFlag,
				Category: flags.RecordingGroup,
				Usage:    "send --providers to the runtime even if that is known to crash the process; for experiments",
			},
			&cli.StringFlag{
				Name: flags.On, Category: flags.EndingGroup,
				Usage: "record nothing but the time around the first time that `RULE` fires: a condition on a " +
					"collection, " +
					"such as 'pause > 1s', or EVENT: CONDITION; the stream is kept in memory until then",
			},
			&cli.BoolFlag{
				Name: stacksFlag, Category: flags.RecordingGroup,
				Usage: "with call stacks, the names of their methods and, without --level, allocations: for gclog " +
					"alloc and induced",
			},
			&cli.StringFlag{
				Name:     lastFlag,
				Category: flags.EndingGroup,
				Value:    "30s",
				Usage:    "with --on: record `TIME` from before it",
			},
		}),
		Action: p.record,
	}
}

const stacksFlag = "stacks"

// stacksBufferMB is room for the names of 16,000 methods in .NET Core 3.1 to .NET 8, and many more in
// later versions. They are buffered before anything is read of them; the memory is taken as needed.
const stacksBufferMB = 128

func (p *commands) record(c *cli.Context) error {
	if c.Bool(flags.Command) {
		return p.recordTree(c)
	}
	ch, err := subject.Choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	duration, err := flags.Duration(c, flags.For)
	if err != nil {
		return err
	}
	until, err := p.untilOption(c)
	if err != nil {
		return err
	}
	if c.Bool(stacksFlag) && !c.IsSet("level") {
		if err := c.Set("level", "full"); err != nil {
			return err
		}
	}
	cfg, err := sessionConfig(c, false)
	if err != nil {
		return err
	}
	cfg.RundownGC = until == nil
	if c.Bool(stacksFlag) {
		if until != nil {
			return exit.Usagef("--%s is not for --%s: names are sent at the end of a session, which may be long after",
				stacksFlag, flags.On)
		}
		cfg.Stacks, cfg.RundownMethods, cfg.BufferMB = true, true, max(cfg.BufferMB, stacksBufferMB)
	}
	path := c.String(flags.Output)
	if path == output.Stdout && screen.IsTerminal(p.Unfiltered) {
		return exit.Usagef("a recording is binary: give a file with -o, or a pipe")
	}
	if path != "" && path != output.Stdout {
		if err := outfile.CheckRecording(p.Run, path); err != nil {
			return err
		}
	}
	ctx, hup, release := p.Signals(c.Context)
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a recording is a single file: there is no next file to start
		select {
		case <-hup:
			cancel()
		case <-ctx.Done():
		}
	}()
	target, err := watch.Find(ctx, p.Run, ch, duration)
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	path = output.Expand(path, &gclog.Process{ID: int64(target.PID)}, "")
	if path == "" {
		path = outfile.RecordingName(attach.Names(&target.Process)[0], time.Now())
		if err := outfile.CheckRecording(p.Run, path); err != nil {
			return err
		}
	}
	if until != nil {
		return p.recordUntil(ctx, target, cfg, duration, until, path)
	}
	if path == output.Stdout {
		return p.recordOne(ctx, target, cfg, duration, p.Unfiltered, "standard output")
	}
	file, err := outfile.OpenRecording(path)
	if err != nil {
		return err
	}
	err = p.recordOne(ctx, target, cfg, duration, file, path)
	file.RemoveEmpty()
	if cerr := file.Close(); cerr != nil && err == nil {
		err = &attach.WriteError{Err: cerr}
	}
	return err
}

// recordOne records one process.
func (p *commands) recordOne(
	ctx context.Context, t *host.Target, cfg session.Config, duration time.Duration, w io.Writer, name string,
) error {
	var n atomic.Int64
	stop := p.UI.Watch(func(since time.Duration) string {
		return fmt.Sprintf("[%s] %s recorded", view.Elapsed(since), formats.SizeText(n.Load()))
	})
	defer time.AfterFunc(time.Second, func() {
		if n.Load() == 0 {
			watch.SayWaiting(p.Run, t)
		}
	}).Stop()
	err := attach.Record(ctx, t, cfg, duration, &counting{w, &n}, watch.SayEnding(p.Run, t))
	stop()
	switch {
	case errors.Is(err, syscall.EPIPE) && name == "standard output":
		return nil // its reader has closed the pipe
	case err != nil:
		return watch.UnlessStopped(ctx, doctor.Explain(ctx, t, err))
	case w != p.Unfiltered:
		p.UI.Sayf("%s recorded to %s (gclog convert %s converts it to a log)", formats.SizeText(n.Load()), name,
			view.ShellWords([]string{name}))
	}
	return nil
}

// recordTree records the processes of a command, and writes no log.
func (p *commands) recordTree(c *cli.Context) error {
	path := c.String(flags.Output)
	switch {
	case c.IsSet(flags.On), c.IsSet(lastFlag):
		return exit.Usagef("--%s needs a running process: start the command first", flags.On)
	case c.Bool(stacksFlag):
		return exit.Usagef("--%s needs a running process: start the command first", stacksFlag)
	case path == "":
		path = outfile.RecordingName(filepath.Base(c.Args().First()), time.Now())
	case path == output.Stdout:
		return exit.Usagef("standard output belongs to the command: write the recording to a file with -o")
	}
	w, err := p.watchOptions(c, nil, path)
	if err != nil {
		return err
	}
	return p.runTree(c, w)
}

type counting struct {
	w io.Writer
	n *atomic.Int64
}

// Write implements io.Writer.
func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}
