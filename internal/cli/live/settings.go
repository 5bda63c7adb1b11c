package live

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/gcsettings"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) settingsCommand() *cli.Command {
	return &cli.Command{
		Name:      "settings",
		Usage:     "show the GC settings, where they come from, which are ignored",
		ArgsUsage: "PID|NAME|FILE...",
		Description: `For a process it shows the GC variables and the runtimeconfig.json that it was started
with, the settings in effect, and which ones the runtime ignores, with the reason. Other
variables are never shown. For a recording or a log it shows what the runtime reported.

Examples:
   gclog settings 4711
   gclog settings MyApp -f json
   gclog settings gc.nettrace
   gclog settings gc*.json --since -5m`,
		Flags: flags.Join(subject.Flags(), subject.SpanFlags(), []cli.Flag{subject.TimeoutFlag()},
			results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.settings),
	}
}

func (p *commands) settings(c *cli.Context, how string) error {
	files, ch, err := subject.Of(c, c.Args().Slice())
	switch {
	case err != nil:
		return err
	case files != nil:
		return p.settingsOfFiles(c, files, how)
	}
	for _, flag := range []string{"since", "until"} {
		if c.IsSet(flag) {
			return exit.Usagef("--%s chooses a part of a file; for a running process, the current settings are shown",
				flag)
		}
	}
	if !ch.Made() {
		return exit.Usagef("settings needs the PID or the NAME of a process (gclog ps lists them), or a file")
	}
	ctx, _, release := p.Signals(c.Context)
	defer release()
	target, err := subject.Find(ctx, p.Run, ch)
	if err == nil {
		err = target.CheckStartup(ctx)
	}
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	var facts *gclog.Process
	var report *gcsettings.Report
	err = watch.AwaitAnswer(ctx, p.Run, target, func(ctx context.Context) (err error) {
		facts, report, err = settingsOf(ctx, target)
		return err
	})
	if err != nil {
		return watch.UnlessStopped(ctx, doctor.Explain(ctx, target, err))
	}
	return p.printSettings(how, facts, report)
}

// serverShownBy says what shows whether a process uses server GC.
var serverShownBy = [...]string{
	gclog.EvidenceNone:          "",
	gclog.EvidenceConfiguration: "its configuration",
	gclog.EvidenceReported:      "the runtime (RuntimeInformation)",
	gclog.EvidenceProcessors:    "its only processor",
	gclog.EvidenceRecorded:      "gclog's own file",
	gclog.EvidenceThreads:       "its threads",
	gclog.EvidenceEvents:        "its collections",
}

// settingsOf determines the settings of a running process.
func settingsOf(ctx context.Context, t *host.Target) (*gclog.Process, *gcsettings.Report, error) {
	facts, err := attach.Facts(ctx, t)
	old := session.IsUnknownCommand(err)
	if err != nil && !old {
		return nil, nil, err
	}
	configuration := attach.Configuration(ctx, t, &facts, old)
	reported := facts
	from := gcsettings.Sources{
		Server:     serverShownBy[facts.ServerFrom],
		Concurrent: "the runtime (GCSettingsRundown)",
		Limits:     "the runtime (GCSettingsRundown)",
		Library:    "its mapped files",
		Heaps:      "its threads",
	}
	threads, _ := t.ServerGCThreads()
	if !facts.HasLimits {
		reported.Concurrent = gclog.Unknown // only its configuration is known
	}
	if facts.ServerFrom == gclog.EvidenceConfiguration {
		reported.Server = gclog.Unknown
	}
	report := gcsettings.Examine(&reported, gcsettings.Heaps{Latest: threads}, configuration, from)
	unknown := func(what, why string) {
		report.Unknown = append(report.Unknown, gcsettings.Unknown{What: what, Why: why})
	}
	if configuration.Variables == nil {
		unknown("variables", "the environment of the process cannot be read, so no defaults are shown")
	}
	inForce := "the settings in effect"
	if len(report.InForce) > 0 {
		inForce = "the other settings in effect"
	}
	switch {
	case configuration.NativeAOT:
		unknown("properties", "a NativeAOT program has them built in and does not report them")
		unknown(inForce, "NativeAOT does not report the settings of its GC")
	case configuration.Config == nil:
		unknown("properties", "no readable runtimeconfig.json of the program was found, so defaults of settings that "+
			"it may have are left out")
	}
	switch {
	case facts.HasLimits, configuration.NativeAOT:
	case attach.ReportsSettings(&facts):
		unknown(inForce, "the runtime did not report the settings of its GC: it refused a session or was too slow")
	default:
		unknown(inForce, "runtimes before .NET 9 do not report the settings of their GC")
	}
	return &facts, report, nil
}

