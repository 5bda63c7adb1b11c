package cli

import (
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/parse/clr"
	"github.com/urfave/cli/v2"
)

// An assessment contains the statistics and findings of a history: the observer of summary and
// check.
type assessment struct {
	observe    gclog.Observer      // all of the observers below
	event      gclog.EventObserver // likewise
	statistics *analysis.Statistics
	findings   *analysis.Findings
	types      *analysis.Types
}

const thresholdFlagName = "threshold"

// thresholdFlag changes the thresholds of findings.
func thresholdFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: thresholdFlagName, Usage: "set the threshold of a finding: `RULE.NAME=VALUE`, such as long-pause.over=100ms; may be repeated; docs/findings.md lists them"}
}

// parseThresholds reads --threshold.
func parseThresholds(c *cli.Context) (analysis.Thresholds, error) {
	thresholds := analysis.Thresholds{Suggest: spelling.DidYouMean}
	for _, s := range c.StringSlice(thresholdFlagName) {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return thresholds, usagef("--threshold %s: write RULE.NAME=VALUE, such as long-pause.over=100ms", s)
		}
		if err := thresholds.Set(strings.TrimSpace(name), value); err != nil {
			return thresholds, usagef("--threshold %s: %w", s, err)
		}
	}
	return thresholds, nil
}

// assess reads a history for its statistics and findings.
func (p *program) assess(c *cli.Context) (*history.History, *assessment, error) {
	thresholds, err := parseThresholds(c)
	if err != nil {
		return nil, nil, err
	}
	var a *assessment
	h, err := p.history(c, func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		a = newAssessment(process, thresholds, w)
		return a.observe, a.event
	})
	if h != nil {
		a.conclude(h)
	}
	return h, a, err
}

// conclude passes on what is known at the end of the history: how it ended.
func (a *assessment) conclude(h *history.History) {
	if h.Cut() {
		a.findings.Damaged(h.Damage)
	}
	switch {
	case h.Ended != nil:
		a.findings.Ended(history.EndingOf(h.Ended))
	case h.Detached:
		a.findings.Ended(analysis.Ending{})
	}
}

func newAssessment(process *gclog.Process, thresholds analysis.Thresholds, w analysis.Window) *assessment {
	s, f := analysis.NewStatistics(analysis.StatisticsOptions{Window: w}), analysis.NewFindings(process, thresholds, w)
	types := analysis.NewTypes(w)
	event := func(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
		f.Event(at, e, d)
		types.Event(at, e, d)
	}
	return &assessment{gclog.Tee(s.Observe, f.Observe), event, s, f, types}
}

// newSampleAssessment returns an assessment whose statistics are a Sample, for compare.
func newSampleAssessment(process *gclog.Process, thresholds analysis.Thresholds, w analysis.Window) (*assessment, *analysis.Sample) {
	s, f := analysis.NewSample(w), analysis.NewFindings(process, thresholds, w)
	if process.Dated() {
		s.Sync = process.Sync
	}
	return &assessment{gclog.Tee(s.Observe, f.Observe), f.Event, s.Statistics, f, nil}, s
}
