package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/prometheus/common/expfmt"
	"github.com/urfave/cli/v2"
)

const (
	namesFlag      = "names"
	attributesFlag = "attributes"
)

func (p *program) metricsCommand() *cli.Command {
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
		Flags: join(processFlags(), []cli.Flag{
			unpackFlag(),
			watchFlag(),
			resultFileFlag(),
			&cli.StringFlag{Name: namesFlag, Usage: "`NAMES` of metrics: otel, dotnetruntime (those of prometheus-net.DotNetRuntime) or both", Value: metrics.NamesOTel},
			&cli.StringFlag{Name: attributesFlag, Usage: "`NAMES` of labels: runtime (gc_heap_generation) or semconv (dotnet_gc_heap_generation)", Value: metrics.AttributesRuntime},
		}),
		Action: p.result([]string{"text"}, p.metrics),
	}
}

func (p *program) metrics(c *cli.Context, _ string) error {
	naming := metrics.Naming{Names: c.String(namesFlag), Attributes: c.String(attributesFlag)}
	for _, x := range []struct {
		flag, value string
		list        []string
	}{{namesFlag, naming.Names, metrics.Names}, {attributesFlag, naming.Attributes, metrics.AttributeNames}} {
		if !slices.Contains(x.list, x.value) {
			return usagef("--%s %s: it must be %s%s", x.flag, x.value, strings.Join(x.list, " or "), spelling.DidYouMean(x.value, x.list))
		}
	}
	duration, err := parseDuration(c, forFlag)
	if err != nil {
		return err
	}
	files, ch, err := subjectOf(c, c.Args().Slice())
	registry := metrics.NewRegistry()
	p.ui.data = screen.IsTerminal(p.stdout)
	switch {
	case err != nil:
		return err
	case files == nil && !ch.made():
		return usagef("metrics needs a file, - for standard input, or the PID or NAME of a running process (gclog ps lists them)")
	case files == nil:
		err = p.countProcess(c.Context, ch, registry, cmp.Or(duration, watchFor))
	case duration != 0:
		return usagef("--for is for a running process")
	default:
		err = p.countFiles(c, files, registry)
	}
	if coded, ok := errors.AsType[*codedError](err); ok && coded.code != exitData {
		return err
	}
	e := metrics.Exposer{Registry: registry, Naming: naming}
	_, failed := e.Write(p.out, expfmt.NewFormat(expfmt.TypeTextPlain))
	return errors.Join(notWritten(failed), err)
}

// countFiles counts what files contain.
func (p *program) countFiles(c *cli.Context, files []string, r *metrics.Registry) error {
	chosen, err := inFiles(c)
	if err != nil {
		return err
	}
	in, err := p.openInputs(files, history.Options{Choice: chosen, Single: chosenByFlag(c)})
	if err != nil {
		return inputError(err)
	}
	defer in.Close()
	counted := map[int64]*metrics.Process{}
	var gcs gcCounter
	stop := p.watchReading(in, gcs.n.Load)
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
	if err == nil && gcs.n.Load() == 0 {
		p.ui.say(in.NothingText())
	}
	return inputError(err)
}

// countProcess counts what a process does until the duration has passed, the process ends or ctx
// does.
func (p *program) countProcess(ctx context.Context, ch choice, r *metrics.Registry, duration time.Duration) error {
	w := &watch{p: p, progress: &attach.Progress{}, duration: duration}
	var err error
	if w.config, err = attach.SessionConfig("normal", nil, true); err != nil {
		return err
	}
	ctx, _, release := p.signals(ctx)
	defer release()
	target, err := p.find(ctx, ch)
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	if err := p.awaitStartup(ctx, target, duration); err != nil {
		return unlessInterrupted(ctx, err)
	}
	return w.measure(ctx, target, r)
}

// measure counts the records of a process.
func (w *watch) measure(ctx context.Context, t *host.Target, r *metrics.Registry) error {
	s, facts, err := w.open(ctx, t)
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	defer context.AfterFunc(ctx, s.Ask)()
	defer time.AfterFunc(time.Until(w.end()), s.Ask).Stop()
	defer w.p.ui.watch(func(since time.Duration) string { return w.line(since) + " of " + elapsed(w.duration) })()
	counted := r.Process()
	var process *gclog.Process
	end, err := s.Observe(facts, func(known *gclog.Process) gclog.Observer {
		process = known
		w.sayStarted(known, "")
		return counted.Observe(known)
	})
	counted.Observe(process) // it was completed
	w.sayEnded(&attach.Result{Process: *process, End: end})
	return inputError(err)
}

// A gcCounter counts collections, for those who wait.
type gcCounter struct {
	n atomic.Int64
}

// Observe counts the record of a collection.
func (c *gcCounter) Observe(r gclog.Record) {
	if _, ok := r.(*gclog.GCDetails); ok {
		c.n.Add(1)
	}
}
