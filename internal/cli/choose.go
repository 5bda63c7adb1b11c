package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// commandFlag is set if the arguments are a command to run: they were after "--".
const commandFlag = "command"

// The flags that choose a process: a running one or, with commands that read files, one of those in the
// files. dotnet-trace calls --pid --process-id.
const (
	pidFlag    = "pid"
	nameFlag   = "name"
	newestFlag = "newest"
)

// processFlags choose a process.
func processFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: pidFlag, Aliases: []string{"p", "process-id"}, Category: processOptions, Usage: "the process with this `PID`"},
		&cli.StringFlag{
			Name: nameFlag, Aliases: []string{"n"}, Category: processOptions,
			Usage: "the process with this `NAME` (of its program, assembly or service); * matches anything",
		},
		&cli.BoolFlag{Name: newestFlag, Category: processOptions, Usage: "if several processes match, the one started last"},
	}
}

// targetFlags are the flags of commands that can also start a process.
func targetFlags() []cli.Flag {
	return join(processFlags(), []cli.Flag{timeoutFlag(), &cli.BoolFlag{Name: commandFlag, Hidden: true}})
}

// timeoutFlag limits how long gclog waits for an answer of the process.
func timeoutFlag() cli.Flag {
	return &cli.StringFlag{Name: "timeout", Category: processOptions, Usage: "give up after `TIME` without an answer of the process", DefaultText: "never"}
}

// A choice is what the user specified about the process.
type choice struct {
	pid     int    // 0: not by pid
	start   uint64 // start key that the process must have; 0: any
	name    string // "": not by name
	newest  bool   // choose the most recently started of several processes
	orFile  bool   // the name may have been meant as a file's
	command string // the gclog command that needs the process
	// patience is how long the process may take for each answer.
	patience time.Duration
}

// forever is the patience of a person, who can interrupt gclog.
const forever = 100 * 365 * 24 * time.Hour

// made reports whether a process was specified at all.
func (ch choice) made() bool { return ch.pid != 0 || ch.name != "" || ch.newest }

// chosenByFlag reports whether the flags choose a process, whatever the arguments are.
func chosenByFlag(c *cli.Context) bool {
	return c.IsSet(pidFlag) || c.IsSet(nameFlag) || c.Bool(newestFlag)
}

// subjectOf decides whether the arguments of a command that also takes files are files, in which the
// flags may choose a process, or a running process.
func subjectOf(c *cli.Context, args []string) (files []string, ch choice, err error) {
	if areFiles(args) {
		return args, ch, nil
	}
	ch, err = choose(c, args)
	ch.orFile = len(args) > 0 && ch.name != ""
	return nil, ch, err
}

// wholeSubjectOf is subjectOf for commands that do not choose within a file.
func wholeSubjectOf(c *cli.Context, args []string) (files []string, ch choice, err error) {
	files, ch, err = subjectOf(c, args)
	if files != nil && chosenByFlag(c) {
		return nil, ch, usagef("%s takes a file or a process, not both: %s", commandName(c), strings.Join(files, " "))
	}
	return files, ch, err
}

// commandName returns the name of a command, without gclog.
func commandName(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, "gclog ") }

// inFiles returns which process in files the flags choose.
func inFiles(c *cli.Context) (history.Choice, error) {
	ch, err := choose(c, nil)
	chosen := history.Choice{PID: int64(ch.pid), Name: ch.name, Newest: ch.newest}
	if ch.name != "" {
		chosen.Named = func(p *gclog.Process) bool {
			return ch.fits(p.Name, filepath.Base(p.Executable), strings.TrimSuffix(p.EntryAssembly, ".dll"), p.Service)
		}
	}
	return chosen, err
}

// areFiles reports whether arguments are files: those that exist, or that cannot be anything else,
// as several that are not all pids. A folder does not count: programs often run next to a folder
// with their name.
func areFiles(args []string) bool {
	if len(args) != 1 {
		return slices.ContainsFunc(args, func(arg string) bool { return !isNumber(arg) })
	}
	arg := args[0]
	switch {
	case arg == "" || isNumber(arg):
		return false
	case arg == "-", arg == ".", arg == "..", isFileName(arg), strings.ContainsFunc(arg, func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) }):
		return true
	}
	info, err := os.Lstat(arg)
	return err == nil && !info.IsDir() || errors.Is(err, fs.ErrPermission)
}

