package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

func (p *program) doctorCommand() *cli.Command {
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
		Flags:  join(processFlags(), []cli.Flag{unpackFlag()}, resultFlags(textOrJSON)),
		Action: p.result(textOrJSON, p.doctor),
	}
}

// A reportJSON is a report in JSON; its form is part of gclog's compatibility promise.
type reportJSON struct {
	Subject   string            `json:"subject"`
	Verdict   string            `json:"verdict"`
	OK        bool              `json:"ok"`
	Findings  []findingJSON     `json:"findings"`
	Facts     map[string]string `json:"facts"`
	Processes []object          `json:"processes,omitempty"`
}

type findingJSON struct {
	Level string `json:"level"`
	Cause string `json:"cause"`
	Text  string `json:"text"`
	Way   string `json:"way_out"`
}

func (p *program) doctor(c *cli.Context, how string) error {
	if c.Args().Len() == 0 && !chosenByFlag(c) {
		return p.doctorMachine(c, how)
	}
	r, err := p.examine(c)
	if err != nil {
		return err
	}
	switch {
	case r.Err != nil:
		p.code = exitCode(r.Err)
	case !r.OK():
		p.code = exitData
		if c := r.Findings[0].Cause.ID; c == "missing" || c == "directory" {
			p.code = exitUsage
		}
	}
	return p.printReport(r, nil, how)
}

// examine determines what the argument is, and examines it.
func (p *program) examine(c *cli.Context) (*doctor.Report, error) {
	files, ch, err := wholeSubjectOf(c, c.Args().Slice())
	switch {
	case err != nil:
		return nil, err
	case len(files) > 1:
		return nil, usagef("one file or process at a time: %s", strings.Join(files, " "))
	case files != nil:
		r := doctor.File(files[0], p.unpacked(unpack.LimitPassed))
		if !r.OK() && r.Findings[0].Cause.ID == "not-ours" {
			p.sayOfProcess(c, files)
		}
		return r, nil
	case ch.pid != 0:
		return doctor.Process(c.Context, p.host, ch.pid), nil
	}
	l, err := p.only(c.Context, ch)
	switch {
	case err != nil:
		return nil, err
	case l.Err != nil:
		return doctor.Refused(p.host, l), nil
	}
	return doctor.Target(c.Context, p.host, l.Target()), nil
}

func (p *program) doctorMachine(c *cli.Context, how string) error {
	r, list, err := doctor.Machine(c.Context, p.host, askReady)
	if err != nil {
		return err
	}
	if !r.OK() {
		p.code = exitUsage // as the daemon would
	}
	return p.printReport(r, describeAll(c.Context, list, doctorPatience), how)
}

func (p *program) printReport(r *doctor.Report, processes []psRow, how string) error {
	if how == "json" {
		out := reportJSON{Subject: r.Subject, Verdict: r.Verdict, OK: r.OK(), Findings: []findingJSON{}, Facts: map[string]string{}, Processes: objects(psColumns, processes)}
		for _, f := range r.Findings {
			out.Findings = append(out.Findings, findingJSON{string(f.Level), f.Cause.ID, f.Text, f.Cause.Way})
		}
		for _, f := range r.Facts {
			out.Facts[f.Name] = f.Value
		}
		return p.printIndented(out)
	}
	width, _ := screen.Size(p.stdout)
	p.printFindings(r, min(width, screen.TextWidth(p.stdout)))
	if len(r.Facts) > 0 {
		fmt.Fprintln(p.out)
		var facts [][]string
		for _, f := range r.Facts {
			facts = append(facts, []string{strings.ReplaceAll(f.Name, "_", " "), oneLine(f.Value)})
		}
		if err := screen.Print(p.out, width, []screen.Column{{}, {Width: 20, Fold: true}}, slices.Values(facts), nil); err != nil {
			return err
		}
	}
	if len(processes) == 0 {
		return nil
	}
	fmt.Fprintln(p.out)
	return printTable(p, verdictColumns, processes)
}

// printFindings prints the verdict, and each problem with its solution.
func (p *program) printFindings(r *doctor.Report, width int) {
	paint := screen.Painter(screen.Colored(p.stdout))
	line := func(style screen.Style, word, text string) {
		text = string(screen.Wrap(nil, word+" "+text, width, 2))
		fmt.Fprintln(p.out, paint(style, word)+strings.TrimPrefix(text, word))
	}
	fmt.Fprintf(p.out, "%s: %s\n", oneLine(r.Subject), paint(verdictStyle(r), r.Verdict))
	for _, f := range r.Findings {
		fmt.Fprintln(p.out)
		line(levelStyles[f.Level], string(f.Level)+":", oneLine(f.Text)+" ("+f.Cause.ID+")")
		line(screen.Plain, "  what to do:", f.Cause.Way)
	}
}

// verdictColumns say of each process whether gclog can attach to it.
var verdictColumns = append(psColumns[:3:3], column[psRow]{
	Column: screen.Column{Title: "VERDICT", Width: 20, Fold: true},
	text: func(r *psRow) string {
		switch {
		case r.problem == "":
			return "can be attached to"
		case r.cause == "":
			return oneLine(r.problem)
		}
		return oneLine(r.problem + " (" + r.cause + ")")
	},
})

var levelStyles = map[doctor.Level]screen.Style{doctor.Failure: screen.Failure, doctor.Warning: screen.Warning, doctor.Note: screen.Note}

func verdictStyle(r *doctor.Report) screen.Style {
	if r.OK() {
		return screen.Good
	}
	return screen.Failure
}
