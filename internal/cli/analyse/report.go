package analyse

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/callers"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/heap"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/report"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a page with charts, findings and all collections",
		ArgsUsage: "FILE...|PID|NAME",
		Description: `Files are recordings (.nettrace) or logs in the formats unified, json and csv, also .gz
and .zst; - is standard input. A number, or a name that is not a file, is a running
process, which is observed for 30 seconds (--for).

The page is one HTML file that loads nothing from a network: it can be mailed. It explains
the 500 collections that findings name or that paused the program longest. -f md
writes the numbers and findings in Markdown, for an issue tracker, --png a picture of the
pauses and the heap, for a chat; Chromium or Chrome must be installed to draw it. Heap
snapshots (.gcdump) among the files are shown too, each with its difference to the one
before. A recording with call stacks shows who allocates and who asks for collections.
Two files that are not of one rotated log are shown side by side, on the same scales.

Examples:
   gclog report app.nettrace -o report.html
   gclog report gc*.json --since -1h -o report.html
   gclog report 4711 --for 60s -o report.html      of a running process
   gclog report before.json after.json -o report.html
   gclog report app.nettrace -f md
   gclog report app.nettrace --png pauses.png      only the picture
   gclog report gc.json 1.gcdump 2.gcdump -o report.html`,
		Flags: flags.Join(watch.HistoryFlags(), []cli.Flag{
			assess.ThresholdFlag(),
			&cli.StringFlag{Name: "png", Usage: "also write a picture of pauses and heap to `FILE`; Chromium draws it"},
		}, results.Flags(reportFormats)),
		Action: p.report,
	}
}

// reportFormats are a page, and Markdown.
var reportFormats = []string{"html", "md"}

func (p *commands) report(c *cli.Context) error {
	p.MaxUnpacked = subject.Limit(p.Run, unpack.LimitKept) // a report keeps what it reads
	to, png := cmp.Or(c.String(flags.Output), output.Stdout), c.String("png")
	how, err := results.Format(c, reportFormats)
	if err != nil {
		return err
	}
	page := png == "" || c.IsSet(flags.Output) || c.IsSet(flags.Format)
	if page && how == "html" && to == output.Stdout && screen.IsTerminal(p.Unfiltered) {
		return exit.Usagef("a page is not for a terminal: give a file with -o, such as -o report.html")
	}
	inputs := results.Inputs(c)
	for _, out := range []string{to, png} {
		if err := outfile.NotInput(out, inputs...); err != nil {
			return err
		}
	}
	if output.IsStream(png) || png != "" && output.SamePath(to, png) {
		return exit.Usagef("--png %s: it must be a file of its own", png)
	}
	browser := ""
	if png != "" {
		if browser, err = findBrowser(); err != nil {
			return err
		}
		if err := outfile.Check(p.Run, png); err != nil {
			return err
		}
	}
	if err := outfile.Check(p.Run, to); err != nil {
		return err
	}
	if a, b, two := comparedFiles(c.Args().Slice()); two {
		if png != "" {
			return exit.Usagef("--png shows one history: give one of %s and %s", a, b)
		}
		return p.reportComparison(c, a, b, how, to)
	}
	in, err := p.reportInput(c, c.Args().Slice())
	if in == nil {
		return err
	}
	d := report.New(in)
	for _, s := range d.Snapshots {
		if s.Other != "" {
			p.UI.Sayf("%s: %s", s.Name, s.Other)
		}
	}
	if png != "" {
		err = errors.Join(p.writePicture(c.Context, browser, png, d), err)
	}
	if page {
		write := d.WriteHTML
		if how == "md" {
			write = d.WriteMarkdown
		}
		err = errors.Join(results.Write(p.Run, to, reportedText(d), write), err)
	}
	return err
}

// reportInput reads the arguments. It may return both an input and an error: the report shows what
// could be read.
func (p *commands) reportInput(c *cli.Context, names []string) (*report.Input, error) {
	histories, snapshots := heap.SplitSnapshots(names)
	in := &report.Input{Version: p.Version}
	var damage error
	if len(histories) > 0 || len(snapshots) == 0 {
		h, o, err := p.reported(c, histories)
		if h == nil {
			return nil, err
		}
		damage = err
		p.describeHistory(in, h, o)
		if h.Format == "" && o.records.HeapDumps() > 0 {
			for _, name := range h.Names {
				if list, err := heap.Report(p.Run, []string{name}); err == nil { // others contain no walk
					in.Snapshots = append(in.Snapshots, list...)
				}
			}
		}
	}
	list, err := heap.Report(p.Run, snapshots)
	if list == nil && len(snapshots) > 0 {
		return nil, err
	}
	in.Snapshots = append(in.Snapshots, list...)
	if in.Source == "" {
		in.Source = strings.Join(snapshots, ", ")
	}
	return in, errors.Join(damage, err)
}

