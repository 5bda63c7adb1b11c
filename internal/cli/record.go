package cli

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
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *program) recordCommand() *cli.Command {
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
		Flags: join(targetFlags(), sessionFlags(), []cli.Flag{
			&cli.StringFlag{Name: outputFlag, Aliases: []string{"o"}, Category: outputOptions, Usage: "write to `FILE`, - is standard output"},
			lengthFlag(endingOptions, "stop after `TIME`: 90s, 5m, 00:00:05:00", "", ""),
			&cli.BoolFlag{Name: unsafeFlag, Category: recordingOptions, Usage: "send --providers to the runtime even if that is known to crash the process; for experiments"},
			&cli.StringFlag{
				Name: onFlag, Category: endingOptions,
				Usage: "record nothing but the time around the first time that `RULE` fires: a condition on a collection, " +
					"such as 'pause > 1s', or EVENT: CONDITION; the stream is kept in memory until then",
			},
			&cli.BoolFlag{
				Name: stacksFlag, Category: recordingOptions,
				Usage: "with call stacks, the names of their methods and, without --level, allocations: for gclog alloc and induced",
			},
			&cli.StringFlag{Name: lastFlag, Category: endingOptions, Value: "30s", Usage: "with --on: record `TIME` from before it"},
		}),
		Action: p.record,
	}
}

const stacksFlag = "stacks"

// stacksBufferMB is room for the names of 16,000 methods in .NET Core 3.1 to .NET 8, and many more in
// later versions. They are buffered before anything is read of them; the memory is taken as needed.
const stacksBufferMB = 128

func (p *program) record(c *cli.Context) error {
	if c.Bool(commandFlag) {
		return p.recordTree(c)
	}
	ch, err := choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	duration, err := parseDuration(c, forFlag)
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
			return usagef("--%s is not for --%s: names are sent at the end of a session, which may be long after", stacksFlag, onFlag)
		}
		cfg.Stacks, cfg.RundownMethods, cfg.BufferMB = true, true, max(cfg.BufferMB, stacksBufferMB)
	}
	path := c.String(outputFlag)
	if path == output.Stdout && screen.IsTerminal(p.stdout) {
		return usagef("a recording is binary: give a file with -o, or a pipe")
	}
	if path != "" && path != output.Stdout {
		if err := p.checkRecording(path); err != nil {
			return err
		}
	}
	ctx, hup, release := p.signals(c.Context)
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
	target, err := p.find(ctx, ch)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	if err := p.awaitStartup(ctx, target, duration); err != nil {
		return unlessStopped(ctx, err)
	}
	path = output.Expand(path, &gclog.Process{ID: int64(target.PID)}, "")
	if path == "" {
		path = recordingName(attach.Names(&target.Process)[0], time.Now())
		if err := p.checkRecording(path); err != nil {
			return err
		}
	}
	if until != nil {
		return p.recordUntil(ctx, target, cfg, duration, until, path)
	}
	if path == output.Stdout {
		return p.recordOne(ctx, target, cfg, duration, p.stdout, "standard output")
	}
	file, err := openRecording(path)
	if err != nil {
		return err
	}
	err = p.recordOne(ctx, target, cfg, duration, file, path)
	file.removeEmpty()
	if cerr := file.Close(); cerr != nil && err == nil {
		err = &attach.WriteError{Err: cerr}
	}
	return err
}

// recordOne records one process.
func (p *program) recordOne(ctx context.Context, t *host.Target, cfg session.Config, duration time.Duration, w io.Writer, name string) error {
	var n atomic.Int64
	stop := p.ui.watch(func(since time.Duration) string {
		return fmt.Sprintf("[%s] %s recorded", elapsed(since), formats.SizeText(n.Load()))
	})
	defer time.AfterFunc(time.Second, func() {
		if n.Load() == 0 {
			p.sayWaiting(t)
		}
	}).Stop()
	err := attach.Record(ctx, t, cfg, duration, &counting{w, &n}, p.sayEnding(t))
	stop()
	switch {
	case errors.Is(err, syscall.EPIPE) && name == "standard output":
		return nil // its reader has closed the pipe
	case err != nil:
		return unlessStopped(ctx, doctor.Explain(ctx, t, err))
	case w != p.stdout:
		p.ui.sayf("%s recorded to %s (gclog convert %s converts it to a log)", formats.SizeText(n.Load()), name, name)
	}
	return nil
}

// recordTree records the processes of a command, and writes no log.
func (p *program) recordTree(c *cli.Context) error {
	path := c.String(outputFlag)
	switch {
	case c.IsSet(onFlag), c.IsSet(lastFlag):
		return usagef("--%s needs a running process: start the command first", onFlag)
	case c.Bool(stacksFlag):
		return usagef("--%s needs a running process: start the command first", stacksFlag)
	case path == "":
		path = recordingName(filepath.Base(c.Args().First()), time.Now())
	case path == output.Stdout:
		return usagef("standard output belongs to the command: write the recording to a file with -o")
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

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}
