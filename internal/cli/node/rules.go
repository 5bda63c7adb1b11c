package node

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) rulesCommand() *cli.Command {
	return &cli.Command{
		Name:      "rules",
		Usage:     "show and try the daemon's rules: what it does, and when",
		ArgsUsage: "show|fields [EVENT]|test FILE...",
		Description: `show lists the rules of the configuration. fields lists what their conditions can be about,
for one event (gc, pause, stall, gap, finding, exit) or for all. test reports which rules
would have fired, in recordings or logs: it does nothing else. --on tries a condition that
is in no configuration. docs/rules.md describes rules.

Examples:
   gclog rules show -c gclog.yaml
   gclog rules fields gc
   gclog rules test app.nettrace -c gclog.yaml
   gclog rules test gc*.json --on 'pause > 200ms && generation == 2'
   gclog rules test gc.json --on exit --on 'gap: gap.lost_events > 0'`,
		Flags: flags.Join([]cli.Flag{
			ctl.ConfigFlag(),
			flags.Unpack(),
			&cli.StringSliceFlag{
				Name: flags.On,
				Usage: "test: `RULE` instead of those of the configuration: a condition on a gc, or EVENT: " +
					"CONDITION; may be repeated",
			},
			&cli.BoolFlag{Name: flags.Local, Usage: "test: times in the local time zone, instead of UTC or TZ"},
		}, subject.Flags(), results.Flags(results.Lists)),
		Action: results.Action(p.Run, results.Lists, p.rules),
	}
}

func (p *commands) rules(c *cli.Context, how string) error {
	args := c.Args().Tail()
	what := c.Args().First()
	for _, flag := range []string{flags.On, flags.PID, flags.Name, flags.Newest, flags.Local} {
		if c.IsSet(flag) && what != "test" {
			return exit.Usagef("--%s is for rules test", flag)
		}
	}
	switch what {
	case "show":
		if len(args) > 0 {
			return exit.Usagef("rules show takes no more arguments: %s", args[0])
		}
		return p.rulesShow(c, how)
	case "fields":
		return p.rulesFields(args, how)
	case "test":
		if how == "csv" {
			return exit.Usagef("rules test writes text or json")
		}
		return p.rulesTest(c, args, how)
	}
	return exit.Usagef("rules needs one of the words show, fields, test")
}

// ruleColumns are the columns of the rules of a configuration.
var ruleColumns = []lists.Column[config.Rule]{
	lists.Text(screen.Column{Title: "RULE", Width: 8, Cut: true}, "name",
		func(r *config.Rule) string { return r.Name }),
	lists.Text(screen.Column{Title: "EVENT"}, "event", func(r *config.Rule) string { return r.Event }),
	lists.Text(screen.Column{Title: "WHEN", Width: 20, Fold: true}, "when",
		func(r *config.Rule) string { return r.When }),
	timeColumn("FOR", "for_ns", 2, func(r *config.Rule) int64 { return r.For.Nanoseconds() }),
	timeColumn("EVERY", "every_ns", 2, func(r *config.Rule) int64 { return r.Every.Nanoseconds() }),
	timeColumn("COOLDOWN", "cooldown_ns", 1, func(r *config.Rule) int64 { return r.Cooldown.Nanoseconds() }),
	{CSV: "only", JSON: "only", Value: func(r *config.Rule) any { return lists.Some(len(r.Only)) }},
	{
		Column: screen.Column{Title: "DO", Width: 10, Fold: true}, CSV: "actions", JSON: "actions",
		Text:  func(r *config.Rule) string { return strings.Join(actionsOf(r), ", ") },
		Value: func(r *config.Rule) any { return actionsOf(r) },
	},
}

func timeColumn(title, name string, rank int, ns func(*config.Rule) int64) lists.Column[config.Rule] {
	return lists.Column[config.Rule]{
		Column: screen.Column{Title: title, Right: true, Rank: rank}, CSV: name, JSON: name,
		Value: func(r *config.Rule) any { return lists.Some(ns(r)) },
		Text: func(r *config.Rule) string {
			if ns(r) == 0 {
				return "-"
			}
			return time.Duration(ns(r)).String()
		},
	}
}

