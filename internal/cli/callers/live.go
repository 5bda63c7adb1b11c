package callers

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// continuousFlag is the flag without which a profile has a budget.
const continuousFlag = "continuous"

// watchProcess takes the profile of a running process: who allocates, or who asks for collections.
func (p *commands) watchProcess(c *cli.Context, ch subject.Choice, allocations bool) (*subjectProfile, error) {
	length, err := flags.Duration(c, flags.For)
	if err != nil {
		return nil, err
	}
	ctx, _, release := p.Signals(c.Context)
	defer release()
	target, err := watch.Find(ctx, p.Run, ch, length)
	if err != nil {
		return nil, watch.UnlessInterrupted(ctx, err)
	}
	facts, err := watch.Identify(ctx, p.Run, target)
	if err != nil && !session.IsUnknownCommand(err) {
		return nil, watch.UnlessInterrupted(ctx, doctor.Explain(ctx, target, err))
	}
	o := attach.ProfileOptions{
		Duration: cmp.Or(length, flags.WatchFor), Allocations: allocations, Builder: stacks.NewBuilder(),
		Warn: p.UI.Say, Waiting: watch.SayEnding(p.Run, target),
	}
	if allocations && !c.Bool(continuousFlag) {
		o.Budget = attach.ProfileBudget
	}
	p.UI.Sayf("watching process %d (%s) for %v; %s", target.PID, facts.Name, o.Duration, costBefore(&facts, &o))
	stop := p.UI.Watch(func(since time.Duration) string { return progressLine(&o, since) })
	x, err := attach.TakeProfile(ctx, target, &facts, o)
	stop()
	if err != nil {
		return nil, watch.UnlessInterrupted(ctx, doctor.Explain(ctx, target, err))
	}
	if x.End.Reason.OfProcess() {
		p.UI.Sayf("process %d %s", target.PID, x.End.AppendTo(nil))
	}
	if x.Gap {
		p.UI.Sayf("the profile has a gap: for some time the runtime did not report what was allocated, as while "+
			"another tool samples allocations of process %d", target.PID)
	}
	return &subjectProfile{x.Profile, fmt.Sprintf("process %d", target.PID), x}, nil
}

// costBefore says what a profile will cost the process.
func costBefore(facts *gclog.Process, o *attach.ProfileOptions) string {
	price := attach.EventPrice(facts)
	switch {
	case !o.Allocations:
		return fmt.Sprintf("each collection takes it %v of CPU time more", price)
	case o.Budget > 0:
		return fmt.Sprintf("the events take at most %.0f %% of its CPU time (--%s: all of them)", 100*o.Budget,
			continuousFlag)
	}
	const events = 100e6 / 102_400 // of 100 MB
	return fmt.Sprintf("this takes %.1f %% of a processor for each 100 MB/s that it allocates",
		100*events*price.Seconds())
}

// costAfter says what a profile has cost the process; "": recordings have already been paid for.
func (x *subjectProfile) costAfter() string {
	if x.live == nil {
		return ""
	}
	s := fmt.Sprintf("this took the process about %.0f ms of CPU time", x.live.Cost.Seconds()*1e3)
	if share, known := x.costShare(); known {
		s += fmt.Sprintf(", %.1f %% of what it used", 100*share)
	}
	return s
}

// costShare returns which part of the CPU time of the process the profile took.
func (x *subjectProfile) costShare() (share float64, known bool) {
	if x.live == nil || x.live.CPU <= 0 {
		return 0, false
	}
	return x.live.Cost.Seconds() / x.live.CPU.Seconds(), true
}

// progressLine is the line of progress.
func progressLine(o *attach.ProfileOptions, since time.Duration) string {
	now, what := o.Builder.Progress(), "requests of collections"
	n := now.Calls
	if o.Allocations {
		n, what = now.Events, "allocation events, "+formats.SizeText(int64(now.Bytes))
	}
	return fmt.Sprintf("[%s of %s] %d %s", view.Elapsed(since), view.Elapsed(o.Duration), n, what)
}
