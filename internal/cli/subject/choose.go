// Package subject finds what a command is about: files, of which it reads histories, or a running
// process.
package subject

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
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// Flags choose a process.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:     flags.PID,
			Aliases:  []string{"p", "process-id"},
			Category: flags.ProcessGroup,
			Usage:    "the process with this `PID`",
		},
		&cli.StringFlag{
			Name: flags.Name, Aliases: []string{"n"}, Category: flags.ProcessGroup,
			Usage: "the process with this `NAME` (of its program, assembly or service); * matches anything",
		},
		&cli.BoolFlag{
			Name: flags.Newest, Category: flags.ProcessGroup, Usage: "if several processes match, the one started last",
		},
	}
}

// TargetFlags are the flags of commands that can also start a process.
func TargetFlags() []cli.Flag {
	return flags.Join(Flags(), []cli.Flag{TimeoutFlag(), &cli.BoolFlag{Name: flags.Command, Hidden: true}})
}

// TimeoutFlag limits how long gclog waits for an answer of the process.
func TimeoutFlag() cli.Flag {
	return &cli.StringFlag{
		Name:        "timeout",
		Category:    flags.ProcessGroup,
		Usage:       "give up after `TIME` without an answer of the process",
		DefaultText: "never",
	}
}

// A Choice is what the user specified about the process.
type Choice struct {
	PID     int    // 0: not by pid
	Start   uint64 // start key that the process must have; 0: any
	Name    string // "": not by name
	newest  bool   // choose the most recently started of several processes
	orFile  bool   // the name may have been meant as a file's
	command string // the gclog command that needs the process
	// patience is how long the process may take for each answer.
	patience time.Duration
}

// forever is the patience of a person, who can interrupt gclog.
const forever = 100 * 365 * 24 * time.Hour

// Made reports whether a process was specified at all.
func (ch Choice) Made() bool { return ch.PID != 0 || ch.Name != "" || ch.newest }

// ByFlag reports whether the flags choose a process, whatever the arguments are.
func ByFlag(c *cli.Context) bool {
	return c.IsSet(flags.PID) || c.IsSet(flags.Name) || c.Bool(flags.Newest)
}

// Of decides whether the arguments of a command that also takes files are files, in which the
// flags may choose a process, or a running process.
func Of(c *cli.Context, args []string) (files []string, ch Choice, err error) {
	if AreFiles(args) {
		return args, ch, nil
	}
	ch, err = Choose(c, args)
	ch.orFile = len(args) > 0 && ch.Name != ""
	return nil, ch, err
}

// Whole is Of for commands that do not choose within a file.
func Whole(c *cli.Context, args []string) (files []string, ch Choice, err error) {
	files, ch, err = Of(c, args)
	if files != nil && ByFlag(c) {
		return nil, ch,
			exit.Usagef("%s takes a file or a process, not both: %s", flags.CommandName(c), strings.Join(files, " "))
	}
	return files, ch, err
}

// InFiles returns which process in files the flags choose.
func InFiles(c *cli.Context) (history.Choice, error) {
	ch, err := Choose(c, nil)
	chosen := history.Choice{PID: int64(ch.PID), Name: ch.Name, Newest: ch.newest}
	if ch.Name != "" {
		chosen.Named = func(p *gclog.Process) bool {
			return ch.fits(p.Name, filepath.Base(p.Executable), strings.TrimSuffix(p.EntryAssembly, ".dll"), p.Service)
		}
	}
	return chosen, err
}

// AreFiles reports whether arguments are files: those that exist, or that cannot be anything else,
// as several that are not all pids. A folder does not count: programs often run next to a folder
// with their name.
func AreFiles(args []string) bool {
	if len(args) != 1 {
		return slices.ContainsFunc(args, func(arg string) bool { return !flags.IsNumber(arg) })
	}
	arg := args[0]
	switch {
	case arg == "" || flags.IsNumber(arg):
		return false
	case arg == "-", arg == ".", arg == "..", isFileName(arg),
		strings.ContainsFunc(arg, func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) }):
		return true
	}
	info, err := os.Lstat(arg)
	return err == nil && !info.IsDir() || errors.Is(err, fs.ErrPermission)
}

