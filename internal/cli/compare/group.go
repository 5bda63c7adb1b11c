package compare

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/parse"
	"github.com/urfave/cli/v2"
)

// A runGroup is one side of a comparison: the runs in a file, in a directory, or in the files that
// match a pattern.
type runGroup struct {
	name string // as it was given
	runs []Run
}

// A Run is the history of one process.
type Run struct {
	History  *history.History
	Sample   *analysis.Sample
	findings []analysis.Finding
	unjudged []analysis.NotEvaluated
}

func (g *runGroup) samples() (list []*analysis.Sample) {
	for _, r := range g.runs {
		list = append(list, r.Sample)
	}
	return list
}

// readGroup reads all runs of one side. Files of a directory that are neither recordings nor logs
// are left out, with a message. It may return both a group and an error: files are damaged.
func (p *commands) readGroup(c *cli.Context, arg string) (*runGroup, error) {
	files, several, err := runFiles(arg)
	if err != nil {
		return nil, err
	}
	thresholds, err := assess.Thresholds(c)
	if err != nil {
		return nil, err
	}
	asked, err := subject.Span(p.Run, c)
	if err != nil {
		return nil, err
	}
	chosen, err := subject.InFiles(c)
	if err != nil {
		return nil, err
	}
	g := &runGroup{name: arg}
	var damage error
	for _, names := range files {
		if err := outfile.NotInput(c.String(flags.Output), names...); err != nil {
			return nil, err
		}
		var r Run
		var a *assess.Assessment
		observe := func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
			a, r.Sample = assess.NewSample(process, thresholds, w)
			return a.Observe, a.Event
		}
		r.History, err = subject.Read(p.Run, names, history.Options{Choice: chosen, Span: asked}, observe)
		switch {
		case r.History != nil:
			a.Conclude(p.Run, r.History)
			r.findings, r.unjudged = a.Findings.List(), a.Findings.NotEvaluated()
			g.runs = append(g.runs, r)
			damage = errors.Join(damage, err)
		case several && isForeign(err):
			p.UI.Sayf("left out: %v", err)
		default:
			return nil, err
		}
	}
	if len(g.runs) == 0 {
		return nil, exit.Usagef("%s contains no recording and no log", arg)
	}
	if err := g.overlap(); err != nil {
		return nil, err
	}
	return g, damage
}

// isForeign reports whether an error is that a file is neither a recording nor a log, or is empty.
func isForeign(err error) bool {
	_, kind := errors.AsType[*parse.KindError](err)
	_, text := errors.AsType[*history.TextError](err)
	return kind || text || errors.Is(err, history.ErrEmpty)
}

// overlap returns an error if two runs are the same process at the same time: a recording and a log
// of it, for example.
func (g *runGroup) overlap() error {
	for i, r := range g.runs {
		for _, other := range g.runs[:i] {
			x, y := r.History, other.History
			if x.Process.Dated() && y.Process.Dated() && x.Process.ID == y.Process.ID &&
				programName(x.Process) == programName(y.Process) &&
				x.Process.Time(x.Begin).Before(y.Process.Time(y.End)) &&
				y.Process.Time(y.Begin).Before(x.Process.Time(x.End)) {
				return exit.Usagef("%s and %s are of the same process at the same time: leave one of them out",
					y.Source(), x.Source())
			}
		}
	}
	return nil
}

// programName returns the name of the program of a process, "" if it is unknown.
func programName(p *gclog.Process) string {
	if p.Name != "" || p.Executable == "" {
		return p.Name
	}
	return filepath.Base(strings.TrimSuffix(p.Executable, " (deleted)"))
}

// runFiles returns the files of each run that an argument means, and whether it may mean several.
func runFiles(arg string) (runs [][]string, several bool, err error) {
	info, err := os.Stat(arg)
	switch {
	case arg == "-", err == nil && !info.IsDir():
		return [][]string{{arg}}, false, nil
	case arg == "":
		return nil, false, exit.Usagef("an argument without a name")
	case err == nil:
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, true, exit.Usagef("cannot read %s: %w", arg, cause.Of(err))
		}
		var names []string
		for _, e := range entries {
			if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				names = append(names, filepath.Join(arg, e.Name()))
			}
		}
		if names == nil {
			return nil, true, exit.Usagef("%s contains no files", arg)
		}
		return subject.Series(names), true, nil
	case !strings.ContainsAny(arg, "*?["):
		return nil, false, exit.Usagef("cannot read %s: %w", arg, cause.Of(err))
	}
	names, err := filepath.Glob(arg)
	if err != nil {
		return nil, true, exit.Usagef("%s is not a pattern: %w", arg, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.IsDir()
	})
	if len(names) == 0 {
		return nil, true, exit.Usagef("no file matches %s", arg)
	}
	return subject.Series(names), true, nil
}
