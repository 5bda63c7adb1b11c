package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/output"
	"github.com/urfave/cli/v2"
)

func (p *program) recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "record the raw events of a running process (.nettrace)",
		ArgsUsage: "[PID|NAME]",
		Description: `The file can be given to gclog convert at any time, and to PerfView and
dotnet-trace. Without PID and NAME: the only .NET process that there is.

Examples:
   gclog record 4711                          until Ctrl-C, into MyApp_20260131_120000.nettrace
   gclog record 4711 -o a.nettrace --duration 1m
   gclog record 4711 --level full             with allocations and pinned objects
   gclog record -- dotnet app.dll             from the first event on
   gclog record 4711 -o - | gclog convert -   records and converts at once`,
		Flags: join(targetFlags(), sessionFlags(), []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, - is standard output"},
			&cli.StringFlag{Name: "duration", Usage: "stop after `TIME`: 90s, 5m, 00:00:05:00"},
		}),
		Action: p.record,
	}
}

func (p *program) record(c *cli.Context) error {
	ch, err := chosen(c)
	if err != nil {
		return err
	}
	duration, err := parseDuration(c.String("duration"))
	if err != nil {
		return err
	}
	cfg, err := sessionConfig(c, false)
	if err != nil {
		return err
	}
	cfg.RundownGC = true
	path := c.String("output")
	if path == output.Stdout && isTerminal(p.out) {
		return usagef("a recording is binary: give a file with -o, or a pipe")
	}
	if path != "" && path != output.Stdout {
		if err := checkRecording(path); err != nil {
			return err
		}
	}
	ctx, _, release := p.signals(c.Context)
	defer release()
	target, err := ch.find(ctx)
	if err != nil {
		return err
	}
	if path == "" {
		path = recordingName(attach.Names(&target.Process)[0], time.Now())
		if err := checkRecording(path); err != nil {
			return err
		}
	}
	var to io.Writer = p.out
	if path != output.Stdout {
		f, err := openRecording(path)
		if err != nil {
			return err
		}
		defer f.Close()
		to = f
	}
	var n atomic.Int64
	stop := p.ui.watch(func(since time.Duration) string {
		return fmt.Sprintf("[%s] %s recorded", elapsed(since), size(n.Load()))
	})
	err = attach.Record(ctx, target, cfg, duration, &counting{to, &n})
	stop()
	if err != nil && n.Load() == 0 && path != output.Stdout {
		_ = os.Remove(path)
	}
	if err != nil {
		w := &watch{p: p}
		return w.explain(target, err)
	}
	if path != output.Stdout {
		p.ui.sayf("%s recorded to %s (gclog convert %s makes a log of it)", size(n.Load()), path, path)
	}
	return nil
}

// recordingName is what dotnet-trace would call it.
func recordingName(program string, t time.Time) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r < 0x20 {
			return '_'
		}
		return r
	}, program)
	return name + "_" + t.Format("20060102_150405") + ".nettrace"
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
