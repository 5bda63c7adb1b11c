package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// A differenceCondition is a --fail-if of compare: that a metric is worse by more than a limit, or a
// condition on the number of findings.
type differenceCondition struct {
	condition
	worse bool // otherwise it is a condition on a number of findings
}

var worsePattern = regexp.MustCompile(`^\s*(\S+)\s+worse(?:\s+than\s+(\S.*?))?\s*$`)

// worseOperator stands for "worse than" in a verdict.
const worseOperator = "worse than"

// parseDifferences reads the conditions of compare.
func parseDifferences(texts []string) (list []differenceCondition, err error) {
	var metrics []checkMetric
	for _, m := range analysis.ComparedMetrics() {
		metrics = append(metrics, checkMetric{Metric: m})
	}
	for _, s := range texts {
		parts := worsePattern.FindStringSubmatch(s)
		if parts == nil {
			c, err := parseCondition(s, countedChanges(&findingChanges{}))
			if err != nil {
				return nil, usagef("%w; or a metric that is compared: 'pause.p99 worse than 10%%'", err)
			}
			list = append(list, differenceCondition{c, false})
			continue
		}
		i, err := findMetric(s, parts[1], metrics, "gclog compare shows them")
		if err != nil {
			return nil, err
		}
		c := condition{text: strings.TrimSpace(s), metric: metrics[i].Metric, operator: worseOperator, typed: parts[2]}
		c.metric.Unit, c.limit.Unit = "%", "%"
		if c.typed != "" {
			if c.limit.Value, err = analysis.ParseValue(c.typed, "%"); err != nil {
				return nil, usagef("--fail-if %q: %w", s, err)
			}
		}
		list = append(list, differenceCondition{c, true})
	}
	return list, nil
}

// countedChanges returns the numbers of findings that a condition can be about.
func countedChanges(x *findingChanges) []checkMetric {
	count := func(name, help string, n int) checkMetric {
		return checkMetric{Metric: analysis.Metric{Name: name, Help: help, Number: view.Count(uint64(n))}}
	}
	return []checkMetric{
		count("findings.new", "findings in B and not in A", len(x.added)),
		count("findings.gone", "findings in A and not in B", len(x.gone)),
	}
}

// judge evaluates the condition. A metric that is not worse within what chance explains passes; one
// with too little data cannot be evaluated.
func (c *differenceCondition) judge(x *compared) verdict {
	if !c.worse {
		return c.condition.judge(countedChanges(&x.findings))
	}
	v := verdict{condition: c.condition, result: verdictPassed}
	for i := range x.result.Differences {
		d := &x.result.Differences[i]
		if d.Name != c.metric.Name {
			continue
		}
		v.actual = checkMetric{Metric: analysis.Metric{Name: d.Name, Help: d.Help, Number: d.Change, Empty: d.Empty}, note: differenceNote(d)}
		switch {
		case d.Empty:
		case d.Verdict == analysis.TooLittleData:
			v.result = verdictError
		case d.Verdict == analysis.Worse && d.Change.Value > c.limit.Value:
			v.result = verdictFailed
		}
	}
	return v
}

// differenceNote explains a change.
func differenceNote(d *analysis.Difference) string {
	if d.Verdict == analysis.TooLittleData {
		return ""
	}
	return fmt.Sprintf("%s to %s, %s", d.A.Text(), d.B.Text(), d.Verdict)
}
