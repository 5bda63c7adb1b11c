package compare

import (
	"fmt"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// differenceMetrics returns what the conditions of compare can be about: differences, which are
// worse by more than a limit or not, and the numbers of findings. Without x they have no values.
func differenceMetrics(x *compared) (list []checkMetric) {
	if x == nil {
		x = &compared{result: &analysis.Comparison{}}
		for _, m := range analysis.ComparedMetrics() {
			x.result.Differences = append(x.result.Differences, analysis.Difference{Name: m.Name, Help: m.Help})
		}
	}
	for i := range x.result.Differences {
		d := &x.result.Differences[i]
		m := checkMetric{
			Metric:   analysis.Metric{Name: d.Name, Help: d.Help, Number: d.Change, Empty: d.Empty},
			compared: true,
			verdict:  d.Verdict,
		}
		m.Unit = "%"
		if d.Verdict != analysis.TooLittleData {
			m.note = fmt.Sprintf("%s to %s, %s", d.A.Text(), d.B.Text(), d.Verdict)
		}
		list = append(list, m)
	}
	count := func(name, help string, n int) {
		list = append(list, checkMetric{Metric: analysis.Metric{Name: name, Help: help, Number: view.Count(uint64(n))}})
	}
	count("findings.new", "findings in B and not in A", len(x.findings.added))
	count("findings.gone", "findings in A and not in B", len(x.findings.gone))
	return list
}

// ConditionMetrics returns what --fail-if can be about, without values: metrics of one history, and the
// numbers that only compare has.
func ConditionMetrics() (list []analysis.Metric) {
	for _, m := range allMetrics() {
		list = append(list, m.Metric)
	}
	for _, m := range differenceMetrics(nil) {
		if !m.compared {
			list = append(list, m.Metric)
		}
	}
	return list
}
