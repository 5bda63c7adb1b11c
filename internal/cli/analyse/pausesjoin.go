package analyse

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/accesslog"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

// Flags whose values can be completed.
const (
	timeIsFlag       = "time-is"
	durationUnitFlag = "duration-unit"
)

var durationUnits = map[string]time.Duration{
	"s":  time.Second,
	"ms": time.Millisecond,
	"us": time.Microsecond,
	"ns": time.Nanosecond,
}

func (p *commands) pausesJoin(c *cli.Context) error {
	name := c.String("join")
	o := accesslog.Options{Time: c.String("time-field"), Duration: c.String("duration-field")}
	if o.Time == "" || o.Duration == "" {
		return exit.Usagef("--join needs --time-field and --duration-field: the fields of %s with the time and the "+
			"duration of a request", name)
	}
	switch is := c.String(timeIsFlag); is {
	case "start", "end":
		o.AtStart = is == "start"
	default:
		return exit.Usagef("--time-is %s: it must be start or end", is)
	}
	if unit := c.String(durationUnitFlag); unit != "" {
		if o.Unit = durationUnits[unit]; o.Unit == 0 {
			return exit.Usagef("--duration-unit %s: it must be s, ms, us or ns", unit)
		}
	}
	if name == "-" && slices.Contains(c.Args().Slice(), "-") {
		return exit.Usagef("standard input cannot be both the history and the access log")
	}
	log, err := subject.OpenInput(p.Run, name, "an access log")
	if err != nil {
		return err
	}
	defer log.Close()
	var a *assess.Assessment
	h, t, damage := p.timeline(c, func(process *gclog.Process, w analysis.Window) gclog.Observer {
		a = assess.New(process, analysis.Thresholds{}, w)
		return a.Findings.Observe
	})
	if h == nil {
		return damage
	}
	a.Conclude(p.Run, h)
	name = subject.InputName(name)
	var read atomic.Int64
	p.UI.Data = screen.IsTerminal(p.Unfiltered)
	stop := p.UI.Watch(func(time.Duration) string { return formats.SizeText(read.Load()) + " joined" })
	defer stop()
	unpacked, err := unpack.Reader(log, &read, subject.Limit(p.Run, unpack.LimitPassed))
	if err != nil {
		return exit.Dataf("%s: %w", name, err)
	}
	report, err := accesslog.Join(p.Unfiltered, unpacked, t, h.Process.Sync, o)
	stop()
	if errors.Is(err, syscall.EPIPE) {
		return damage
	}
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return errors.Join(exit.With(joinCode(err), fmt.Errorf("%s: %w", name, err)), damage)
	}
	known := t.Known()
	from, to := h.Process.Time(known.From).UTC(), h.Process.Time(known.To).UTC()
	for _, s := range report.Sentences(history.TimeText(from) + " to " + history.TimeText(to)) {
		p.UI.Say(name + ": " + s)
	}
	v := a.Findings.Verdict()
	p.UI.Say(v.Sentence())
	if report.Apart() {
		return errors.Join(exit.Usagef("%s: no request was within the observed time of the process: check the time "+
			"zone and --time-is", name), damage)
	}
	return damage
}

// joinCode returns 3 if another field may be meant.
func joinCode(err error) int {
	_, field := errors.AsType[*accesslog.FieldError](err)
	_, value := errors.AsType[*accesslog.ValueError](err)
	if field || value {
		return exit.Usage
	}
	return exit.Data
}
