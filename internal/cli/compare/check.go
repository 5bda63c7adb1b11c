package compare

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "fail if files or a process exceed a limit: for tests and CI",
		ArgsUsage: "FILE...|PID|NAME",
		Description: `The exit code is 6 if a condition of --fail-if is true, or cannot be evaluated because its
metric is unknown. A condition is false if there was nothing that it applies to, such as no
blocking gen2 collection, or if there are too few values for a percentile (p99 needs 100)
but even the largest one is within the limit. Each condition gets a line. For a damaged
recording the exit code is 2, whatever the conditions say.

A condition is a METRIC, one of > >= < <= == != and a value with its unit (ns, us, ms, s;
KB, MB, GB, or K, M, G as factors of 1024; %), in quotes. && || ! and parentheses combine
comparisons, + - * / calculate. Metrics are pause.p99, pause.max, pause.share, gc.count,
gen2.blocking.count, heap.after.max, alloc.rate, findings.errors, findings.warnings
and many more: docs/analysis.md lists them, gclog summary -f json prints them.
verdict.cause is a text: none, managed-leak, induced and others (docs/verdict.md).

Examples:
   gclog check app.nettrace --fail-if 'pause.p99>50ms' \
         --fail-if 'pause.share>5%'
   gclog check gc*.json --fail-if 'heap.after.max>=512M' \
         --fail-if 'findings.errors>0'
   gclog check app.nettrace \
         --fail-if 'pause.p99>50ms && gc.count>=100'
   gclog check app.nettrace --fail-if 'verdict.cause != "none"'
   gclog check app.nettrace --fail-if 'gen2.blocking.count>3' --junit gc.xml
   gclog check 4711 --for 1m --fail-if 'alloc.rate>500MB/s'
   gclog check app.nettrace --since 1m --fail-if 'gc.missed!=0' -f json`,
		Flags: flags.Join(watch.HistoryFlags(), []cli.Flag{
			&cli.StringSliceFlag{
				Name: flags.FailIf, Usage: "fail if `CONDITION` is true, such as 'pause.p99>50ms'; may be repeated",
			},
			assess.ThresholdFlag(),
			&cli.StringFlag{
				Name: "junit", Usage: "also write the results to `FILE` in JUnit XML, which CI systems display",
			},
		}, results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.check),
	}
}

func (p *commands) check(c *cli.Context, how string) error {
	texts := c.StringSlice(flags.FailIf)
	if len(texts) == 0 {
		return exit.Usagef("check needs a condition: --%s 'pause.p99>50ms'", flags.FailIf)
	}
	conditions, err := parseConditions(texts,
		metricScope(allMetrics(), "docs/analysis.md lists them, gclog summary -f json prints them"))
	if err != nil {
		return err
	}
	report := c.String("junit")
	if err := p.checkReport(report, c.IsSet("junit"), results.Inputs(c)); err != nil {
		return err
	}
	if to := c.String(flags.Output); report != "" && to != "" && output.SamePath(report, to) {
		return exit.Usagef("--junit %s: the results of -o are written to the same file", report)
	}
	h, a, err := assess.Read(p.Run, c)
	if h == nil {
		return err
	}
	s := a.Statistics.Summary()
	metrics := checkable(a, h, s)
	verdicts := judgeAll(conditions, metrics)
	if how == "json" {
		err = errors.Join(p.PrintJSON(p.checkJSON(h, s.Window, verdicts).With(a.Findings.Verdict())), err)
	} else {
		assess.PrintVerdict(p.Run, a.Findings)
		err = errors.Join(p.printVerdictLines(verdicts), err)
	}
	if report != "" {
		err = errors.Join(writeJUnit(report, h, verdicts, err), err)
	}
	failed := failure(verdicts)
	if failed != nil && how == "text" && p.UI.Terminal && screen.IsTerminal(p.Unfiltered) {
		failed = exit.With(exit.Check, errors.New("the check failed")) // the conditions are in view
	}
	return withDamage(failed, err)
}

// withDamage returns what of a check has failed together with what is wrong with the data, which is more
// serious.
func withDamage(failed, damage error) error {
	if failed == nil || damage == nil {
		return cmp.Or(failed, damage)
	}
	return exit.With(exit.Code(damage), errors.Join(failed, damage))
}

// judgeAll evaluates conditions.
func judgeAll(conditions []*condition.Condition, metrics []checkMetric) (list []verdict) {
	for _, c := range conditions {
		list = append(list, judge(c, metrics))
	}
	return list
}

