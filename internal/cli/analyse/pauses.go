package analyse

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/history"
	"github.com/urfave/cli/v2"
)

func (p *commands) pausesCommand() *cli.Command {
	return &cli.Command{
		Name:      "pauses",
		Usage:     "list the pauses, those at a time, or those that hit requests",
		ArgsUsage: "FILE...|PID|NAME",
		Description: `Files are recordings (.nettrace) or logs of gclog, also .gz and .zst; a number, or a
name that is not a file, is a running process, which is observed for 30 seconds.

--at reports in its first line how much of that time the program was paused, and lists
the pauses around it: 14:03 is the whole minute, 14:03:22 the whole second, FROM..TO what is
between two times. Access logs have the time when a request ended: --took says how long it
took, so that the answer is about the request.

--join adds to each row of an access log, NDJSON or CSV, how long the program was paused
during that request: gc_pause_ms, gc_count and gc_numbers. The rest of the log remains
unchanged. Unknown values are null in NDJSON and empty in CSV.

Examples:
   gclog pauses app.nettrace                          one line for each pause
   gclog pauses gc*.json --since -5m -f json          those of the last 5 minutes
   gclog pauses gc.json -o pauses.csv                 for a spreadsheet
   gclog pauses app.nettrace --at 14:03:22            was it the GC?
   gclog pauses app.nettrace --at 14:03:22.104 --took 783ms
   gclog pauses app.nettrace --at 14:03:22.1..14:03:24 --within 30s
   gclog pauses app.nettrace --join access.json --time-field time \
         --duration-field took
   gclog pauses gc.log --join access.csv.gz --time-field time \
         --duration-field request_time --duration-unit s > joined.csv`,
		Flags: flags.Join(watch.HistoryFlags(), []cli.Flag{
			&cli.StringFlag{
				Name:  "at",
				Usage: "report whether the program was paused at `TIME`, or FROM..TO, in the notation of --since",
			},
			&cli.StringFlag{
				Name: "took",
				Usage: "with --at: report about the request that ended at that time and took `TIME` (783ms, 1.5s, " +
					"00:00:01.5; ms without a unit)",
			},
			&cli.StringFlag{
				Name:        "within",
				Usage:       "with --at: list the pauses up to `TIME` before and after it",
				DefaultText: aroundAt.String(),
			},
			&cli.StringFlag{
				Name: "join", Usage: "write the access log `FILE` with the pause of each request; - is standard input",
			},
			&cli.StringFlag{
				Name:  "time-field",
				Usage: "`FIELD` of the log with the time of the request; a dot selects a field of an object",
			},
			&cli.StringFlag{Name: "duration-field", Usage: "`FIELD` of the log with the duration of the request"},
			&cli.StringFlag{
				Name:  timeIsFlag,
				Value: "end",
				Usage: "`WHEN` the time of a request was taken: end (of the request, as in most logs) or start",
			},
			&cli.StringFlag{
				Name: durationUnitFlag, Usage: "`UNIT` of durations without one: s, ms, us or ns", DefaultText: "ms",
			},
		}, results.Flags(results.Lists)),
		Action: results.Action(p.Run, results.Lists, p.pauses),
	}
}

func (p *commands) pauses(c *cli.Context, how string) error {
	if c.IsSet("at") && c.IsSet("join") {
		return exit.Usagef("--at is for one time, --join for a log of requests: choose one of them")
	}
	if c.IsSet("within") && !c.IsSet("at") {
		return exit.Usagef("--within requires --at; use --since and --until for a part of all pauses")
	}
	if c.IsSet("took") && !c.IsSet("at") {
		return exit.Usagef("--took requires --at: the time when the request ended")
	}
	for _, name := range []string{"time-field", "duration-field", timeIsFlag, durationUnitFlag} {
		if c.IsSet(name) && !c.IsSet("join") {
			return exit.Usagef("--%s requires --join", name)
		}
	}
	switch {
	case c.IsSet("at"):
		if how == "csv" {
			return exit.Usagef("-f csv is for the list of all pauses: --at answers as text or json")
		}
		return p.pausesAt(c, how == "json")
	case c.IsSet("join"):
		if c.IsSet(flags.Format) {
			return exit.Usagef("-f cannot be used with --join: the log keeps its format")
		}
		return p.pausesJoin(c)
	}
	return p.pausesList(c, how)
}