// isFileName reports whether a name has an extension of a file that gclog reads: no process is meant.
func isFileName(name string) bool {
	return slices.Contains([]string{".nettrace", ".gcdump", ".log", ".json", ".csv", ".gz", ".zst"}, filepath.Ext(name))
}

// Choose reads the choice of a process from the flags and the arguments.
func Choose(c *cli.Context, args []string) (ch Choice, err error) {
	ch.command, ch.newest = flags.CommandName(c), c.Bool(flags.Newest)
	if ch.patience, err = patience(c); err != nil {
		return ch, err
	}
	if len(args) > 1 {
		return ch, exit.Usagef("one process at a time: %s", strings.Join(args, " "))
	}
	var given []string
	for _, flag := range []string{flags.PID, flags.Name} {
		if c.IsSet(flag) {
			given = append(given, c.String(flag))
		}
	}
	given = append(given, args...)
	switch {
	case len(given) > 1:
		return ch, exit.Usagef("choose the process by pid or by name, not by both")
	case len(given) == 0:
		return ch, nil
	case given[0] == "": // perhaps a variable of a script that is not set
		return ch, exit.Usagef("the pid or name of the process is empty")
	case c.IsSet(flags.PID) || !c.IsSet(flags.Name) && flags.IsNumber(given[0]):
		ch.PID, err = strconv.Atoi(given[0])
		if err != nil || ch.PID <= 0 {
			return ch, exit.Usagef("%q is not a process id", given[0])
		}
		if ch.newest {
			return ch, exit.Usagef("--newest chooses among processes with the same name; %d is a single process",
				ch.PID)
		}
		return ch, nil
	}
	ch.Name = given[0]
	if _, err := path.Match(ch.Name, ""); err != nil {
		return ch, exit.Usagef("%q is not a valid name pattern: %w", ch.Name, err)
	}
	return ch, nil
}

// patience returns how long a process may take for each answer: on a starved host a healthy one can
// take minutes. What is asked for is limited by --timeout, or else by the duration of what follows.
func patience(c *cli.Context) (time.Duration, error) {
	timeout, err := flags.Duration(c, "timeout")
	if err != nil || timeout > 0 {
		return timeout, err
	}
	duration, err := flags.Duration(c, flags.For)
	if err != nil || duration == 0 {
		return forever, err
	}
	return max(duration, session.DefaultTimeout), nil
}

// ErrAmbiguous and ErrNone distinguish the errors of a choice that is not a pid.
var (
	ErrAmbiguous = errors.New("several processes")
	ErrNone      = errors.New("no process")
)

