package analyse

import (
	"errors"

	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/urfave/cli/v2"
)

func (p *commands) summaryCommand() *cli.Command {
	return &cli.Command{
		Name:      "summary",
		Usage:     "summarize files or a running process: pauses, heap, findings",
		ArgsUsage: "FILE...|PID|NAME",
		Description: `Files are recordings (.nettrace) or logs in the formats unified, json and csv,
also .gz and .zst; - is standard input. A number, or a name that is not a file,
is a running process, which is observed for 30 seconds.

The verdict and the findings come first, then the numbers. A cause has its symptoms
below it and takes twelve lines at most; -v shows the rest. MMU is the minimum mutator
utilization: the share of the worst 10 ms, 50 ms and so on that was left to the program;
0 % of 10 ms means that a pause filled them. Percentiles with too few values (p99 needs 100) are omitted.

Examples:
   gclog summary app.nettrace
   gclog summary app.nettrace -v                   also what is unknown, and why
   gclog summary gc*.log                           the files of a rotated log
   gclog summary 4711 --for 2m
   gclog summary MyApp --newest                    of several, the one started last
   gclog summary app.nettrace --since 14:03:00 --until 14:05:00
   gclog summary app.nettrace --since -5m          the last 5 minutes
   gclog summary gc.json --threshold long-pause.over=100ms
   gclog summary app.nettrace -f json | jq '.dotnet.gc.metrics["pause.p99"].ns'`,
		Flags: flags.Join(watch.HistoryFlags(), []cli.Flag{
			assess.ThresholdFlag(),
			&cli.BoolFlag{
				Name:    "verbose",
				Aliases: []string{"v"},
				Usage: "show all about each finding and its symptoms, which rules were not evaluated and which " +
					"values are unknown (n/a), and why",
			},
		}, results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.summary),
	}
}

func (p *commands) summary(c *cli.Context, how string) error {
	h, a, err := assess.Read(p.Run, c)
	if h == nil {
		return err
	}
	if how == "json" {
		return errors.Join(p.PrintJSON(SummaryJSON(p.Run, h, a)), err)
	}
	return errors.Join(p.printSummary(h, a, c.Bool("verbose")), err)
}