// timeline reads the pauses of a history. Like history it may return both a Timeline and an error. also returns
// what else receives the records; nil: nothing does.
func (p *commands) timeline(
	c *cli.Context, also func(*gclog.Process, analysis.Window) gclog.Observer,
) (*history.History, *analysis.Timeline, error) {
	var t *analysis.Timeline
	h, err := watch.History(p.Run, c, func(x *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		t = analysis.NewTimeline(w)
		if also != nil {
			return gclog.Tee(t.Observe, also(x, w)), nil
		}
		return t.Observe, nil
	})
	if h == nil {
		return nil, nil, err
	}
	return h, t, err
}

func (p *commands) pausesList(c *cli.Context, how string) error {
	h, t, err := p.timeline(c, nil)
	if h == nil {
		return err
	}
	subject.SayEnd(p.Run, h)
	stops := t.All()
	var written error
	switch how {
	case "csv":
		written = lists.PrintCSV(p.Run, stopColumns(h.Process), stops)
	case "json":
		written = p.Write(func(w io.Writer) error { return writePausesJSON(w, h, stops) })
	default:
		written = p.Write(func(w io.Writer) error { return p.writeStops(w, h.Process, stops) })
	}
	known := t.Known()
	if len(stops) == 0 && h.Window != analysis.Always() {
		p.UI.Sayf("%s has no pause from %s to %s",
			h.Source(), history.TimeText(h.Process.Time(known.From)), history.TimeText(h.Process.Time(known.To)))
	}
	list := t.Missing(nil, known.From, known.To)
	for i, m := range list {
		if i == mostMissing {
			p.UI.Sayf("and in %d more such times", len(list)-i)
			break
		}
		p.UI.Say(missingText(h.Process, m))
	}
	return errors.Join(written, err)
}

func writePausesJSON(w io.Writer, h *history.History, stops []analysis.Stop) error {
	enc := program.NewEncoder(w)
	for i := range stops {
		if err := enc.Encode(newPauseJSON(h, &stops[i])); err != nil {
			return err
		}
	}
	return nil
}

// mostMissing is how many gaps are listed.
const mostMissing = 5

func missingText(p *gclog.Process, m analysis.Missing) string {
	from, to := history.TimeText(p.Time(m.From)), history.TimeText(p.Time(m.To))
	if from == to {
		return fmt.Sprintf("at %s there may have been another pause: %s", from, m.Why)
	}
	return fmt.Sprintf("between %s and %s there may have been other pauses: %s", from, to, m.Why)
}

// stopColumns are the columns of a list of pauses. The number is the argument of explain.
func stopColumns(p *gclog.Process) []lists.Column[analysis.Stop] {
	return []lists.Column[analysis.Stop]{
		{
			Column: screen.Column{Title: "time"}, CSV: "start",
			Text:  func(s *analysis.Stop) string { return history.TimeText(p.Time(s.Start)) },
			Value: func(s *analysis.Stop) any { return assess.Time(p.Time(s.Start)) },
		},
		{
			Column: screen.Column{Title: "pause ms", Right: true}, CSV: "pause_ns",
			Text:  func(s *analysis.Stop) string { return millisText(s.Duration) },
			Value: func(s *analysis.Stop) any { return s.Duration },
		},
		{
			Column: screen.Column{Title: "suspend ms", Right: true, Rank: 3}, CSV: "suspend_ns",
			Text: func(s *analysis.Stop) string {
				if !s.HasSuspend {
					return "n/a"
				}
				return millisText(s.Suspend)
			},
			Value: func(s *analysis.Stop) any {
				if !s.HasSuspend {
					return nil
				}
				return s.Suspend
			},
		},
		{
			Column: screen.Column{Title: "gc", Right: true, Rank: 1}, CSV: "gc_number", Text: stopNumber,
			Value: func(s *analysis.Stop) any { return lists.Some(s.Number) },
		},
		{CSV: "generation", Value: func(s *analysis.Stop) any {
			if s.Generation < 0 {
				return nil
			}
			return s.Generation
		}},
		{CSV: "type", Value: func(s *analysis.Stop) any {
			if s.Generation < 0 {
				return nil
			}
			return s.GCKind
		}},
		{Column: screen.Column{Title: "what"}, Text: stopKind},
		{CSV: "kind", Value: func(s *analysis.Stop) any { return s.Kind }},
		{
			Column: screen.Column{Title: "reason", Rank: 2}, CSV: "reason", Text: stopReason,
			Value: func(s *analysis.Stop) any {
				if !s.HasReason {
					return nil
				}
				return s.Reason.String()
			},
		},
	}
}