// reportedText returns what is in a report.
func reportedText(d *report.Data) string {
	var parts []string
	if d.History {
		parts = append(parts, view.Counted(d.Collected, "collection"))
	}
	if n := len(d.Snapshots); n > 0 {
		parts = append(parts, view.Counted(uint64(n), "heap snapshot"))
	}
	return strings.Join(parts, ", ")
}

// comparedFiles returns the two files to compare: if there are exactly two, that are neither heap
// snapshots nor parts of one rotated log.
func comparedFiles(names []string) (a, b string, two bool) {
	if len(names) != 2 || rotate.ArchivedFrom(names[0]) == rotate.ArchivedFrom(names[1]) {
		return "", "", false
	}
	if heap.IsSnapshot(names[0]) || heap.IsSnapshot(names[1]) {
		return "", "", false
	}
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			return "", "", false
		}
	}
	return names[0], names[1], true
}

// reportComparison writes a report about two histories.
func (p *commands) reportComparison(c *cli.Context, a, b, how, to string) error {
	before, err := p.reportInput(c, []string{a})
	if before == nil {
		return err
	}
	after, err2 := p.reportInput(c, []string{b})
	if after == nil {
		return err2
	}
	x := report.Compare(before, after)
	write := x.WriteHTML
	if how == "md" {
		write = x.WriteMarkdown
	}
	return errors.Join(results.Write(p.Run, to, view.Counted(x.Sides[0].Collected+x.Sides[1].Collected, "collection"),
		write), err, err2)
}

// A reporting observes what a report needs.
type reporting struct {
	*assess.Assessment
	records *report.Recorder
}

// reported reads the history in files, or of a running process.
func (p *commands) reported(c *cli.Context, files []string) (*history.History, *reporting, error) {
	thresholds, err := assess.Thresholds(c)
	if err != nil {
		return nil, nil, err
	}
	var o *reporting
	observe := func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		a := assess.New(process, thresholds, w)
		o = &reporting{a, report.NewRecorder(w, a.Findings.List)}
		return gclog.Tee(a.Observe, o.records.Observe), a.Event
	}
	h, err := watch.HistoryOf(p.Run, c, files, observe)
	if h != nil {
		o.Conclude(p.Run, h)
	}
	return h, o, err
}

func (p *commands) describeHistory(in *report.Input, h *history.History, o *reporting) {
	in.Source, in.Process, in.Format, in.Begin = h.Source(), h.Process, h.Format, h.Begin
	in.Summary, in.Records = o.Statistics.Summary(), o.records
	in.Findings, in.NotEvaluated = o.Findings.List(), o.Findings.NotEvaluated()
	if len(h.Names) > 0 {
		in.Command = "gclog explain " + view.ShellWords(h.Names)
	}
	in.Facts = reportFacts(h, in.Summary)
	v := o.Findings.Verdict()
	in.Verdict = v.Sentence()
	if x := o.Stacks(p.Run, h); x != nil {
		in.Stacks = callers.Report(x)
		if in.Stacks != nil && h.Window != analysis.Always() {
			in.Stacks.Notes = append(in.Stacks.Notes, "This is of the whole recording, not of a part.")
		}
	}
}

// reportFacts returns what the history is of.
func reportFacts(h *history.History, s *analysis.Summary) (list []report.Fact) {
	x := h.Process
	add := func(name, text string) {
		if text != "" {
			list = append(list, report.Fact{Name: name, Text: text})
		}
	}
	if x.ID != 0 {
		add("pid", strconv.FormatInt(x.ID, 10))
	}
	if h.Ended != nil {
		add("end", fmt.Sprintf("it %s, at %s", h.Ended.AppendTo(nil), clockText(x, h.Ended.At)))
	}
	add("runtime", assess.RuntimeText(x))
	if x.HasLimits && x.Limits.HardLimit > 0 {
		add("hard limit", view.Text(float64(x.Limits.HardLimit), "bytes"))
	}
	add("os", strings.TrimSpace(x.OS+" "+x.Architecture))
	add("host", x.Host)
	add("container", x.ContainerName)
	add("pod", strings.Trim(x.Namespace+"/"+x.Pod, "/"))
	w := s.Window
	observed := s.Duration.Text()
	if s.Unobserved > 0 {
		observed += " of it observed"
	}
	add("time", fmt.Sprintf("%s to %s, %s",
		x.Time(w.From).Format("2006-01-02 15:04:05.000"), x.Time(w.To).Format("15:04:05.000 MST"), observed))
	add("collections", strconv.FormatUint(s.Classes[analysis.ClassAll].Count, 10))
	add("source", h.Source())
	if h.Damage != "" {
		add("damaged", h.Damage)
	}
	add("command line", x.CommandLine)
	return list
}
