// Package assess reads a history for its statistics and findings, and describes it in JSON.
package assess

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/parse/clr"
	"github.com/urfave/cli/v2"
)

// An Assessment contains the statistics and findings of a history: the observer of summary and
// check.
type Assessment struct {
	Observe    gclog.Observer      // all of the observers below
	Event      gclog.EventObserver // likewise
	Statistics *analysis.Statistics
	Findings   *analysis.Findings
	Types      *analysis.Types

	stacks     *stacks.Profile
	stacksRead bool
}

// ThresholdFlag changes the thresholds of findings.
func ThresholdFlag() cli.Flag {
	return &cli.StringSliceFlag{
		Name: flags.Threshold,
		Usage: "set the threshold of a finding: `RULE.NAME=VALUE`, such as long-pause.over=100ms; may be repeated; " +
			"docs/findings.md lists them",
	}
}

// Thresholds reads --threshold.
func Thresholds(c *cli.Context) (analysis.Thresholds, error) {
	thresholds := analysis.Thresholds{Suggest: spelling.DidYouMean}
	for _, s := range c.StringSlice(flags.Threshold) {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return thresholds, exit.Usagef("--threshold %s: write RULE.NAME=VALUE, such as long-pause.over=100ms", s)
		}
		if err := thresholds.Set(strings.TrimSpace(name), value); err != nil {
			return thresholds, exit.Usagef("--threshold %s: %w", s, err)
		}
	}
	return thresholds, nil
}

// Read reads a history for its statistics and findings.
func Read(p *program.Run, c *cli.Context) (*history.History, *Assessment, error) {
	thresholds, err := Thresholds(c)
	if err != nil {
		return nil, nil, err
	}
	var a *Assessment
	observe := func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		a = New(process, thresholds, w)
		return a.Observe, a.Event
	}
	h, err := watch.History(p, c, observe)
	if h != nil {
		a.Conclude(p, h)
	}
	return h, a, err
}

// Conclude passes on what is known at the end of the history: how it ended, and who asked for collections.
func (a *Assessment) Conclude(p *program.Run, h *history.History) {
	if h.Cut() {
		a.Findings.Damaged(h.Damage)
	}
	switch {
	case h.Ended != nil:
		a.Findings.EndedBy(h.Ended)
	case h.Detached:
		a.Findings.Ended(analysis.Ending{})
	}
	a.nameCallers(p, h)
}

// New returns an assessment of what will be observed of a process.
func New(process *gclog.Process, thresholds analysis.Thresholds, w analysis.Window) *Assessment {
	s, f := analysis.NewStatistics(analysis.StatisticsOptions{Window: w}), analysis.NewFindings(process, thresholds, w)
	types := analysis.NewTypes(w)
	event := func(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
		f.Event(at, e, d)
		types.Event(at, e, d)
	}
	return &Assessment{
		Observe: gclog.Tee(s.Observe, f.Observe), Event: event, Statistics: s, Findings: f, Types: types,
	}
}

// NewSample returns an assessment whose statistics are a Sample, for compare.
func NewSample(
	process *gclog.Process, thresholds analysis.Thresholds, w analysis.Window,
) (*Assessment, *analysis.Sample) {
	s, f := analysis.NewSample(w), analysis.NewFindings(process, thresholds, w)
	if process.Dated() {
		s.Sync = process.Sync
	}
	return &Assessment{
		Observe: gclog.Tee(s.Observe, f.Observe), Event: f.Event, Statistics: s.Statistics, Findings: f,
	}, s
}

// RuntimeText returns what is known about the runtime and its GC.
func RuntimeText(p *gclog.Process) string {
	var known []string
	if p.RuntimeVersion != "" {
		known = append(known, ".NET "+p.RuntimeVersion)
	}
	if p.Flavor != "" && p.Flavor != gclog.FlavorCoreCLR {
		known = append(known, p.Flavor)
	}
	if gc := doctor.GC(p); gc != "" {
		known = append(known, gc+" GC")
	}
	switch {
	case p.HeapCount == 1:
		known = append(known, "1 heap")
	case p.HeapCount > 1:
		known = append(known, fmt.Sprintf("%d heaps", p.HeapCount))
	}
	if len(known) == 0 {
		return "n/a (the events that report it are missing)"
	}
	return strings.Join(known, ", ")
}
