package analyse

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "explain a collection: its cause, its pause, what it achieved",
		ArgsUsage: "FILE...|PID|NAME [NUMBER]",
		Description: `NUMBER is the number of the collection, which the logs and all commands show. Without
it, gclog explains the collection with the longest pause.

Files are recordings (.nettrace) or logs of gclog, also .gz and .zst; a single number,
or a name that is not a file, is a running process, which is observed for 30 seconds. A
log contains less than a recording: what is missing is listed at the end, with the reason.

Examples:
   gclog explain app.nettrace 146
   gclog explain gc*.json 146                  the files of a rotated log
   gclog explain app.nettrace                  the longest pause
   gclog explain app.nettrace --since -5m      the longest pause of the last 5 minutes
   gclog explain 4711 --for 2m                 of a running process
   gclog explain app.nettrace 146 -f json`,
		Flags:  flags.Join(watch.HistoryFlags(), results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.explain),
	}
}

func (p *commands) explain(c *cli.Context, how string) error {
	names, number, wanted, err := explainArguments(c.Args().Slice(), subject.ByFlag(c))
	if err != nil {
		return err
	}
	var o *explainable
	observe := func(_ *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		o = &explainable{Peers: analysis.NewPeers(), window: w, number: number, wanted: wanted}
		return o.Observe, nil
	}
	h, err := watch.HistoryOf(p.Run, c, names, observe)
	if h == nil {
		return err
	}
	d, missing := o.chosen(h)
	if d == nil {
		return errors.Join(err, missing) // the damage may be why the collection is missing
	}
	request, why := assess.RequestOf(p.Run, h, d)
	e := analysis.Explain(d, analysis.Context{
		Process: h.Process, Begin: h.Begin, HasBegin: true, Log: h.Format, Peers: o.Peers, Request: request,
		NoRequest: why,
	})
	if how == "json" {
		return errors.Join(p.PrintJSON(ExplanationJSON(p.Run, h, d, &e)), err)
	}
	p.printExplanation(h, d, &e)
	return err
}

// explainArguments separates the number of the collection from the files. A single argument is a
// file, or a process, unless flags choose one.
func explainArguments(args []string, byFlag bool) (names []string, number uint32, wanted bool, err error) {
	if len(args) == 0 || len(args) == 1 && !byFlag || !flags.IsNumber(args[len(args)-1]) {
		return args, 0, false, nil
	}
	last := args[len(args)-1]
	n, err := strconv.ParseUint(last, 10, 32)
	if err != nil {
		return nil, 0, false, exit.Usagef("%s is not a collection number: they go up to %d", last, uint32(1<<32-1))
	}
	return args[:len(args)-1], uint32(n), true, nil
}

// An explainable is a history with a collection to explain.
type explainable struct {
	*analysis.Peers
	window  analysis.Window
	number  uint32 // of the requested collection
	wanted  bool   // false: the collection with the longest pause
	found   []*gclog.GCDetails
	numbers []uint32 // of all collections
}

// maxFound is how many collections with the same number are kept, to list them.
const maxFound = 10

// Observe takes a record.
func (o *explainable) Observe(r gclog.Record) {
	d, ok := r.(*gclog.GCDetails)
	if ok && !o.window.Contains(view.StartOf(d)) {
		return
	}
	o.Peers.Observe(r)
	switch {
	case !ok:
		return
	case d.Known.Has(gclog.GroupNumber):
		o.numbers = append(o.numbers, d.Number)
	}
	switch {
	case o.wanted:
		if d.Known.Has(gclog.GroupNumber) && d.Number == o.number && len(o.found) < maxFound {
			o.found = append(o.found, d.Clone())
		}
	case len(d.Pauses) > 0 && (o.found == nil || d.Pause() > o.found[0].Pause()):
		o.found = append(o.found[:0], d.Clone())
	}
}

// chosen returns the collection to explain, or an error that says why there is none.
func (o *explainable) chosen(h *history.History) (*gclog.GCDetails, error) {
	switch {
	case len(o.found) == 1:
		return o.found[0], nil
	case len(o.found) > 1:
		return nil, exit.Usagef("%s contains several collections with the number %d because the process was "+
			"restarted: choose one with --since and --until:\n%s", h.Source(), o.number, o.foundText(h))
	case len(o.numbers) == 0:
		return nil, exit.Usagef("%s has no collection to explain%s", h.Source(), o.within())
	case !o.wanted:
		return nil, exit.Usagef("%s has no collection whose pause is known%s", h.Source(), o.within())
	case o.Used(o.number):
		return nil, exit.Usagef("number %d is not a collection: a no-GC region (GC.TryStartNoGCRegion) used "+
			"the number; %s", o.number, o.rangeText())
	}
	return nil, exit.Usagef("there is no collection %d in %s%s: %s", o.number, h.Source(), o.within(), o.rangeText())
}

// within returns the restriction to a part of the history, for messages.
func (o *explainable) within() string {
	if o.window == analysis.Always() {
		return ""
	}
	return " within --since and --until"
}

func (o *explainable) foundText(h *history.History) string {
	var b strings.Builder
	for _, d := range o.found {
		fmt.Fprintf(&b, "  %s  %s %s\n", history.TimeText(h.Process.Time(d.PauseStart())), d.GenerationName(), d.Kind)
	}
	return strings.TrimRight(b.String(), "\n")
}

// maxMissing is how many runs of missing numbers are listed.
const maxMissing = 5

// rangeText describes which numbers exist.
func (o *explainable) rangeText() string {
	slices.Sort(o.numbers)
	list := slices.Compact(o.numbers)
	text := fmt.Sprintf("there are %d to %d", list[0], list[len(list)-1])
	if len(list) == 1 {
		return fmt.Sprintf("there is %d", list[0])
	}
	var missing []string
	for i, n := range list[1:] {
		switch from, to := list[i]+1, n-1; {
		case from > to:
			continue
		case len(missing) == maxMissing:
			missing = append(missing, "...")
		case len(missing) > maxMissing:
		case from == to:
			missing = append(missing, strconv.FormatUint(uint64(from), 10))
		default:
			missing = append(missing, fmt.Sprintf("%d to %d", from, to))
		}
	}
	if len(missing) > 0 {
		text += " without " + strings.Join(missing, ", ")
	}
	return text
}

func (p *commands) printExplanation(h *history.History, d *gclog.GCDetails, e *analysis.Explanation) {
	paint := screen.Painter(screen.Colored(p.Unfiltered))
	if text := subject.EndText(h); text != "" {
		fmt.Fprintf(p.Out, "%s\n\n", paint(screen.Failure, text))
	}
	view.PrintExplanation(p.Out, p.PageWidth(), paint, d, e)
}
