package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/spelling"
)

// A condition is the argument of one --fail-if: the check fails if it is true.
type condition struct {
	text     string
	metric   analysis.Metric // without its value
	operator string
	typed    string // the limit as the user wrote it
	limit    analysis.Number
}

var conditionPattern = regexp.MustCompile(`^\s*([^\s<>=!]+)\s*(>=|<=|==|!=|>|<)\s*([^\s<>=!][^<>=!]*)$`)

// parseCondition reads a condition on one of the metrics.
func parseCondition(s string, metrics []checkMetric) (c condition, err error) {
	parts := conditionPattern.FindStringSubmatch(s)
	if parts == nil {
		return c, usagef("--fail-if %q is not a condition: write 'METRIC>VALUE' in quotes (otherwise the shell interprets the >), such as 'pause.p99>50ms'; the operators are > >= < <= == !=", s)
	}
	i, err := findMetric(s, parts[1], metrics, "docs/analysis.md lists them, gclog summary -o json prints them")
	if err != nil {
		return c, err
	}
	c = condition{text: strings.TrimSpace(s), metric: metrics[i].Metric, operator: parts[2], typed: strings.TrimSpace(parts[3])}
	c.limit.Unit = c.metric.Unit
	if c.limit.Value, err = analysis.ParseValue(c.typed, c.metric.Unit); err != nil {
		return c, usagef("--fail-if %q: %w", s, err)
	}
	return c, nil
}

// findMetric returns the index of the metric that a condition names. where says where they are
// listed.
func findMetric(condition, name string, metrics []checkMetric, where string) (int, error) {
	i := slices.IndexFunc(metrics, func(m checkMetric) bool { return m.Name == name })
	if i < 0 {
		return i, usagef("--fail-if %q: there is no metric %s%s (%s)", condition, name, meant(name, names(metrics)), where)
	}
	return i, nil
}

// meant returns the name that may have been meant by an unknown one. Collections of gen2 are
// divided into two classes.
func meant(name string, known []string) string {
	if rest, ok := strings.CutPrefix(name, "gen2."); ok {
		blocking, background := analysis.ClassGen2.String()+"."+rest, analysis.ClassBackground.String()+"."+rest
		if slices.Contains(known, blocking) && slices.Contains(known, background) {
			return ": gen2 collections are either blocking or background, use " + blocking + " or " + background
		}
	}
	return spelling.DidYouMean(name, known)
}

// The results of a verdict.
const (
	verdictPassed = "passed"
	verdictFailed = "failed"
	verdictError  = "error" // the condition cannot be evaluated
)

// A verdict is the result of a condition.
type verdict struct {
	condition
	result string
	actual checkMetric // its value may be unknown
}

// judge evaluates a condition. If there was nothing to measure, no limit is exceeded; an unknown
// value cannot be evaluated, unless it is known to be small enough.
func (c *condition) judge(metrics []checkMetric) verdict {
	i := slices.IndexFunc(metrics, func(m checkMetric) bool { return m.Name == c.metric.Name })
	v := verdict{condition: *c, result: verdictPassed, actual: metrics[i]}
	switch {
	case v.actual.Empty, v.within():
	case !v.actual.Known():
		v.result = verdictError
	case compare(v.actual.Value, c.operator, c.limit.Value):
		v.result = verdictFailed
	}
	return v
}

// within reports whether an unknown value cannot exceed the limit.
func (v *verdict) within() bool {
	most := v.actual.AtMost
	exceeds := v.operator == ">" || v.operator == ">="
	return !v.actual.Known() && most > 0 && exceeds && !compare(most, v.operator, v.limit.Value)
}

func compare(a float64, operator string, b float64) bool {
	switch operator {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case "==":
		return a == b
	default:
		return a != b
	}
}

// line returns the metric's value and its limit, or why the value is unknown.
func (v *verdict) line() string {
	value, limit, more := v.actual.Text(), v.limitText(), ""
	switch {
	case v.actual.Empty:
		value, more = "none", ": "+v.actual.Why
	case !v.actual.Known() && v.actual.AtMost > 0:
		value, more = "at most "+v.atMost(), ": "+v.actual.Why
	case !v.actual.Known():
		more = ": " + v.actual.Why
	case v.alike():
		value, limit = exactText(v.actual.Number), exactText(v.limit)
	}
	if v.actual.note != "" {
		more += "; " + v.actual.note
	}
	return fmt.Sprintf("%s (limit %s%s)%s", value, limitTexts[v.operator], limit, more)
}

// limitTexts describe the values for which a condition with an operator is false.
var limitTexts = map[string]string{">": "", ">=": "below ", "<": "at least ", "<=": "above ", "==": "not ", "!=": "exactly ", worseOperator: "+"}

// limitText formats the limit like the metric's value. One that was written in units of 1024 looks
// different then, so both are shown.
func (c *condition) limitText() string {
	text := c.limit.Text()
	if strings.HasPrefix(c.metric.Unit, "bytes") && binaryUnit.MatchString(c.typed) {
		return c.typed + ", which is " + text
	}
	return text
}

var binaryUnit = regexp.MustCompile(`(?i)[KMGT](iB)?(/s)?$`)

// alike reports whether the value and its limit differ but are printed alike.
func (v *verdict) alike() bool {
	return v.actual.Value != v.limit.Value && v.actual.Text() == v.limit.Text()
}

