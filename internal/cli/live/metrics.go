package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/internal/view"
	"github.com/prometheus/common/expfmt"
	"github.com/urfave/cli/v2"
)

const (
	namesFlag      = "names"
	attributesFlag = "attributes"
)

func (p *commands) metricsCommand() *cli.Command {
	return &cli.Command{
		Name:      "metrics",
		Usage:     "print Prometheus metrics of files or of a running process once",
		ArgsUsage: "FILE...|PID|NAME",
		Description: `The daemon serves the same at /metrics (docs/metrics.md). A running process is watched for
a while, and its counters start at 0 then. Files may contain several processes.

Examples:
   gclog metrics 4711 --for 1m
   gclog metrics app.nettrace
   gclog metrics gc*.json --names both
   gclog metrics gc.json -o /var/lib/node_exporter/gclog.prom`,
		Flags: flags.Join(subject.Flags(), []cli.Flag{
			flags.Unpack(),
			flags.Watch(),
			results.FileFlag(),
			&cli.StringFlag{
				Name:  namesFlag,
				Usage: "`NAMES` of metrics: otel, dotnetruntime (those of prometheus-net.DotNetRuntime) or both",
				Value: metrics.NamesOTel,
			},
			&cli.StringFlag{
				Name:  attributesFlag,
				Usage: "`NAMES` of labels: runtime (gc_heap_generation) or semconv (dotnet_gc_heap_generation)",
				Value: metrics.AttributesRuntime,
			},
		}),
		Action: results.Action(p.Run, []string{"text"}, p.metrics),
	}
}

func (p *commands) metrics(c *cli.Context, _ string) error {
	naming := metrics.Naming{Names: c.String(namesFlag), Attributes: c.String(attributesFlag)}
	for _, x := range []struct {
		flag, value string
		list        []string
	}{{namesFlag, naming.Names, metrics.Names}, {attributesFlag, naming.Attributes, metrics.AttributeNames}} {
		if !slices.Contains(x.list, x.value) {
			return exit.Usagef("--%s %s: it must be %s%s",
				x.flag, x.value, strings.Join(x.list, " or "), spelling.DidYouMean(x.value, x.list))
		}
	}
	duration, err := flags.Duration(c, flags.For)
	if err != nil {
		return err
	}
	files, ch, err := subject.Of(c, c.Args().Slice())
	registry := metrics.NewRegistry()
	p.UI.Data = screen.IsTerminal(p.Unfiltered)
	switch {
	case err != nil:
		return err
	case files == nil && !ch.Made():
		return exit.Usagef(
			"metrics needs a file, - for standard input, or the PID or NAME of a running process (gclog ps lists them)")
	case files == nil:
		err = p.countProcess(c.Context, ch, registry, cmp.Or(duration, flags.WatchFor))
	case duration != 0:
		return exit.Usagef("--for is for a running process")
	default:
		err = p.countFiles(c, files, registry)
	}
	if coded, ok := errors.AsType[*exit.Error](err); ok && coded.Code != exit.Data {
		return err
	}
	e := metrics.Exposer{Registry: registry, Naming: naming}
	_, failed := e.Write(p.Out, expfmt.NewFormat(expfmt.TypeTextPlain))
	return errors.Join(program.NotWritten(failed), err)
}

// countFiles counts what files contain.
func (p *commands) countFiles(c *cli.Context, files []string, r *metrics.Registry) error {
	chosen, err := subject.InFiles(c)
	if err != nil {
		return err
	}
	in, err := subject.Open(p.Run, files, history.Options{Choice: chosen, Single: subject.ByFlag(c)})
	if err != nil {
		return subject.InputError(err)
	}
	defer in.Close()
	counted := map[int64]*metrics.Process{}
	var gcs subject.Counter
	stop := subject.Progress(p.Run, in, gcs.N.Load)
	err = in.ReadAll(func(known *gclog.Process) gclog.Observer {
		// Several recordings of a process continue each other; in logs each instance is another one.
		x := counted[known.ID]
		if x == nil || in.IsLog() {
			x = r.Process()
			counted[known.ID] = x
		}
		return gclog.Tee(gcs.Observe, x.Observe(known))
	})
	stop()
	if err == nil && gcs.N.Load() == 0 {
		p.UI.Say(in.NothingText())
	}
	return subject.InputError(err)
}

// countProcess counts what a process does until the duration has passed, the process ends or ctx
// does.
func (p *commands) countProcess(
	ctx context.Context, ch subject.Choice, r *metrics.Registry, duration time.Duration,
) error {
	w := &watch.Watch{Run: p.Run, Progress: &attach.Progress{}, Duration: duration}
	var err error
	if w.Config, err = attach.SessionConfig("normal", nil, true); err != nil {
		return err
	}
	ctx, _, release := p.Signals(ctx)
	defer release()
	target, err := watch.Find(ctx, p.Run, ch, duration)
	if err != nil {
		return watch.UnlessInterrupted(ctx, err)
	}
	return measureProcess(ctx, w, target, r)
}

// measure counts the records of a process.
func measureProcess(ctx context.Context, w *watch.Watch, t *host.Target, r *metrics.Registry) error {
	s, facts, err := w.Open(ctx, t)
	if err != nil {
		return watch.UnlessInterrupted(ctx, err)
	}
	defer context.AfterFunc(ctx, s.Ask)()
	defer time.AfterFunc(time.Until(w.End()), s.Ask).Stop()
	defer w.Run.UI.Watch(func(since time.Duration) string {
		return w.Line(since) + " of " +
			view.Elapsed(w.Duration)
	})()
	counted := r.Process()
	var process *gclog.Process
	end, err := s.Observe(facts, func(known *gclog.Process) gclog.Observer {
		process = known
		w.SayStarted(known, "")
		return counted.Observe(known)
	})
	counted.Observe(process) // it was completed
	w.SayEnded(&attach.Result{Process: *process, End: end})
	return subject.InputError(err)
}
