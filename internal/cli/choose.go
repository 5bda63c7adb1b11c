package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// commandFlag says that the arguments are a command to run: they stood behind "--".
const commandFlag = "command"

func targetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "process-id", Aliases: []string{"p"}, Usage: "the process with this `PID`"},
		&cli.StringFlag{Name: "name", Aliases: []string{"n"}, Usage: "the process with this `NAME`: of its program, assembly or service; * stands for anything"},
		&cli.BoolFlag{Name: commandFlag, Hidden: true},
	}
}

// A choice is what the user said about the process.
type choice struct {
	pid     int    // 0: not by pid
	name    string // "": not by name
	command string // for which it is chosen
}

// made tells whether a process was named at all.
func (ch choice) made() bool { return ch.pid != 0 || ch.name != "" }

// chosen reads the choice from the flags and the argument.
func chosen(c *cli.Context) (ch choice, err error) {
	ch.command = c.Command.Name
	if c.Args().Len() > 1 {
		return ch, usagef("one process at a time: %s", strings.Join(c.Args().Slice(), " "))
	}
	arg, pid, name := c.Args().First(), c.String("process-id"), c.String("name")
	given := 0
	for _, s := range []string{arg, pid, name} {
		if s != "" {
			given++
		}
	}
	if given > 1 {
		return ch, usagef("choose the process by pid or by name, not by both")
	}
	if pid != "" || arg != "" && isNumber(arg) {
		ch.pid, err = strconv.Atoi(pid + arg)
		if err != nil || ch.pid <= 0 {
			return ch, usagef("%q is no process id", pid+arg)
		}
		return ch, nil
	}
	ch.name = name + arg
	if _, err := path.Match(ch.name, ""); err != nil {
		return ch, usagef("%q is no pattern for a name: %w", ch.name, err)
	}
	return ch, nil
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// errAmbiguous and errNone tell apart what can go wrong with a choice that is not
// a pid.
var (
	errAmbiguous = errors.New("several processes")
	errNone      = errors.New("no process")
)

// find returns the process that is meant.
func (ch choice) find(ctx context.Context, h *session.Host) (*session.Target, error) {
	if ch.pid != 0 {
		return h.Find(ctx, ch.pid)
	}
	l, err := ch.only(ctx, h)
	if err != nil {
		return nil, err
	}
	return l.Target(), l.Err
}

// only returns the one process that is meant, among those that are listed. Those that
// cannot be attached to do not count beside one of the same name that can.
func (ch choice) only(ctx context.Context, h *session.Host) (*session.Listed, error) {
	list, err := h.List(ctx)
	if err != nil {
		return nil, err
	}
	var fits []session.Listed
	for _, l := range list {
		if ch.name == "" || ch.matches(&l.Process) {
			fits = append(fits, l)
		}
	}
	reachable := fits[:0:0]
	for _, l := range fits {
		if l.Err == nil {
			reachable = append(reachable, l)
		}
	}
	switch {
	case len(reachable) == 1 && (ch.name != "" || len(fits) == 1):
		return &reachable[0], nil
	case len(fits) == 1:
		return &fits[0], nil
	case len(fits) == 0 && ch.name != "":
		return nil, noProcessf("%w called %q has a .NET runtime (gclog ps lists those that have)", errNone, ch.name)
	case len(fits) == 0:
		return nil, noProcessf("%w with a .NET runtime was found (gclog ps says more)", errNone)
	}
	how := "gclog " + ch.command + " PID"
	if ch.name != "" {
		how += ", or a longer name"
	}
	return nil, usagef("%w to choose from, say which one with %s:\n%s", errAmbiguous, how, strings.TrimRight(listText(fits), "\n"))
}

// clockError is how much the start of a process may be told too early.
const clockError = time.Second

// next finds a process that was started when the last one had ended: one that ran beside it is
// another one of its kind, and among the others. Where several were started, it is the last of them.
func (ch choice) next(ctx context.Context, h *session.Host, ended time.Time) (_ *session.Target, others []string, _ error) {
	if ended.IsZero() {
		t, err := ch.find(ctx, h)
		return t, nil, err
	}
	list, err := h.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	var newest *session.Listed
	for i := range list {
		l := &list[i]
		if !ch.matches(&l.Process) {
			continue
		}
		if time.Since(l.Started) > time.Since(ended)+clockError { // both by the clock as it is now
			others = append(others, strconv.Itoa(l.PID))
			continue
		}
		// One that can be attached to comes before one that cannot.
		if newest == nil || newest.Err != nil && l.Err == nil || (newest.Err == nil) == (l.Err == nil) && l.Started.After(newest.Started) {
			newest = l
		}
	}
	if newest == nil {
		return nil, others, noProcessf("%w called %q has started since", errNone, ch.name)
	}
	return newest.Target(), others, newest.Err
}

// matches tells whether a process has the name.
func (ch choice) matches(p *session.Process) bool {
	for _, name := range attach.Names(p) {
		if ok, _ := path.Match(ch.name, name); ok || strings.EqualFold(ch.name, name) {
			return true
		}
	}
	return false
}

// listMost is how many processes are shown to choose from.
const listMost = 20

// listText is the list to choose from.
func listText(list []session.Listed) string {
	var b strings.Builder
	for i, l := range list {
		if i == listMost {
			fmt.Fprintf(&b, "  and %d more: gclog ps lists them\n", len(list)-i)
			break
		}
		b.WriteString("  " + strconv.Itoa(l.PID) + "  " + oneLine(attach.Names(&l.Process)[0]))
		if args := strings.Join(l.CommandLine, " "); args != "" {
			b.WriteString("  " + oneLine(shorten(args, 100)))
		}
		if l.Err != nil {
			b.WriteString("  (cannot be attached)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
