package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/record"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) tuneCommand() *cli.Command {
	return &cli.Command{
		Name:      "tune",
		Usage:     "run a program under several GC settings, and compare them",
		ArgsUsage: "-- COMMAND [ARGUMENTS]",
		Description: `The command runs once as it is, and then several times with each setting, in rounds of random
order, until it exits or for the given time; then it is sent SIGTERM, and killed 10 seconds
later. It has no standard input, and its output is not shown. gclog changes only the
environment of what it starts, and ends only that.

The settings are server and workstation GC, DATAS, concurrent collections, a gen0 budget of
64 MB, conserving memory and a hard limit above what the program used, without those that the
program uses already; or those of --try, with the names in docs/settings.md.

Settings with * are optimal: no other one is better in pauses, memory, throughput or CPU time,
and not worse in any. Throughput is what the program allocates per second, or a number in its
output. docs/tune.md says how to set them, and how it is measured.

Examples:
   gclog tune -- dotnet app.dll
   gclog tune --for 1m --load ./load.sh -- ./app
   gclog tune --try gcServer=1,GCHeapCount=4 --try GCgen0size=128M -- ./app
   gclog tune --metric 'requests/s: ([0-9.]+)' --rounds 9 -- ./bench`,
		Flags: flags.Join([]cli.Flag{
			flags.Length("", "end each run after `TIME`, unless the program has exited", "20s", ""),
			&cli.IntFlag{
				Name:  "rounds",
				Value: usualRounds,
				Usage: "run each setting `N` times, at least 3; from 5 on the differences between runs are taken " +
					"into account",
			},
			&cli.StringSliceFlag{
				Name: "try", Usage: "try only this `SETTING`: NAME=VALUE, or several with commas; may be repeated",
			},
			&cli.StringFlag{Name: "load", Usage: "run `COMMAND`, by the shell, beside each run"},
			&cli.StringFlag{Name: "warmup", Usage: "leave out the first `TIME` of each run"},
			&cli.StringFlag{
				Name: "metric",
				Usage: "throughput is the last number that `REGEX` matches in the output of the program, or its " +
					"first group",
			},
			&cli.Uint64Flag{
				Name: "seed", Value: 1, Usage: "choose the random order: the same `NUMBER`, the same order",
			},
		}, results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.tune),
	}
}

// From usualRounds on, compare takes the differences between runs into account; with fewer than
// leastRounds their spread is unknown.
const (
	usualRounds = 5
	leastRounds = analysis.LeastRuns
)

// A tuning is one run of tune.
type tuning struct {
	p        *commands
	command  []string
	limit    time.Duration // of a run
	rounds   int
	load     string
	asked    history.Span // what of a run counts
	metric   *regexp.Regexp
	seed     uint64
	settings []*outcome // the first one is the program as it is

	total, done int
	began       time.Time
}

// A outcome is what the runs with a setting have shown.
type outcome struct {
	candidate
	trials  []*trial
	failed  []string // why runs failed
	ignored []string // what the runtime ignores, and why
	against differences
	optimal bool
}