// actionsOf returns what a rule does.
func actionsOf(r *config.Rule) []string {
	list := []string{}
	for i := range r.Do {
		list = append(list, r.Do[i].Names()...)
	}
	return list
}

func (p *commands) rulesShow(c *cli.Context, how string) error {
	l, err := p.loadConfig(c)
	if err != nil {
		return err
	}
	if len(l.Rules) == 0 && how == "text" {
		name := l.File
		if name == "" {
			name = "the default configuration (there is no file)"
		}
		p.UI.Sayf("%s has no rules", view.Clean(name))
		return nil
	}
	return lists.Print(p.Run, how, ruleColumns, l.Rules)
}

// An eventField is what conditions on an event can be about.
type eventField struct {
	event string
	rules.Field
}

// kind returns what values the field has.
func (f *eventField) kind() string {
	return [...]string{condition.Number: "number", condition.Text: "text", condition.Flag: "flag"}[f.Type]
}

var fieldColumns = []lists.Column[eventField]{
	lists.Text(screen.Column{Title: "EVENT"}, "event", func(f *eventField) string { return f.event }),
	lists.Text(screen.Column{Title: "FIELD"}, "field", func(f *eventField) string { return f.Name }),
	{
		Column: screen.Column{Title: "TYPE", Rank: 1}, CSV: "type", JSON: "type",
		Value: func(f *eventField) any { return f.kind() },
		Text: func(f *eventField) string {
			if name, ok := map[string]string{"": f.kind(), "ns": "duration", "bytes": "size"}[f.Unit]; ok {
				return name
			}
			return f.Unit
		},
	},
	{CSV: "unit", JSON: "unit", Value: func(f *eventField) any { return lists.Some(f.Unit) }},
	{CSV: "values", JSON: "values", Value: func(f *eventField) any {
		if f.Values == nil {
			return nil
		}
		return f.Values
	}},
	{
		Column: screen.Column{Width: 24, Fold: true}, CSV: "about", JSON: "about",
		Value: func(f *eventField) any { return f.About },
		Text: func(f *eventField) string {
			if len(f.Values) == 0 {
				return f.About
			}
			return f.About + ": " + strings.Join(f.Values, ", ")
		},
	},
}

func (p *commands) rulesFields(args []string, how string) error {
	kinds := rules.Kinds
	switch {
	case len(args) > 1:
		return exit.Usagef("rules fields takes one event: %s", args[1])
	case len(args) == 1:
		if _, err := rules.ParseKind(args[0]); err != nil {
			return exit.Usagef("%w", err)
		}
		kinds = args
	}
	var list []eventField
	for _, name := range kinds {
		kind, _ := rules.ParseKind(name)
		for _, f := range kind.Fields() {
			list = append(list, eventField{name, f})
		}
	}
	return lists.Print(p.Run, how, fieldColumns, list)
}

// A tried rule is one whose firings are reported.
type triedRule struct {
	*rules.Rule
	config *config.Rule // nil: it is from the command line
	fired  int
}

// rulesTest reports what would have fired.
func (p *commands) rulesTest(c *cli.Context, names []string, how string) error {
	if len(names) == 0 {
		return exit.Usagef("rules test needs a file, or - for standard input")
	}
	list, err := p.triedRules(c)
	if err != nil {
		return err
	}
	chosen, err := subject.InFiles(c)
	if err != nil {
		return err
	}
	in, err := subject.Open(p.Run, names, history.Options{Choice: chosen})
	if err != nil {
		return subject.InputError(err)
	}
	defer in.Close()
	t := &ruleTest{p: p, list: list, how: how, zone: subject.Zone(p.Run, c).Local}
	if t.zone == nil {
		t.zone = time.UTC
	}
	p.UI.Data = screen.IsTerminal(p.Unfiltered)
	stop := subject.Progress(p.Run, in, in.GCs)
	damage := in.ReadAll(t.observe)
	stop()
	if damage != nil {
		damage = exit.With(exit.Data, damage)
	}
	t.summary(in)
	return errors.Join(t.err, damage)
}

