package compare

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/internal/view"
)

// metricScope returns the scope of conditions on metrics, with their indexes. where says where they
// are listed.
func metricScope(metrics []checkMetric, where string) *condition.Scope {
	s := &condition.Scope{About: "metric", Where: where, Meant: meant}
	for _, m := range metrics {
		f := condition.Field{Name: m.Name, Unit: m.Unit, Compared: m.compared}
		if m.Name == causeMetric {
			f.Type = condition.Text
			for _, c := range analysis.Causes() {
				f.Values = append(f.Values, string(c.Cause))
			}
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}

// parseCondition reads the argument of one --fail-if: the check fails if it is true.
func parseCondition(text string, scope *condition.Scope) (*condition.Condition, error) {
	c, err := scope.Parse(text)
	if wrong, ok := errors.AsType[*condition.Error](err); ok {
		return nil, exit.Usagef("--%s %q, column %d: %s", flags.FailIf, text, wrong.Column, wrong.Msg)
	}
	return c, err
}

// parseConditions reads the arguments of --fail-if.
func parseConditions(texts []string, scope *condition.Scope) (list []*condition.Condition, err error) {
	for _, text := range texts {
		c, err := parseCondition(text, scope)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
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

var verdictResults = [...]string{
	condition.Unknown: verdictError,
	condition.False:   verdictPassed,
	condition.True:    verdictFailed,
}

// A verdict is the result of a condition.
type verdict struct {
	*condition.Condition
	result string
	parts  []part
}

// A part is a comparison of a condition with its result.
type part struct {
	*condition.Comparison
	result string
	actual []checkMetric // what it compares
}

// judge evaluates a condition on metrics, which have the indexes of the scope it was parsed in.
func judge(c *condition.Condition, metrics []checkMetric) verdict {
	v := verdict{Condition: c}
	v.result = verdictResults[c.Judge(func(x *condition.Comparison) condition.Truth {
		p := part{Comparison: x}
		for _, f := range x.Fields {
			p.actual = append(p.actual, metrics[f])
		}
		t := p.judge(metrics)
		p.result = verdictResults[t]
		v.parts = append(v.parts, p)
		return t
	})]
	return v
}

// judge evaluates a comparison. If there was nothing to measure, no limit is exceeded; an unknown
// value cannot be evaluated, unless it is known to be small enough.
func (p *part) judge(metrics []checkMetric) condition.Truth {
	for i := range p.actual {
		switch m := &p.actual[i]; {
		case m.Empty, p.Simple && p.within(m):
			return condition.False
		case m.compared:
			return p.worse(m)
		}
	}
	return p.Eval(checkValues(metrics))
}

// worse evaluates whether a difference is worse. One that chance explains is not; one with too
// little data cannot be evaluated.
func (p *part) worse(m *checkMetric) condition.Truth {
	switch {
	case m.verdict == analysis.TooLittleData:
		return condition.Unknown
	case m.verdict == analysis.Worse && m.Value > p.Limit:
		return condition.True
	}
	return condition.False
}

// within reports whether an unknown value cannot exceed the limit.
func (p *part) within(m *checkMetric) bool {
	exceeds := p.Operator == ">" || p.Operator == ">="
	return !m.Known() && m.AtMost > 0 && exceeds && !condition.Compare(m.AtMost, p.Operator, p.Limit)
}

// checkValues are the values of metrics.
type checkValues []checkMetric

// Number implements condition.Values.
func (v checkValues) Number(field int) (float64, bool) { return v[field].Value, v[field].Known() }

// Text implements condition.Values.
func (v checkValues) Text(field int) (string, bool) { return v[field].text, v[field].Known() }

// line returns the values of the metrics and their limit, or why a value is unknown.
func (p *part) line() string {
	if !p.Simple {
		return p.explain()
	}
	m := &p.actual[0]
	limit := analysis.Number{Value: p.Limit, Unit: m.Unit}
	value, most, more := m.Text(), p.limitText(), ""
	switch {
	case m.Empty:
		value, more = "none", ": "+m.Why
	case !m.Known() && m.AtMost > 0:
		value, more = "at most "+m.atMost(), ": "+m.Why
	case !m.Known():
		more = ": " + m.Why
	case p.alike():
		value, most = exactText(m.Number), exactText(limit)
	}
	if m.note != "" {
		more += "; " + m.note
	}
	return fmt.Sprintf("%s (limit %s%s)%s", value, limitTexts[p.Operator], most, more)
}

// limitTexts describe the values for which a comparison with an operator is false.
var limitTexts = map[string]string{
	">": "", ">=": "below ", "<": "at least ", "<=": "above ", "==": "not ", "!=": "exactly ", condition.Worse: "+",
}

// flags.limitText formats the limit like the metric's value. One that was written in units of 1024 looks
// different then, so both are shown.
func (p *part) limitText() string {
	unit := p.actual[0].Unit
	text := analysis.Number{Value: p.Limit, Unit: unit}.Text()
	if strings.HasPrefix(unit, "bytes") && binaryUnit.MatchString(p.Typed) {
		return p.Typed + ", which is " + text
	}
	return text
}

var binaryUnit = regexp.MustCompile(`(?i)[KMGT](iB)?(/s)?$`)

// alike reports whether the value and its limit differ but are printed alike.
func (p *part) alike() bool {
	m := &p.actual[0]
	return p.Simple && m.Value != p.Limit && m.Text() == analysis.Number{Value: p.Limit, Unit: m.Unit}.Text()
}

// exactText formats a value with all its digits.
func exactText(n analysis.Number) string {
	return strings.TrimRight(strconv.FormatFloat(n.Value, 'f', -1, 64)+" "+n.Unit, " ")
}

// explain returns the values of the metrics in the comparison, or why they are unknown.
func (p *part) explain() string {
	var list []string
	for i := range p.actual {
		m := &p.actual[i]
		text := m.explain()
		if p.alike() {
			text += " (" + exactText(m.Number) + ")"
		}
		if m.note != "" && m.Known() && !m.Empty {
			text += "; " + m.note
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// explain returns the values that decided about the condition.
func (v *verdict) explain() string {
	var list []string
	for i := range v.parts {
		if p := &v.parts[i]; v.result == verdictPassed || p.result == v.result {
			if text := p.explain(); !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	if len(list) == 0 { // of a negation
		for i := range v.parts {
			list = append(list, v.parts[i].explain())
		}
	}
	return strings.Join(list, "; ")
}

// A checkMetric is a metric with a note about its value.
type checkMetric struct {
	analysis.Metric
	text string // the value of causeMetric
	note string
	// compared: it is the difference of two runs, with its verdict.
	compared bool
	verdict  analysis.Outcome
}

// atMost is the limit of an unknown value.
func (m *checkMetric) atMost() string {
	return analysis.Number{Value: m.AtMost, Unit: m.Unit}.Text()
}

// explain returns the metric's value, or why that is unknown.
func (m *checkMetric) explain() string {
	switch {
	case m.Empty:
		return fmt.Sprintf("there is no %s: %s", m.Name, m.Why)
	case !m.Known() && m.AtMost > 0:
		return fmt.Sprintf("%s is unknown, but at most %s: %s", m.Name, m.atMost(), m.Why)
	case !m.Known():
		return fmt.Sprintf("%s is unknown: %s", m.Name, m.Why)
	}
	if m.text != "" {
		return fmt.Sprintf("%s is %s", m.Name, m.text)
	}
	return fmt.Sprintf("%s is %s", m.Name, m.Text())
}

// unheard is why every metric is unknown of a recording that may not contain the GC's events.
const unheard = "nothing shows that GC events were recorded: they were not, or no collection happened (see " +
	"gclog doctor)"

// checkable returns the metrics of a history.
func checkable(a *assess.Assessment, h *history.History, s *analysis.Summary) []checkMetric {
	list := checkMetrics(s, a.Findings.List(), a.Findings.NotEvaluated())
	list = append(list,
		checkMetric{Metric: analysis.Metric{Name: causeMetric}, text: string(a.Findings.Verdict().Cause)})
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
func checkMetrics(
	s *analysis.Summary, found []analysis.Finding, unjudged []analysis.NotEvaluated,
) (list []checkMetric) {
	for _, m := range s.Metrics() {
		list = append(list, checkMetric{Metric: m, note: snapshotNote(s, m.Name)})
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
	return fmt.Sprintf("includes %s, longest pause %s",
		view.Counted(r.HeapDumps, "heap snapshot"), r.HeapDumpPause.Max.Text())
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
	needNoData := map[string]bool{"data-quality": true, "process-end": true}
	judged := slices.ContainsFunc(rules, func(r analysis.Rule) bool { return why[r.ID] == "" && !needNoData[r.ID] })
	note, none := "", ""
	switch n := len(unjudged); {
	case !judged && !idle:
		none = "none of the rules could be evaluated (gclog summary -v shows why)"
	case n > 0:
		note = fmt.Sprintf("%d of %d rules could not be evaluated (gclog summary -v shows why)", n, len(rules))
	}
	sum := func(name, help string, s analysis.Severity) checkMetric {
		n := analysis.Number{Value: severities[s]}
		if n.Value == 0 {
			n.Why = none
		}
		return checkMetric{Metric: analysis.Metric{Name: name, Help: help, Number: n}, note: note}
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

// causeMetric is the cause of the verdict (docs/verdict.md), the only metric that is a text.
const causeMetric = "verdict.cause"

// allMetrics returns the metrics that a condition can name, without values.
func allMetrics() []checkMetric {
	nothing := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	return append(checkMetrics(nothing.Summary(), nil, nil), checkMetric{Metric: analysis.Metric{Name: causeMetric}})
}