func (p *commands) tune(c *cli.Context, how string) error {
	t, tried, err := p.options(c)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gclog-tune-")
	if err != nil {
		return exit.Usagef("there is no directory for the logs of the runs, set TMPDIR: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, _, release := p.Signals(c.Context)
	defer release()

	t.began = time.Now()
	first, err := t.first(ctx, dir)
	if err != nil {
		return err
	}
	if tried == nil {
		tried = usualSettings(first.run.History.Process, first.largest())
	}
	t.settings = []*outcome{{candidate: candidate{name: asIs}}}
	for _, s := range tried {
		t.settings = append(t.settings, &outcome{candidate: s})
	}
	t.total = 1 + t.rounds*len(t.settings)
	p.UI.Sayf("%s in %d rounds: about %s", view.Counted(uint64(len(t.settings)), "setting"), t.rounds,
		view.Span(time.Since(t.began).Truncate(time.Second)*time.Duration(t.total-1)))
	interrupted := t.allRounds(ctx, dir)
	incomplete := func(r *outcome) bool { return len(r.trials) < leastRounds && len(r.failed) == 0 }
	if interrupted && slices.ContainsFunc(t.settings, incomplete) {
		return exit.With(exit.Session,
			errors.New("interrupted before each setting had 3 runs: there is nothing to compare"))
	}
	t.compareAll()
	if how == "json" {
		return p.PrintIndented(t.document())
	}
	return t.print()
}

// options reads the command line. It returns the settings of --try, nil if there are none.
func (p *commands) options(c *cli.Context) (*tuning, []candidate, error) {
	t := &tuning{
		p:       p,
		command: c.Args().Slice(),
		rounds:  c.Int("rounds"),
		load:    c.String("load"),
		seed:    c.Uint64("seed"),
	}
	if len(t.command) == 0 {
		return nil, nil, exit.Usagef("tune needs a command: gclog tune -- dotnet app.dll")
	}
	var err error
	if t.limit, err = flags.Duration(c, flags.For); err != nil {
		return nil, nil, err
	}
	if t.limit == 0 {
		return nil, nil, exit.Usagef("--for needs a time: 30s, 5m")
	}
	if t.rounds < leastRounds || t.rounds > 1000 {
		return nil, nil, exit.Usagef("--rounds %d: it must be at least %d", t.rounds, leastRounds)
	}
	if warmup, err := flags.Duration(c, "warmup"); err != nil {
		return nil, nil, err
	} else if warmup >= t.limit {
		return nil, nil,
			exit.Usagef("--warmup %s leaves nothing of a run of %s", c.String("warmup"), c.String(flags.For))
	} else if warmup > 0 {
		if t.asked.Since, err = history.ParseInstant("warmup", warmup.String(), t.asked.Zone); err != nil {
			return nil, nil, subject.InputError(err)
		}
	}
	if text := c.String("metric"); text != "" {
		if t.metric, err = regexp.Compile(text); err != nil {
			return nil, nil, exit.Usagef("--metric %s: %w", text, err)
		}
	}
	var tried []candidate
	for _, text := range c.StringSlice("try") {
		s, err := parseTry(text)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(tried, func(other candidate) bool { return other.name == s.name }) {
			return nil, nil, exit.Usagef("--try %s is given twice", text)
		}
		tried = append(tried, s)
	}
	return t, tried, nil
}

// first runs the program as it is, to see whether there is anything to compare.
func (t *tuning) first(ctx context.Context, dir string) (*trial, error) {
	t.total = 1
	x, err := t.run(ctx, &candidate{name: asIs}, dir)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, exit.With(exit.Session, errors.New("interrupted during the first run"))
	case x.problem != "":
		return nil, exit.With(exit.Session,
			fmt.Errorf("the first run of %s, as it is, failed: %s", t.command[0], x.problem))
	case t.metric != nil && x.metric <= 0:
		return nil, exit.Usagef("--metric %s: it matches no number greater than 0 in the output of %s",
			t.metric, t.command[0])
	}
	return x, nil
}

// allRounds runs each setting once per round, in random order, and reports whether it was
// interrupted.
func (t *tuning) allRounds(ctx context.Context, dir string) (interrupted bool) {
	random := rand.New(rand.NewPCG(t.seed, 0))
	for range t.rounds {
		for _, i := range random.Perm(len(t.settings)) {
			s := t.settings[i]
			x, err := t.run(ctx, &s.candidate, dir)
			switch {
			case ctx.Err() != nil:
				return true
			case err != nil:
				s.failed = append(s.failed, err.Error())
			case x.problem != "":
				s.failed = append(s.failed, x.problem)
			default:
				s.trials = append(s.trials, x)
				s.ignored = s.candidate.ignored(x.run.History.Process)
			}
		}
	}
	return false
}

// logger returns what logs a run to files in a directory.
func (t *tuning) logger(dir string) (*record.Logger, error) {
	format, err := formats.Find("json")
	if err != nil {
		return nil, err
	}
	w := record.NewLogger(t.p.Run)
	w.Quiet, w.Outputs = true, []output.Spec{{Path: dir + "/%p.json", Format: format}}
	w.Config, err = attach.SessionConfig("light", nil, true)
	return w, err
}

// progress is the line that is shown during a run.
func (t *tuning) progress(s *candidate) func(time.Duration) string {
	return func(since time.Duration) string {
		return fmt.Sprintf("run %d of %d, %s: %s of %s",
			t.done+1, t.total, s.name, view.Elapsed(since), view.Elapsed(t.limit))
	}
}

// throughputName is the name of the throughput in results.
func (t *tuning) throughputName() string {
	if t.metric != nil {
		return "metric"
	}
	return "allocated"
}

// largest returns the largest size of the heap, 0 if it is unknown.
func (x *trial) largest() uint64 {
	return uint64(cmp.Or(x.run.Sample.Summary().Heap.Max.Value, 0))
}