// isFileName reports whether a name has an extension of a file that gclog reads: no process is meant.
func isFileName(name string) bool {
	return slices.Contains([]string{".nettrace", ".gcdump", ".log", ".json", ".csv", ".gz", ".zst"}, filepath.Ext(name))
}

// choose reads the choice of a process from the flags and the arguments.
func choose(c *cli.Context, args []string) (ch choice, err error) {
	ch.command, ch.newest = commandName(c), c.Bool(newestFlag)
	if ch.patience, err = patience(c); err != nil {
		return ch, err
	}
	if len(args) > 1 {
		return ch, usagef("one process at a time: %s", strings.Join(args, " "))
	}
	var given []string
	for _, flag := range []string{pidFlag, nameFlag} {
		if c.IsSet(flag) {
			given = append(given, c.String(flag))
		}
	}
	given = append(given, args...)
	switch {
	case len(given) > 1:
		return ch, usagef("choose the process by pid or by name, not by both")
	case len(given) == 0:
		return ch, nil
	case given[0] == "": // perhaps a variable of a script that is not set
		return ch, usagef("the pid or name of the process is empty")
	case c.IsSet(pidFlag) || !c.IsSet(nameFlag) && isNumber(given[0]):
		ch.pid, err = strconv.Atoi(given[0])
		if err != nil || ch.pid <= 0 {
			return ch, usagef("%q is not a process id", given[0])
		}
		if ch.newest {
			return ch, usagef("--newest chooses among processes with the same name; %d is a single process", ch.pid)
		}
		return ch, nil
	}
	ch.name = given[0]
	if _, err := path.Match(ch.name, ""); err != nil {
		return ch, usagef("%q is not a valid name pattern: %w", ch.name, err)
	}
	return ch, nil
}

// patience returns how long a process may take for each answer: on a starved host a healthy one can
// take minutes. What is asked for is limited by --timeout, or else by the duration of what follows.
func patience(c *cli.Context) (time.Duration, error) {
	timeout, err := parseDuration(c, "timeout")
	if err != nil || timeout > 0 {
		return timeout, err
	}
	duration, err := parseDuration(c, forFlag)
	if err != nil || duration == 0 {
		return forever, err
	}
	return max(duration, session.DefaultTimeout), nil
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// errAmbiguous and errNone distinguish the errors of a choice that is not a pid.
var (
	errAmbiguous = errors.New("several processes")
	errNone      = errors.New("no process")
)

// find returns the chosen process.
func (p *program) find(ctx context.Context, ch choice) (*host.Target, error) {
	if ch.pid != 0 {
		t, err := p.host.Find(ctx, ch.pid)
		switch {
		case err != nil:
			return nil, err
		case ch.start != 0 && ch.start != t.StartKey:
			return nil, noProcessf("process %d has exited; another process has its number now", ch.pid)
		}
		t.Timeout = ch.patience
		return t, nil
	}
	l, err := p.only(ctx, ch)
	if err == nil {
		err = l.Err
	}
	if err != nil {
		return nil, err
	}
	t := l.Target()
	t.Timeout = ch.patience
	return t, nil
}

// only returns the one process that is chosen, among those that are listed. Processes that cannot
// be attached to do not count if one with the same name can be.
func (p *program) only(ctx context.Context, ch choice) (*host.Listed, error) {
	list, err := p.host.List(ctx)
	if err != nil {
		return nil, err
	}
	var fits, reachable []host.Listed
	for _, l := range list {
		if ch.name != "" && !ch.matches(&l.Process) {
			continue
		}
		fits = append(fits, l)
		if l.Err == nil {
			reachable = append(reachable, l)
		}
	}
	switch {
	case len(fits) == 0:
		return nil, ch.none(list)
	case len(fits) == 1:
		return &fits[0], nil
	case len(reachable) == 1 && ch.name != "":
		return &reachable[0], nil
	case ch.newest:
		if len(reachable) > 0 {
			fits = reachable
		}
		newest := slices.MaxFunc(fits, startOrder)
		p.ui.sayf("process %d (%s) is the most recently started of %d", newest.PID, oneLine(attach.Names(&newest.Process)[0]), len(fits))
		return &newest, nil
	}
	how := "gclog " + ch.command + " PID"
	if ch.name != "" {
		how += ", a longer name"
	}
	return nil, usagef("%w found: choose one with %s or --newest:\n%s", errAmbiguous, how, strings.TrimRight(listText(fits), "\n"))
}

// startOrder compares processes by start time.
func startOrder(a, b host.Listed) int {
	return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID)
}