// failure returns the error of a check that failed, with a line for each condition that failed.
func failure(verdicts []verdict) error {
	var lines []error
	for i := range verdicts {
		switch v := &verdicts[i]; v.result {
		case verdictFailed:
			lines = append(lines, fmt.Errorf("failed: %s: %s", v.Text, v.explain()))
		case verdictError:
			lines = append(lines, fmt.Errorf("cannot be evaluated: %s: %s", v.Text, v.explain()))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return exit.With(exit.Check, errors.Join(lines...))
}

var resultStyles = map[string]screen.Style{
	verdictPassed: screen.Good,
	verdictFailed: screen.Failure,
	verdictError:  screen.Failure,
}

// resultTexts are the results in the lines for people.
var resultTexts = map[string]string{verdictPassed: "ok", verdictFailed: "failed", verdictError: "error"}

// printVerdictLines prints a line for each condition, and for each comparison in it if there are
// several.
func (p *commands) printVerdictLines(verdicts []verdict) error {
	paint := screen.Painter(screen.Colored(p.Unfiltered))
	results, names := 0, 0 // widths of their columns
	for i := range verdicts {
		v := &verdicts[i]
		results = max(results, len(resultTexts[v.result]))
		for j := range v.parts {
			names = max(names, len(v.parts[j].name()))
		}
	}
	var b strings.Builder
	width, _ := screen.Size(p.Unfiltered)
	line := func(result string, style screen.Style, rest string, indent int) {
		result = fmt.Sprintf("%-*s", results, result)
		lines := screen.Wrap(nil, result+rest, width, indent)
		fmt.Fprintf(&b, "%s%s\n", paint(style, result), lines[len(result):])
	}
	for i := range verdicts {
		v := &verdicts[i]
		result, style := resultTexts[v.result], resultStyles[v.result]
		if !v.single() && (len(v.parts) != 1 || v.parts[0].Text != v.Text) { // otherwise that of its part says it all
			line(result, style, "  "+view.OneLine(v.Text), results+2)
			result = ""
		}
		for j := range v.parts {
			x := &v.parts[j]
			line(result, style, fmt.Sprintf("  %-*s %s", names, x.name(), view.OneLine(x.line())), results+names+3)
		}
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// single reports whether the condition is one comparison with a limit.
func (v *verdict) single() bool {
	return len(v.parts) == 1 && v.parts[0].Simple && v.parts[0].result == v.result
}

// name returns the metric that a comparison is about, or the comparison, if it is about several.
func (p *part) name() string {
	if p.Simple {
		return p.actual[0].Name
	}
	return p.Text + ":"
}

// checkGC contains the result of a check in JSON.
type checkGC struct {
	Passed     bool            `json:"passed"`
	Conditions []conditionJSON `json:"conditions"`
}

type conditionJSON struct {
	Condition string `json:"condition"`
	comparisonOf
	Result string `json:"result"`
	Reason string `json:"reason,omitempty"` // why there is no number
	Note   string `json:"note,omitempty"`   // what the number leaves out
	// Comparisons are those of a condition that is not just one comparison with a limit.
	Comparisons []conditionJSON `json:"comparisons,omitempty"`
}

// comparisonOf is what a comparison with a limit consists of, or the metrics of another one.
type comparisonOf struct {
	Metric   string                     `json:"metric,omitempty"`
	Operator string                     `json:"operator,omitempty"`
	Limit    *analysis.Number           `json:"limit,omitempty"`
	Actual   *analysis.Number           `json:"actual,omitempty"`
	Metrics  map[string]analysis.Number `json:"metrics,omitempty"`
	Cause    string                     `json:"cause,omitempty"` // of the verdict, if it is compared
}

func (p *commands) checkJSON(h *history.History, w analysis.Window, verdicts []verdict) *assess.JSON {
	return assess.NewJSON(p.Run, h, "gc-check", w, newCheckGC(verdicts))
}

func newCheckGC(verdicts []verdict) checkGC {
	gc := checkGC{Passed: failure(verdicts) == nil, Conditions: []conditionJSON{}}
	for i := range verdicts {
		v := &verdicts[i]
		x := conditionJSON{Condition: v.Text, Result: v.result}
		if v.single() {
			x = v.parts[0].json()
			x.Condition = v.Text
		} else {
			for j := range v.parts {
				x.Comparisons = append(x.Comparisons, v.parts[j].json())
			}
		}
		gc.Conditions = append(gc.Conditions, x)
	}
	return gc
}

func (p *part) json() conditionJSON {
	x := conditionJSON{Condition: p.Text, Result: p.result}
	for i := range p.actual {
		m := &p.actual[i]
		if !m.Known() {
			x.Reason = p.explain()
		}
		if m.note != "" {
			x.Note = m.note
		}
	}
	if p.Simple {
		m := &p.actual[0]
		x.comparisonOf = comparisonOf{
			Metric:   m.Name,
			Operator: p.Operator,
			Limit:    &analysis.Number{Value: p.Limit, Unit: m.Unit},
			Actual:   &m.Number,
		}
		return x
	}
	x.Metrics = map[string]analysis.Number{}
	for i := range p.actual {
		if m := &p.actual[i]; m.text != "" {
			x.Cause = m.text
		} else {
			x.Metrics[m.Name] = m.Number
		}
	}
	return x
}