// triedRules returns the rules of --on, or those of the configuration.
func (p *commands) triedRules(c *cli.Context) (list []*triedRule, err error) {
	if texts := c.StringSlice(flags.On); len(texts) > 0 {
		for _, text := range texts {
			r, err := flags.Rule(text, 0)
			if err != nil {
				return nil, err
			}
			list = append(list, &triedRule{Rule: r})
		}
		return list, nil
	}
	l, err := p.loadConfig(c)
	if err != nil {
		return nil, err
	}
	if len(l.Rules) == 0 {
		return nil, exit.Usagef(
			"the configuration has no rules: name another one with -c, or give a condition with --%s", flags.On)
	}
	for i := range l.Rules {
		r, err := l.Rules[i].Compile()
		if err != nil { // it was checked
			return nil, err
		}
		list = append(list, &triedRule{Rule: r, config: &l.Rules[i]})
	}
	return list, nil
}

// A ruleTest evaluates rules on the processes in files.
type ruleTest struct {
	p    *commands
	list []*triedRule
	how  string
	zone *time.Location
	gcs  gclog.Tally
	err  error // of printing
}

// firingJSON is a firing in JSON.
type firingJSON struct {
	Time    string   `json:"time"`
	Rule    string   `json:"rule"`
	PID     int64    `json:"pid"`
	Service string   `json:"service,omitempty"`
	GC      *uint32  `json:"gc,omitempty"` // number of the collection
	Text    string   `json:"text"`
	Actions []string `json:"actions,omitempty"`
}

// observe returns what evaluates the rules that apply to a process.
func (t *ruleTest) observe(process *gclog.Process) gclog.Observer {
	s := config.Subject{
		Processes: []string{process.Name}, CommandLine: process.CommandLine,
		EntryAssembly: strings.TrimSuffix(process.EntryAssembly, ".dll"), Service: process.Service,
		Namespace: process.Namespace, User: process.User, Container: process.ContainerID, PID: int(process.ID),
	}
	byRule := map[*rules.Rule]*triedRule{}
	var list []*rules.Rule
	for _, r := range t.list {
		if r.config == nil || r.config.Applies(&s) {
			byRule[r.Rule] = r
			list = append(list, r.Rule)
		}
	}
	e := rules.NewEngine(list, formats.Options{Host: process.Host},
		func(f *rules.Firing) { t.report(byRule[f.Rule], f) })
	return gclog.Tee(t.gcs.Observe, e.Observe(process))
}

// report prints a firing.
func (t *ruleTest) report(r *triedRule, f *rules.Firing) {
	r.fired++
	if t.err != nil {
		return
	}
	var actions []string
	if r.config != nil {
		actions = actionsOf(r.config)
	}
	if t.how == "json" {
		x := firingJSON{
			Time:    f.Time.UTC().Format("2006-01-02T15:04:05.000000000Z"),
			Rule:    r.Name,
			PID:     f.Process.ID,
			Service: f.Process.Service,
			Text:    f.Text(),
			Actions: actions,
		}
		if d := f.GC(); d != nil && d.Known.Has(gclog.GroupNumber) {
			x.GC = &d.Number
		}
		t.err = t.p.PrintJSON(&x)
		return
	}
	line := fmt.Sprintf("%s  %s  process %d  %s",
		f.Time.In(t.zone).Format("2006-01-02 15:04:05.000"), r.Name, f.Process.ID, f.Text())
	if len(actions) > 0 {
		line += "  (" + strings.Join(actions, ", ") + ")"
	}
	_, t.err = fmt.Fprintln(t.p.Out, view.OneLine(line))
}

// summary says how often each rule has fired.
func (t *ruleTest) summary(in *history.Source) {
	if t.gcs.GCs() == 0 {
		t.p.UI.Say(in.NothingText())
	}
	for _, r := range t.list {
		t.p.UI.Sayf("fired %s: %s", timesText(r.fired), view.OneLine(r.Name))
	}
}

func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