// Find returns the chosen process.
func Find(ctx context.Context, p *program.Run, ch Choice) (*host.Target, error) {
	if ch.PID != 0 {
		t, err := p.Host.Find(ctx, ch.PID)
		switch {
		case err != nil:
			return nil, err
		case ch.Start != 0 && ch.Start != t.StartKey:
			return nil, exit.NoProcessf("process %d has exited; another process has its number now", ch.PID)
		}
		t.Timeout = ch.patience
		return t, nil
	}
	l, err := Only(ctx, p, ch)
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

// Only returns the one process that is chosen, among those that are listed. Processes that cannot
// be attached to do not count if one with the same name can be.
func Only(ctx context.Context, p *program.Run, ch Choice) (*host.Listed, error) {
	list, err := p.Host.List(ctx)
	if err != nil {
		return nil, err
	}
	var fits, reachable []host.Listed
	for _, l := range list {
		if ch.Name != "" && !ch.Matches(&l.Process) {
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
	case len(reachable) == 1 && ch.Name != "":
		return &reachable[0], nil
	case ch.newest:
		if len(reachable) > 0 {
			fits = reachable
		}
		newest := slices.MaxFunc(fits, startOrder)
		p.UI.Sayf("process %d (%s) is the most recently started of %d",
			newest.PID, view.OneLine(attach.Names(&newest.Process)[0]), len(fits))
		return &newest, nil
	}
	how := "gclog " + ch.command + " PID"
	if ch.Name != "" {
		how += ", a longer name"
	}
	return nil, exit.Usagef("%w found: choose one with %s or --newest:\n%s",
		ErrAmbiguous, how, strings.TrimRight(listText(fits), "\n"))
}

// startOrder compares processes by start time.
func startOrder(a, b host.Listed) int {
	return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID)
}

// none returns the error that no process matches, with those that may have been meant.
func (ch Choice) none(list []host.Listed) error {
	if ch.Name == "" {
		return exit.NoProcessf("%w with a .NET runtime was found (see gclog ps)", ErrNone)
	}
	file := ""
	if ch.orFile {
		file = "there is no file " + ch.Name + ", and "
		if _, err := os.Lstat(ch.Name); err == nil { // of existing names, AreFiles rejects only folders
			file = ch.Name + " is a directory, and "
		}
	}
	more := "gclog ps lists those that do"
	if slices.ContainsFunc(list, isOfOther) {
		more += "; only root sees the service names of other users' processes"
	}
	return exit.NoProcessf("%s%w called %q has a .NET runtime%s (%s)", file, ErrNone, ch.Name, ch.near(list), more)
}

// isOfOther reports whether a process cannot be attached to because it belongs to another user.
func isOfOther(l host.Listed) bool {
	t, ok := errors.AsType[*host.TargetError](l.Err)
	return ok && t.Cause == host.CauseOtherUser
}

// NearMost is how many names are proposed at most.
const NearMost = 3

// near proposes processes with names similar to the one given, or returns "" if there are none.
func (ch Choice) near(list []host.Listed) string {
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
	for _, name := range spelling.Near(strings.Trim(ch.Name, "*?"), all) {
		if pid := pids[name]; !named[pid] && len(near) < NearMost {
			named[pid] = true
			near = append(near, fmt.Sprintf("%s (%d)", view.OneLine(view.Shorten(name, 60)), pid))
		}
	}
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(near, " or ") + "?"
}

// SayOfProcess prints how to choose a process that has the name of a file.
func SayOfProcess(p *program.Run, c *cli.Context, files []string) {
	if name := files[0]; len(files) == 1 && name == filepath.Base(name) && name != "-" && !isFileName(name) {
		p.UI.Sayf("%s is a file here; to choose the process of that name, use gclog %s -n %s",
			name, c.Command.Name, name)
	}
}

// clockError is how much too early the reported start of a process may be.
const clockError = time.Second

// Next finds a process that was started after the last one had ended: a process that ran at the
// same time is another instance, and belongs to others. If several were started, it returns the
// last of them.
func Next(ctx context.Context, p *program.Run, ch Choice, ended time.Time) (_ *host.Target, others []string, _ error) {
	if ended.IsZero() {
		t, err := Find(ctx, p, ch)
		return t, nil, err
	}
	list, err := p.Host.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	var newest *host.Listed
	for i := range list {
		l := &list[i]
		if !ch.Matches(&l.Process) {
			continue
		}
		if time.Since(l.Started) > time.Since(ended)+clockError { // both by the present clock
			others = append(others, strconv.Itoa(l.PID))
			continue
		}
		// Processes that can be attached to are preferred.
		better := newest == nil || newest.Err != nil && l.Err == nil
		if better || (newest.Err == nil) == (l.Err == nil) && l.Started.After(newest.Started) {
			newest = l
		}
	}
	if newest == nil {
		return nil, others, exit.NoProcessf("%w called %q has started since", ErrNone, ch.Name)
	}
	return newest.Target(), others, newest.Err
}

// Matches reports whether a process has the name.
func (ch Choice) Matches(p *host.Process) bool { return ch.fits(attach.Names(p)...) }

// fits reports whether one of the names is the one that was given.
func (ch Choice) fits(names ...string) bool {
	for _, name := range names {
		if ok, _ := path.Match(ch.Name, name); ok || strings.EqualFold(ch.Name, name) {
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
		b.WriteString("  " + strconv.Itoa(l.PID) + "  " + view.OneLine(attach.Names(&l.Process)[0]))
		if args := strings.Join(l.CommandLine, " "); args != "" {
			b.WriteString("  " + view.OneLine(view.Shorten(args, 100)))
		}
		if l.Err != nil {
			b.WriteString("  (cannot be attached)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