// writeStops writes a line for each pause, coloured by its length.
func (p *commands) writeStops(w io.Writer, process *gclog.Process, stops []analysis.Stop) error {
	if len(stops) == 0 {
		return nil
	}
	var style func(int) screen.Style
	if screen.Colored(p.Unfiltered) {
		style = func(row int) screen.Style { return screen.PauseStyle(stops[row].Duration, screen.Plain) }
	}
	width, _ := screen.Size(p.Unfiltered)
	columns := lists.Shown(stopColumns(process))
	rows := func(yield func([]string) bool) {
		for i := range stops {
			if !yield(lists.Cells(columns, &stops[i])) {
				return
			}
		}
	}
	return screen.Print(w, width, lists.Titles(columns), rows, style)
}

func stopNumber(s *analysis.Stop) string {
	switch {
	case s.Number != 0:
		return numberText(s.Number)
	case s.Generation >= 0:
		return "n/a"
	}
	return "-"
}

// stopKind returns why the program was paused, for a column.
func stopKind(s *analysis.Stop) string {
	if s.Generation < 0 {
		return s.Kind.String()
	}
	text := fmt.Sprintf("gen%d %s", s.Generation, s.GCKind)
	if s.Kind != gclog.PauseBlocking {
		text += ", " + s.Kind.String()
	}
	if s.HeapDump {
		text += ", heap snapshot"
	}
	return text
}

func stopReason(s *analysis.Stop) string {
	switch {
	case s.Generation < 0:
		return "-"
	case !s.HasReason:
		return "n/a"
	}
	return s.Reason.String()
}

// stopText returns why the program was paused, for a sentence: #4711 (gen2 blocking, Induced).
func stopText(p *gclog.Process, s *analysis.Stop) string {
	what, who := stopKind(s), "a collection without a number"
	switch {
	case s.Generation < 0:
		who = "no collection"
	case s.Number != 0:
		who = numberText(s.Number)
	}
	if s.HasReason {
		what += ", " + s.Reason.String()
	}
	return who + " (" + what + ")"
}

func numberText(n uint32) string { return "#" + strconv.FormatUint(uint64(n), 10) }

func millisText(ns int64) string {
	return strconv.FormatFloat(float64(ns)/1e6, 'f', 3, 64)
}

// A pauseJSON is a pause in JSON; its form is part of gclog's compatibility promise.
type pauseJSON struct {
	Timestamp string         `json:"@timestamp"`
	Event     assess.Event   `json:"event"`
	Process   assess.Process `json:"process"`
	Dotnet    struct {
		GC stopJSON `json:"gc"`
	} `json:"dotnet"`
}

// A stopJSON is the dotnet.gc of a pause, and of the collection that it was for.
type stopJSON struct {
	Number     uint32   `json:"number,omitempty"`
	Generation *int8    `json:"generation,omitempty"` // omitted for a pause without a collection
	Type       string   `json:"type,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	HeapDump   bool     `json:"heap_dump,omitempty"`
	HeapDumpBy string   `json:"heap_dump_by,omitempty"`
	Pause      partJSON `json:"pause"`
}

type partJSON struct {
	Start   string  `json:"start"`
	Kind    string  `json:"kind"`
	NS      int64   `json:"ns"`
	Suspend *nsJSON `json:"suspend,omitempty"`
}

type nsJSON struct {
	NS int64 `json:"ns"`
}

func newPauseJSON(h *history.History, s *analysis.Stop) *pauseJSON {
	p := h.Process
	j := &pauseJSON{Process: assess.Process{PID: p.ID, EntityID: p.Cookie, Name: p.Name, End: assess.NewEnd(h)}}
	j.Dotnet.GC = *newStopJSON(p, s)
	j.Timestamp = j.Dotnet.GC.Pause.Start
	j.Event = assess.Event{
		Action:   "gc-pause",
		Start:    j.Timestamp,
		End:      assess.Time(p.Time(s.End())),
		Duration: s.Duration,
	}
	return j
}

func newStopJSON(p *gclog.Process, s *analysis.Stop) *stopJSON {
	j := &stopJSON{Pause: partJSON{Start: assess.Time(p.Time(s.Start)), Kind: s.Kind.String(), NS: s.Duration}}
	if s.HasSuspend {
		j.Pause.Suspend = &nsJSON{s.Suspend}
	}
	if s.Generation < 0 {
		j.Pause.Kind = stopKind(s)
		return j
	}
	j.Type, j.Number, j.Generation = s.GCKind.String(), s.Number, &s.Generation
	if s.HasReason {
		j.Reason = s.Reason.String()
	}
	if s.HeapDump {
		j.HeapDump, j.HeapDumpBy = true, s.HeapDumpBy.String()
	}
	return j
}

// aroundAt is how far around TIME --at looks by default.
const aroundAt = 5 * time.Second