// settingsOfFiles shows the settings that recordings or logs contain.
func (p *commands) settingsOfFiles(c *cli.Context, names []string, how string) error {
	asked, err := subject.Span(p.Run, c)
	if err != nil {
		return err
	}
	var seen *seenHeaps
	observe := func(_ *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		seen = &seenHeaps{window: w, Heaps: gcsettings.Heaps{Counts: map[int]int{}}}
		return seen.Observe, nil
	}
	h, failed := subject.ReadFiles(p.Run, c, names, asked, observe)
	if h == nil {
		return failed
	}
	source := h.Source()
	heaps := seen.Heaps
	whole := asked.Whole()
	if heaps.Latest == 0 && whole { // the header of a log may contain it
		heaps.Latest = h.Process.HeapCount
	}
	server := source
	if from := h.Process.ServerFrom; from != gclog.EvidenceRecorded && from != gclog.EvidenceReported {
		server += ", " + serverShownBy[from]
	}
	report := gcsettings.Examine(h.Process, heaps, nil, gcsettings.Sources{
		Server:     server,
		Concurrent: source,
		Limits:     source,
		Heaps:      source + ", its collections",
		Library:    source,
	})
	report.Unknown = []gcsettings.Unknown{{
		What: "the configured settings",
		Why:  "a file contains neither the environment of the process nor its runtimeconfig.json",
	}}
	if heaps.Latest == 0 && !whole {
		report.Unknown = append(report.Unknown,
			gcsettings.Unknown{What: "number of heaps", Why: "no collection in that part of the time reports it"})
	}
	if !h.Process.HasLimits {
		why := "the event GCSettingsRundown is missing: .NET 9 and later send it to gclog attach, and at the end of " +
			"gclog record"
		if h.Format != "" && h.Format != "json" {
			why = "the log does not contain them (format " + h.Format + ")"
		}
		report.Unknown = append(report.Unknown, gcsettings.Unknown{What: "limits and budgets", Why: why})
	}
	if err := p.printSettings(how, h.Process, report); err != nil {
		return err
	}
	return failed
}

// seenHeaps counts the heaps of the collections within a window.
type seenHeaps struct {
	gcsettings.Heaps
	window analysis.Window
}

// Observe takes a record.
func (s *seenHeaps) Observe(r gclog.Record) {
	d, ok := r.(*gclog.GCDetails)
	if !ok || !s.window.Contains(view.StartOf(d)) {
		return
	}
	if n := d.HeapCount(); n > 0 {
		s.Latest = n
		s.Counts[n]++
	}
	s.Adapted = s.Adapted || d.Datas != gclog.DatasDetails{}
}

func (p *commands) printSettings(how string, process *gclog.Process, r *gcsettings.Report) error {
	if how == "json" {
		return formats.NewJSONEncoder(p.Out).Encode(settingsDocument(process, r))
	}
	head := []string{fmt.Sprintf("process %d", process.ID)}
	if process.Name != "" {
		head[0] += " (" + process.Name + ")"
	}
	runtime := strings.TrimSpace(process.Flavor + " " + process.RuntimeVersion)
	for _, more := range []string{runtime, doctor.GC(process)} {
		if more != "" {
			head = append(head, more)
		}
	}
	fmt.Fprintln(p.Out, view.OneLine(strings.Join(head, ", ")))
	width, _ := screen.Size(p.Unfiltered)
	d := settingsDocument(process, r)
	s := &d.DotNET.GC.Settings
	name := settingColumn("NAME", func(x *settingJSON) string { return x.Name })
	value := settingColumn("VALUE", func(x *settingJSON) string { return sized(x.Name, x.Value) })
	printSection(p.Out, width, "set", s.Set, name, value, settingColumn("FROM", func(x *settingJSON) string {
		return noted(x.From+" "+x.SetBy+"="+x.Text, x.Note)
	}))
	printSection(p.Out, width, "in effect (reported by the runtime)", s.InForce, name, value,
		settingColumn("FROM", func(x *settingJSON) string { return noted(x.From, x.Note) }))
	printSection(p.Out, width, "set but ignored", s.Ignored, name,
		settingColumn("VALUE", func(x *settingJSON) string { return x.Value }),
		settingColumn("FROM", func(x *settingJSON) string { return x.From }),
		settingColumn("WHY", func(x *settingJSON) string { return x.Reason }))
	printSection(p.Out, width, "defaults", s.Default, name,
		settingColumn("VALUE", func(x *settingJSON) string { return noted(sized(x.Name, x.Value), x.Note) }))
	for i, u := range r.Unknown {
		if i == 0 {
			fmt.Fprintln(p.Out)
		}
		fmt.Fprintf(p.Out, "%s\n",
			screen.Wrap(nil, u.What+": n/a: "+u.Why, min(width, screen.TextWidth(p.Unfiltered)), 2))
	}
	return nil
}

