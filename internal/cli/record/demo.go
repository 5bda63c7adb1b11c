package record

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "attach to a recorded .NET process, without .NET",
		Description: `A process started by gclog replays a real .NET 9 process with server GC over a
diagnostics socket. gclog attaches to it as to any other process, for 30 collections.

Examples:
   gclog demo
   gclog demo --speed 0      without waiting`,
		Flags: []cli.Flag{
			&cli.Float64Flag{
				Name: "speed", Value: 1, Usage: "replay `N` times as fast as it was recorded; 0: without waiting",
			},
			&cli.BoolFlag{Name: "serve", Hidden: true, Usage: "be the recorded process"},
		},
		Action: p.demo,
	}
}

func (p *commands) demo(c *cli.Context) error {
	if err := flags.NoArguments(c); err != nil {
		return err
	}
	speed := c.Float64("speed")
	if speed < 0 {
		return exit.Usagef("--speed %v: it must not be negative", speed)
	}
	if c.Bool("serve") {
		return p.serveDemo(speed)
	}
	dir, err := os.MkdirTemp("", "gclog-demo-")
	if err != nil {
		return err
	}
	child, pid, err := p.startDemo(dir, speed)
	if err != nil {
		return fmt.Errorf("starting the recorded process: %w", err)
	}
	defer child()

	ctx, _, release := p.Signals(c.Context)
	defer release()
	target, err := p.Host.Find(ctx, pid)
	if err != nil {
		return err
	}
	text, _ := formats.Find("text")
	unified, _ := formats.Find("unified")
	log := filepath.Join(dir, "gc.log")
	w := NewLogger(p.Run)
	w.count, w.Config = demoGCs, session.Config{BufferMB: attach.BufferMB, Providers: demoProviders()}
	w.Outputs = []output.Spec{
		{Path: output.Stdout, Format: text},
		{Path: log, Format: unified, Rotate: rotate.Options{Count: defaultFileCount, Size: 10 << 20}},
	}
	p.UI.Sayf("process %d replays a recorded .NET %s; gclog attach %d would watch it like this:",
		pid, fakeruntime.DemoVersion, pid)
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	result, err := w.one(ctx, target)
	if err != nil {
		return err
	}
	p.UI.Sayf("%d collections; the log for GCViewer and similar tools is %s", w.Progress.GCs.Load(), log)
	quoted := view.ShellWords([]string{log})
	p.UI.Sayf("next: gclog summary %s", quoted)
	p.UI.Sayf("      gclog report %s -o report.html", quoted)
	p.UI.Say("      gclog top        your own .NET processes")
	return resultError(result)
}

const (
	// demoGCs are a screen of them. None of the 141 in the recording is in progress after them, and
	// would be reported as incomplete.
	demoGCs  = 30
	demoTime = 5 * time.Minute
)

func demoProviders() []session.Provider {
	return []session.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}}
}

// startDemo starts the recorded process and returns a function that ends it.
func (p *commands) startDemo(dir string, speed float64) (end func(), pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.Command(self, "demo", "--serve", "--speed", fmt.Sprint(speed))
	cmd.Args[0] = p.Self
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe() // the process ends when this is closed, also if we are killed
	if err != nil {
		return nil, 0, err
	}
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	end = func() {
		_ = hold.Close()
		_ = cmd.Wait()
	}
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		end()
		return nil, 0, fmt.Errorf("it did not start: %w", err)
	}
	return end, cmd.Process.Pid, nil
}

// serveDemo is the recorded process. It runs until its standard input is closed.
func (p *commands) serveDemo(speed float64) error {
	stream, err := fakeruntime.DemoStream()
	if err != nil {
		return err
	}
	r, err := fakeruntime.Start(fakeruntime.Config{
		Dir:     os.TempDir(),
		Stream:  stream,
		Speed:   speed,
		Version: fakeruntime.DemoVersion,
		Public:  true,
	})
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := fmt.Fprintln(p.Out, "ready"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, p.In)
	return err
}
