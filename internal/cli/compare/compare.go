package compare

import (
	"errors"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/urfave/cli/v2"
)

func (p *commands) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare before and after a change: better, worse, or by chance",
		ArgsUsage: "A B",
		Description: `A and B are each a file (a recording, or a log in the formats unified, json and csv), a
directory, or a pattern in quotes: all files in the directory, or that match the pattern, are
runs of the same program, and are compared together. The files of a rotated log are one run.

Each difference is in percent of A, with the interval in which the true difference is: with
95 % probability all of them are. better and worse are differences that chance does not
explain; there is too little data for differences of less than 96 pauses, or 500 for p99.
Both sides should have had the same load. One run of each only shows that these two runs
differ, whatever the cause: from 5 runs of each, the differences between runs of the same
program are taken into account. docs/compare.md has the method.

With --fail-if the exit code is 6 if a metric of the table is worse, and by more than a
percentage, or if there is too little data to know. findings.new and findings.gone count
findings, with the conditions of gclog check.

Examples:
   gclog compare before.nettrace after.nettrace
   gclog compare gc-old.json gc-new.json --since 2m        without the first 2 minutes
   gclog compare before/ after/                            all runs of each
   gclog compare 'old-*.json' 'new-*.json' -f json
   gclog compare before/ after/ --fail-if 'pause.p99 worse than 10%' \
         --fail-if 'findings.new>0'`,
		Flags: flags.Join(subject.Flags(), subject.SpanFlags(), []cli.Flag{
			&cli.StringSliceFlag{
				Name:  flags.FailIf,
				Usage: "fail if `CONDITION` is true, such as 'pause.p99 worse than 10%'; may be repeated",
			},
			assess.ThresholdFlag(),
		}, results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.compare),
	}
}

// compared is a finished comparison.
type compared struct {
	sides    [2]*runGroup
	result   *analysis.Comparison
	findings findingChanges
}

func (p *commands) compare(c *cli.Context, how string) error {
	if n := c.Args().Len(); n != 2 {
		return exit.Usagef("compare needs two arguments, each a file, a directory, or a pattern in quotes: gclog " +
			"compare before.json after.json")
	}
	conditions, err := parseConditions(c.StringSlice(flags.FailIf),
		metricScope(differenceMetrics(nil), "gclog compare shows them"))
	if err != nil {
		return err
	}
	x, err := p.readCompared(c)
	if x == nil {
		return err
	}
	verdicts := judgeAll(conditions, differenceMetrics(x))
	if how == "json" {
		err = errors.Join(err, p.PrintJSON(p.comparisonJSON(x, verdicts)))
	} else {
		err = errors.Join(err, p.printComparison(x, verdicts))
	}
	return withDamage(failure(verdicts), err)
}

// readCompared reads both sides and compares them. It may return both a comparison and an error:
// files are damaged.
func (p *commands) readCompared(c *cli.Context) (*compared, error) {
	x := &compared{}
	var damage error
	for i, arg := range c.Args().Slice() {
		g, err := p.readGroup(c, arg)
		if g == nil {
			return nil, err
		}
		x.sides[i], damage = g, errors.Join(damage, err)
	}
	p.sayDifferent(x.sides)
	x.result = analysis.Compare(x.sides[0].samples(), x.sides[1].samples())
	x.findings = changedFindings(x.sides)
	if damage != nil {
		damage = exit.With(exit.Data, damage)
	}
	return x, damage
}

// sayDifferent warns if not all runs are of one program.
func (p *commands) sayDifferent(sides [2]*runGroup) {
	var names []string
	for _, g := range sides {
		for _, r := range g.runs {
			if name := programName(r.History.Process); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 1 {
		p.UI.Sayf("warning: the runs are of different programs (%s): differences may have other causes than a change",
			strings.Join(names, ", "))
	}
}
