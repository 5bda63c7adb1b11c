package callers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/flame"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/parse"
	"github.com/urfave/cli/v2"
)

// What alloc and induced have in common: recordings with call stacks.

// stackFormats are the formats of what has call stacks.
var stackFormats = []string{"text", "csv", "json", "pprof", "speedscope", "folded"}

// stackFlags are the flags of commands that list what has call stacks.
func stackFlags(more ...cli.Flag) []cli.Flag {
	return flags.Join(subject.Flags(), results.Flags(stackFormats), []cli.Flag{
		flags.Watch(), subject.TimeoutFlag(),
		lists.TopFlag("20 in a table; else all"),
		&cli.StringFlag{Name: "filter", Usage: "list only what matches the regular expression `RE`"},
		&cli.BoolFlag{Name: rawFlag, Usage: "show all frames, with their names as the runtime writes them"},
		flags.Unpack(),
	}, more)
}

const rawFlag = "raw-names"

// A stackList is what the flags say about a list.
type stackList struct {
	callers.View
	top int // 0: all
}

func readStackFlags(c *cli.Context, how string) (l stackList, err error) {
	l.Raw = c.Bool(rawFlag)
	if l.top, err = lists.Top(c, how); err != nil {
		return l, err
	}
	if text := c.String("filter"); text != "" {
		if l.Filter, err = regexp.Compile(text); err != nil {
			return l, exit.Usagef("--filter: %v", err)
		}
	}
	return l, nil
}

// A subjectProfile is the profile of recordings, or of a process that was watched.
type subjectProfile struct {
	*stacks.Profile
	name string
	live *attach.LiveProfile // nil: recordings
}

// profile returns the profile of what the arguments name: recordings of one process, or a process that is running.
// allocations: of who allocates, not only of who asks for collections.
func (p *commands) profile(c *cli.Context, allocations bool) (*subjectProfile, error) {
	names, ch, err := subject.Whole(c, c.Args().Slice())
	switch {
	case err != nil:
		return nil, err
	case names == nil && !ch.Made():
		return nil, exit.Usagef("gclog %s needs the PID or NAME of a running process (gclog ps lists them), or a "+
			"recording with call stacks", c.Command.Name)
	case names == nil:
		return p.watchProcess(c, ch, allocations)
	case c.IsSet(flags.For), c.Bool(continuousFlag):
		return nil, exit.Usagef("--%s and --%s are for a running process", flags.For, continuousFlag)
	}
	subject.SayOfProcess(p.Run, c, names)
	return p.recordings(names)
}

// recordings returns the profile of recordings of one process.
func (p *commands) recordings(names []string) (*subjectProfile, error) {
	b := stacks.NewBuilder()
	for _, name := range names {
		err := subject.ReadStacks(p.Run, b, name)
		if _, damaged := errors.AsType[*parse.FormatError](err); damaged {
			p.UI.Sayf("%v; this is what precedes the damage", err)
		} else if err != nil {
			return nil, err
		}
	}
	return &subjectProfile{b.Profile(), subject.InputName(names[0]), nil}, nil
}

// sayNames says what a profile lacks.
func (p *commands) sayNames(x *subjectProfile) {
	name := x.name
	if x.Others > 0 {
		p.UI.Sayf("%s has several processes; this is process %d, without %s of others",
			name, x.Process.ID, view.Counted(x.Others, "event"))
	}
	if x.Lost > 0 {
		p.UI.Sayf("%s: the runtime dropped %s, so the result is not representative; a larger buffer may avoid that",
			name, view.Counted(x.Lost, "event"))
	}
	if n := x.Names; 1000*n.Unnamed > n.Frames && !n.Complete {
		p.UI.Sayf("%s: %.1f %% of the frames have no name: what the runtime sends of them at the end of a session is "+
			"missing, or not all of it", name, 100*float64(n.Unnamed)/float64(n.Frames))
	}
}

// stackless returns why a profile has no stacks as an error, or nil if it has some.
func stackless(x *subjectProfile) error {
	name := x.name
	switch {
	case x.HasStacks():
		return nil
	case x.Process.Flavor == gclog.FlavorNativeAOT || x.Nameless():
		return exit.Dataf("%s: NativeAOT reports neither call stacks nor types", name)
	}
	return exit.Dataf("%s has no call stacks: record it with gclog record PID --stacks", name)
}

// printFlame prints a profile for tools that draw flame graphs.
func (p *commands) printFlame(c *cli.Context, how string, x *flame.Profile) error {
	to := cmp.Or(c.String(flags.Output), output.Stdout)
	if how == "pprof" && to == output.Stdout && screen.IsTerminal(p.Unfiltered) {
		return exit.Usagef("a profile for pprof is binary: give a file with -o, or a pipe")
	}
	write := map[string]func(*flame.Profile, io.Writer) error{
		"pprof": (*flame.Profile).WritePprof, "speedscope": (*flame.Profile).WriteSpeedscope,
		"folded": (*flame.Profile).WriteFolded,
	}[how]
	return p.WriteFormat(func(w io.Writer) error { return write(x, w) })
}

// isFlame reports whether a format is one of tools that draw flame graphs.
func isFlame(how string) bool { return slices.Contains(results.FlameFormats, how) }

// listOf says that a list has the first n of all.
func listOf(n, all int, what string) string {
	if n >= all {
		return view.Counted(uint64(all), what)
	}
	return fmt.Sprintf("the first %d of %s", n, view.Counted(uint64(all), what))
}

// pathText is a path in one line.
func pathText(path []string) string { return strings.Join(path, ";") }