// none returns the error that no process matches, with those that may have been meant.
func (ch choice) none(list []host.Listed) error {
	if ch.name == "" {
		return noProcessf("%w with a .NET runtime was found (see gclog ps)", errNone)
	}
	file := ""
	if ch.orFile {
		file = "there is no file " + ch.name + ", and "
		if _, err := os.Lstat(ch.name); err == nil { // of existing names, areFiles rejects only folders
			file = ch.name + " is a directory, and "
		}
	}
	more := "gclog ps lists those that do"
	if slices.ContainsFunc(list, isOfOther) {
		more += "; only root sees the service names of other users' processes"
	}
	return noProcessf("%s%w called %q has a .NET runtime%s (%s)", file, errNone, ch.name, ch.near(list), more)
}

// isOfOther reports whether a process cannot be attached to because it belongs to another user.
func isOfOther(l host.Listed) bool {
	t, ok := errors.AsType[*host.TargetError](l.Err)
	return ok && t.Cause == host.CauseOtherUser
}

// nearMost is how many names are proposed at most.
const nearMost = 3

// near proposes processes with names similar to the one given, or returns "" if there are none.
func (ch choice) near(list []host.Listed) string {
	var all []string
	pids := map[string]int{}
	for i := range list {
		for _, name := range attach.Names(&list[i].Process) {
			if pids[name] == 0 {
				all = append(all, name)
			}
			pids[name] = list[i].PID
		}
	}
	var near []string
	named := map[int]bool{} // one name of each process is enough
	for _, name := range spelling.Near(strings.Trim(ch.name, "*?"), all) {
		if pid := pids[name]; !named[pid] && len(near) < nearMost {
			named[pid] = true
			near = append(near, fmt.Sprintf("%s (%d)", oneLine(shorten(name, 60)), pid))
		}
	}
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(near, " or ") + "?"
}

// sayOfProcess prints how to choose a process that has the name of a file.
func (p *program) sayOfProcess(c *cli.Context, files []string) {
	if name := files[0]; len(files) == 1 && name == filepath.Base(name) && name != "-" && !isFileName(name) {
		p.ui.sayf("%s is a file here; to choose the process of that name, use gclog %s -n %s", name, c.Command.Name, name)
	}
}

// clockError is how much too early the reported start of a process may be.
const clockError = time.Second

// next finds a process that was started after the last one had ended: a process that ran at the
// same time is another instance, and belongs to others. If several were started, it returns the
// last of them.
func (p *program) next(ctx context.Context, ch choice, ended time.Time) (_ *host.Target, others []string, _ error) {
	if ended.IsZero() {
		t, err := p.find(ctx, ch)
		return t, nil, err
	}
	list, err := p.host.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	var newest *host.Listed
	for i := range list {
		l := &list[i]
		if !ch.matches(&l.Process) {
			continue
		}
		if time.Since(l.Started) > time.Since(ended)+clockError { // both by the present clock
			others = append(others, strconv.Itoa(l.PID))
			continue
		}
		// Processes that can be attached to are preferred.
		if newest == nil || newest.Err != nil && l.Err == nil || (newest.Err == nil) == (l.Err == nil) && l.Started.After(newest.Started) {
			newest = l
		}
	}
	if newest == nil {
		return nil, others, noProcessf("%w called %q has started since", errNone, ch.name)
	}
	return newest.Target(), others, newest.Err
}

// matches reports whether a process has the name.
func (ch choice) matches(p *host.Process) bool { return ch.fits(attach.Names(p)...) }

// fits reports whether one of the names is the one that was given.
func (ch choice) fits(names ...string) bool {
	for _, name := range names {
		if ok, _ := path.Match(ch.name, name); ok || strings.EqualFold(ch.name, name) {
			return true
		}
	}
	return false
}

// listMost is how many processes are listed to choose from.
const listMost = 20

// listText formats the list to choose from.
func listText(list []host.Listed) string {
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