// exactText formats a value with all its digits.
func exactText(n analysis.Number) string {
	return strings.TrimRight(strconv.FormatFloat(n.Value, 'f', -1, 64)+" "+n.Unit, " ")
}

// atMost is the limit of an unknown value.
func (v *verdict) atMost() string {
	return analysis.Number{Value: v.actual.AtMost, Unit: v.actual.Unit}.Text()
}

// explain returns the metric's value, or why that is unknown.
func (v *verdict) explain() string {
	name := v.metric.Name
	switch {
	case v.actual.Empty:
		return fmt.Sprintf("there is no %s: %s", name, v.actual.Why)
	case !v.actual.Known() && v.actual.AtMost > 0:
		return fmt.Sprintf("%s is unknown, but at most %s: %s", name, v.atMost(), v.actual.Why)
	case !v.actual.Known():
		return fmt.Sprintf("%s is unknown: %s", name, v.actual.Why)
	}
	text := fmt.Sprintf("%s is %s", name, v.actual.Text())
	if v.alike() {
		text += " (" + exactText(v.actual.Number) + ")"
	}
	if v.actual.note != "" {
		text += "; " + v.actual.note
	}
	return text
}

// A checkMetric is a metric with a note about its value.
type checkMetric struct {
	analysis.Metric
	note string
}

// unheard is why every metric is unknown of a recording that may not contain the GC's events.
const unheard = "nothing shows that GC events were recorded: they were not, or no collection happened (see gclog doctor)"

// checkable returns the metrics of a history.
func (a *assessment) checkable(h *history.History, s *analysis.Summary) []checkMetric {
	list := checkMetrics(s, a.findings.List(), a.findings.NotEvaluated())
	if !h.Unheard {
		return list
	}
	for i := range list {
		if m := &list[i]; m.Name != "duration" {
			m.Number, m.Empty, m.note = analysis.Number{Unit: m.Unit, Why: unheard}, false, ""
		}
	}
	return list
}

// checkMetrics returns the metrics of a summary, and those of the findings.
func checkMetrics(s *analysis.Summary, found []analysis.Finding, unjudged []analysis.NotEvaluated) (list []checkMetric) {
	for _, m := range s.Metrics() {
		list = append(list, checkMetric{m, snapshotNote(s, m.Name)})
	}
	idle := s.Duration.Known() && s.Classes[analysis.ClassAll].Count == 0
	return append(list, findingMetrics(found, unjudged, idle)...)
}

// snapshotNote returns what a metric includes that no finding counts: the pauses of heap snapshots.
func snapshotNote(s *analysis.Summary, metric string) string {
	class := analysis.ClassAll
	for c := range analysis.Classes {
		if strings.HasPrefix(metric, c.String()+".") {
			class = c
		}
	}
	r := &s.Classes[class]
	if r.HeapDumps == 0 || !strings.Contains(metric, "pause.") && !strings.HasPrefix(metric, "mutator.") {
		return ""
	}
	return fmt.Sprintf("includes %s, longest pause %s", counted(r.HeapDumps, "heap snapshot"), r.HeapDumpPause.Max.Text())
}

// findingMetrics returns the number of findings, in total and for each rule. It is unknown for a
// rule that was not evaluated, unless there was nothing to evaluate. The totals include only the
// rules that were evaluated: with short histories and most logs some never are.
func findingMetrics(list []analysis.Finding, unjudged []analysis.NotEvaluated, idle bool) []checkMetric {
	rules := analysis.Rules()
	found, why := map[string]float64{}, map[string]string{}
	severities := map[analysis.Severity]float64{}
	for _, f := range list {
		found[f.Rule.ID]++
		severities[f.Severity]++
	}
	for _, u := range unjudged {
		why[u.Rule.ID] = u.Why
	}
	note, none := "", ""
	switch n := len(unjudged); {
	case n > 0 && n >= len(rules)-1 && !idle: // all but data-quality, which needs no data
		none = "none of the rules could be evaluated (gclog summary -v shows why)"
	case n > 0:
		note = fmt.Sprintf("%d of %d rules could not be evaluated (gclog summary -v shows why)", n, len(rules))
	}
	sum := func(name, help string, s analysis.Severity) checkMetric {
		n := analysis.Number{Value: severities[s]}
		if n.Value == 0 {
			n.Why = none
		}
		return checkMetric{analysis.Metric{Name: name, Help: help, Number: n}, note}
	}
	all := []checkMetric{
		sum("findings.errors", "findings that are errors", analysis.Error),
		sum("findings.warnings", "findings that are warnings", analysis.Warning),
	}
	for i := range rules {
		id := rules[i].ID
		n := analysis.Number{Value: found[id], Why: why[id]}
		all = append(all, checkMetric{Metric: analysis.Metric{
			Name: "findings." + id, Help: "findings of the rule " + id, Number: n, Empty: idle && !n.Known(),
		}})
	}
	return all
}

// allMetrics returns the metrics that a condition can name, without values.
func allMetrics() []checkMetric {
	nothing := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	return checkMetrics(nothing.Summary(), nil, nil)
}

func names(metrics []checkMetric) (list []string) {
	for _, m := range metrics {
		list = append(list, m.Name)
	}
	return list
}

// thresholdNames returns the names that a threshold can have.
func thresholdNames() (names []string) {
	for _, r := range analysis.Rules() {
		for _, t := range r.Thresholds {
			names = append(names, r.ID+"."+t.Name)
		}
	}
	return names
}
