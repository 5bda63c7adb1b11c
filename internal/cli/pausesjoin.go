package cli

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/accesslog"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

// Flags whose values can be completed.
const (
	timeIsFlag       = "time-is"
	durationUnitFlag = "duration-unit"
)

var durationUnits = map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}

func (p *program) pausesJoin(c *cli.Context) error {
	name := c.String("join")
	o := accesslog.Options{Time: c.String("time-field"), Duration: c.String("duration-field")}
	if o.Time == "" || o.Duration == "" {
		return usagef("--join needs --time-field and --duration-field: the fields of %s with the time and the duration of a request", name)
	}
	switch is := c.String(timeIsFlag); is {
	case "start", "end":
		o.AtStart = is == "start"
	default:
		return usagef("--time-is %s: it must be start or end", is)
	}
	if unit := c.String(durationUnitFlag); unit != "" {
		if o.Unit = durationUnits[unit]; o.Unit == 0 {
			return usagef("--duration-unit %s: it must be s, ms, us or ns", unit)
		}
	}
	if name == "-" && slices.Contains(c.Args().Slice(), "-") {
		return usagef("standard input cannot be both the history and the access log")
	}
	log, err := p.openInput(name, "an access log")
	if err != nil {
		return err
	}
	defer log.Close()
	h, t, damage := p.timeline(c)
	if h == nil {
		return damage
	}
	name = inputName(name)
	var read atomic.Int64
	p.ui.data = screen.IsTerminal(p.stdout)
	stop := p.ui.watch(func(time.Duration) string { return formats.SizeText(read.Load()) + " joined" })
	defer stop()
	unpacked, err := unpack.Reader(log, &read, p.unpacked(unpack.LimitPassed))
	if err != nil {
		return dataf("%s: %w", name, err)
	}
	report, err := accesslog.Join(p.stdout, unpacked, t, h.Process.Sync, o)
	stop()
	if errors.Is(err, syscall.EPIPE) {
		return damage
	}
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return errors.Join(&codedError{joinCode(err), fmt.Errorf("%s: %w", name, err)}, damage)
	}
	known := t.Known()
	for _, s := range report.Sentences(history.TimeText(h.Process.Time(known.From).UTC()) + " to " + history.TimeText(h.Process.Time(known.To).UTC())) {
		p.ui.say(name + ": " + s)
	}
	if report.Apart() {
		return errors.Join(usagef("%s: no request was within the observed time of the process: check the time zone and --time-is", name), damage)
	}
	return damage
}

// joinCode returns 3 if another field may be meant.
func joinCode(err error) int {
	_, field := errors.AsType[*accesslog.FieldError](err)
	_, value := errors.AsType[*accesslog.ValueError](err)
	if field || value {
		return exitUsage
	}
	return exitData
}