// noted appends a note in brackets.
func noted(text, note string) string {
	if note == "" {
		return text
	}
	return text + " (" + note + ")"
}

func settingColumn(title string, text func(*settingJSON) string) lists.Column[settingJSON] {
	return lists.Text(screen.Column{Title: title, Width: 16}, "", text)
}

// printSection prints a table below its title, unless it is empty.
func printSection(w io.Writer, width int, title string, list []settingJSON, columns ...lists.Column[settingJSON]) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	columns[len(columns)-1].Fold = true
	lists.TableOf(columns, list).Print(w, width)
}

// sized appends the size in a larger unit to a number of bytes.
func sized(variable, value string) string {
	s, _ := gcsettings.Find(variable)
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || s.Unit != gcsettings.Bytes || n < 1<<10 {
		return value
	}
	return value + " (" + formats.SizeText(n) + ")"
}

// settingsJSON is a report in JSON; it is part of gclog's compatibility promise.
type settingsJSON struct {
	Process struct {
		PID  int64  `json:"pid"`
		Name string `json:"name,omitempty"`
	} `json:"process"`
	DotNET struct {
		Runtime struct {
			Version string `json:"version,omitempty"`
			Flavor  string `json:"flavor,omitempty"`
		} `json:"runtime"`
		GC struct {
			Settings struct {
				Set     []settingJSON `json:"set"`
				InForce []settingJSON `json:"in_force"`
				Ignored []settingJSON `json:"ignored"`
				Default []settingJSON `json:"default"`
				Unknown []settingJSON `json:"unknown"`
			} `json:"settings"`
		} `json:"gc"`
	} `json:"dotnet"`
}

type settingJSON struct {
	Name   string `json:"name"`             // the setting's variable without prefix; if ignored, as written
	Value  string `json:"value,omitempty"`  // as the runtime interprets it; if ignored, as written
	From   string `json:"from,omitempty"`   // environment, a path, or another source
	SetBy  string `json:"set_by,omitempty"` // the variable or property
	Text   string `json:"text,omitempty"`   // as written
	Note   string `json:"note,omitempty"`   //
	Reason string `json:"reason,omitempty"` // why it is ignored or unknown
}

func settingsDocument(process *gclog.Process, r *gcsettings.Report) (d settingsJSON) {
	d.Process.PID, d.Process.Name = process.ID, process.Name
	d.DotNET.Runtime.Version, d.DotNET.Runtime.Flavor = process.RuntimeVersion, process.Flavor
	s := &d.DotNET.GC.Settings
	s.Set, s.InForce, s.Ignored = []settingJSON{}, []settingJSON{}, []settingJSON{}
	s.Default, s.Unknown = []settingJSON{}, []settingJSON{}
	for i := range r.Set {
		v := &r.Set[i]
		s.Set = append(s.Set, settingJSON{
			Name:  v.Setting.Variable,
			Value: v.Value,
			From:  v.From,
			SetBy: v.Name,
			Text:  v.Text,
			Note:  v.Note,
		})
	}
	for _, f := range r.InForce {
		s.InForce = append(s.InForce, settingJSON{Name: f.Name, Value: f.Value, From: f.From, Note: f.Note})
	}
	for _, x := range r.Ignored {
		s.Ignored = append(s.Ignored, settingJSON{Name: x.Name, Value: x.Text, From: x.From, Reason: x.Why})
	}
	for _, f := range r.Default {
		s.Default = append(s.Default, settingJSON{Name: f.Name, Value: f.Value, Note: f.Note})
	}
	for _, u := range r.Unknown {
		s.Unknown = append(s.Unknown, settingJSON{Name: u.What, Reason: u.Why})
	}
	return d
}
