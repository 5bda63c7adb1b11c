package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "find out why gclog cannot attach to a process or read a file",
		ArgsUsage: "[PID|NAME|FILE]",
		Description: `For a process it reports whether gclog can attach to it, and if not, why and what to
do; for a recording or a log, whether it can be read and what is missing in it; without
an argument, what gclog may do on this machine, whether its daemon is configured and
ready, and for each .NET process whether gclog can attach to it.

A process gets the same requests as from gclog ps and from the start of gclog attach:
who it is, and, from .NET 9 on, a session that ends immediately.

Examples:
   gclog doctor                 this machine
   gclog doctor 4711            a process
   gclog doctor gc.nettrace     a recording
   gclog doctor -f json gc.log`,
		Flags:  flags.Join(subject.Flags(), []cli.Flag{flags.Unpack()}, results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.doctor),
	}
}

// A reportJSON is a report in JSON; its form is part of gclog's compatibility promise.
type reportJSON struct {
	Subject   string            `json:"subject"`
	Verdict   string            `json:"verdict"`
	OK        bool              `json:"ok"`
	Findings  []findingJSON     `json:"findings"`
	Facts     map[string]string `json:"facts"`
	Processes []lists.Object    `json:"processes,omitempty"`
}

type findingJSON struct {
	Level string `json:"level"`
	Cause string `json:"cause"`
	Text  string `json:"text"`
	Way   string `json:"way_out"`
}

func (p *commands) doctor(c *cli.Context, how string) error {
	if c.Args().Len() == 0 && !subject.ByFlag(c) {
		return p.doctorMachine(c, how)
	}
	r, err := p.examine(c)
	if err != nil {
		return err
	}
	switch {
	case r.Err != nil:
		p.Code = exit.Code(r.Err)
	case !r.OK():
		p.Code = exit.Data
		if c := r.Findings[0].Cause.ID; c == "missing" || c == "directory" {
			p.Code = exit.Usage
		}
	}
	return p.printReport(r, nil, how)
}

// examine determines what the argument is, and examines it.
func (p *commands) examine(c *cli.Context) (*doctor.Report, error) {
	files, ch, err := subject.Whole(c, c.Args().Slice())
	switch {
	case err != nil:
		return nil, err
	case len(files) > 1:
		return nil, exit.Usagef("one file or process at a time: %s", strings.Join(files, " "))
	case files != nil:
		r := doctor.File(files[0], subject.Limit(p.Run, unpack.LimitPassed))
		if !r.OK() && r.Findings[0].Cause.ID == "not-ours" {
			subject.SayOfProcess(p.Run, c, files)
		}
		return r, nil
	case ch.PID != 0:
		return doctor.Process(c.Context, p.Host, ch.PID), nil
	}
	l, err := subject.Only(c.Context, p.Run, ch)
	switch {
	case err != nil:
		return nil, err
	case l.Err != nil:
		return doctor.Refused(p.Host, l), nil
	}
	return doctor.Target(c.Context, p.Host, l.Target()), nil
}

func (p *commands) doctorMachine(c *cli.Context, how string) error {
	r, list, err := doctor.Machine(c.Context, p.Host, ctl.Ready)
	if err != nil {
		return err
	}
	if !r.OK() {
		p.Code = exit.Usage // as the daemon would
	}
	return p.printReport(r, describeAll(c.Context, list, doctorPatience), how)
}

func (p *commands) printReport(r *doctor.Report, processes []psRow, how string) error {
	if how == "json" {
		out := reportJSON{
			Subject:   r.Subject,
			Verdict:   r.Verdict,
			OK:        r.OK(),
			Findings:  []findingJSON{},
			Facts:     map[string]string{},
			Processes: lists.Objects(psColumns, processes),
		}
		for _, f := range r.Findings {
			out.Findings = append(out.Findings, findingJSON{string(f.Level), f.Cause.ID, f.Text, f.Cause.Way})
		}
		for _, f := range r.Facts {
			out.Facts[f.Name] = f.Value
		}
		return p.PrintIndented(out)
	}
	width, _ := screen.Size(p.Unfiltered)
	p.printFindings(r, min(width, screen.TextWidth(p.Unfiltered)))
	if len(r.Facts) > 0 {
		fmt.Fprintln(p.Out)
		var facts [][]string
		for _, f := range r.Facts {
			facts = append(facts, []string{strings.ReplaceAll(f.Name, "_", " "), view.OneLine(f.Value)})
		}
		columns := []screen.Column{{}, {Width: 20, Fold: true}}
		if err := screen.Print(p.Out, width, columns, slices.Values(facts), nil); err != nil {
			return err
		}
	}
	if len(processes) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	return lists.PrintTable(p.Run, verdictColumns, processes)
}

// printFindings prints the verdict, and each problem with its solution.
func (p *commands) printFindings(r *doctor.Report, width int) {
	paint := screen.Painter(screen.Colored(p.Unfiltered))
	line := func(style screen.Style, word, text string) {
		text = string(screen.Wrap(nil, word+" "+text, width, 2))
		fmt.Fprintln(p.Out, paint(style, word)+strings.TrimPrefix(text, word))
	}
	fmt.Fprintf(p.Out, "%s: %s\n", view.OneLine(r.Subject), paint(verdictStyle(r), r.Verdict))
	for _, f := range r.Findings {
		fmt.Fprintln(p.Out)
		line(levelStyles[f.Level], string(f.Level)+":", view.OneLine(f.Text)+" ("+f.Cause.ID+")")
		line(screen.Plain, "  what to do:", f.Cause.Way)
	}
}

// verdictColumns say of each process whether gclog can attach to it.
var verdictColumns = append(psColumns[:3:3], lists.Column[psRow]{
	Column: screen.Column{Title: "VERDICT", Width: 20, Fold: true},
	Text: func(r *psRow) string {
		switch {
		case r.problem == "":
			return "can be attached to"
		case r.cause == "":
			return view.OneLine(r.problem)
		}
		return view.OneLine(r.problem + " (" + r.cause + ")")
	},
})

var levelStyles = map[doctor.Level]screen.Style{
	doctor.Failure: screen.Failure,
	doctor.Warning: screen.Warning,
	doctor.Note:    screen.Note,
}

func verdictStyle(r *doctor.Report) screen.Style {
	if r.OK() {
		return screen.Good
	}
	return screen.Failure
}
