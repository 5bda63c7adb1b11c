package subject

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/times"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/parse"
	"github.com/urfave/cli/v2"
)

// What the commands that read recordings, logs and running processes share.

// SpanFlags choose a part of files, and how times are shown.
func SpanFlags() []cli.Flag {
	return []cli.Flag{
		flags.Unpack(),
		&cli.StringFlag{
			Name:     "since",
			Category: flags.TimeGroup,
			Usage: "only what happened since `TIME`: 14:03:22, 2026-01-31T14:03:22Z, 1769868202.5 (since 1970), " +
				"90s after the start, -5m before the end",
		},
		&cli.StringFlag{
			Name: "until", Category: flags.TimeGroup, Usage: "only what happened before `TIME`, in the same notation",
		},
		&cli.BoolFlag{
			Name:     flags.Local,
			Category: flags.TimeGroup,
			Usage:    "show local times, not UTC; this is the default if TZ is set",
		},
	}
}

// Span reads --since, --until and --at.
func Span(p *program.Run, c *cli.Context) (s history.Span, err error) {
	s.Zone = Zone(p, c)
	at, atEnd, ranged := strings.Cut(c.String("at"), "..")
	if ranged && (at == "" || atEnd == "") {
		return s, exit.Usagef("--at %s: write the start and the end, as in 14:03:22.1..14:03:22.9", c.String("at"))
	}
	for _, x := range []struct {
		flag, text string
		to         *history.Instant
	}{
		{"since", c.String("since"), &s.Since},
		{"until", c.String("until"), &s.Until},
		{"at", at, &s.At},
		{"at", atEnd, &s.AtEnd},
	} {
		if x.text == "" && (!c.IsSet(x.flag) || x.to == &s.AtEnd) {
			continue
		}
		if *x.to, err = history.ParseInstant(x.flag, x.text, s.Zone); err != nil {
			return s, InputError(err)
		}
	}
	if !c.IsSet("took") {
		return s, nil
	}
	took, _, ok := times.ParseDuration([]byte(c.String("took")), int64(time.Millisecond))
	switch {
	case !ok || took <= 0:
		return s, exit.Usagef("--took %q is not a duration: write 783ms, 1.5s or 00:00:01.5", c.String("took"))
	case ranged:
		return s, exit.Usagef("--took is for one time, its end; --at %s has a start", c.String("at"))
	}
	s.Took = time.Duration(took)
	return s, nil
}

// ReadFiles reads the history of one process from files. If a file is of another kind, it prints
// that a process with the file's name may have been meant.
func ReadFiles(
	p *program.Run, c *cli.Context, files []string, asked history.Span, observe history.Observe,
) (*history.History, error) {
	chosen, err := InFiles(c)
	if err != nil {
		return nil, err
	}
	h, err := Read(p, files, history.Options{Choice: chosen, Span: asked}, observe)
	_, other := errors.AsType[*parse.KindError](err)
	_, text := errors.AsType[*history.TextError](err)
	if h == nil && (other || text) {
		SayOfProcess(p, c, files)
	}
	return h, err
}

// EndText says that the process did not end well, "" if it did or nobody knows.
func EndText(h *history.History) string {
	if h.Ended == nil || !h.Ended.Bad() {
		return ""
	}
	return fmt.Sprintf("process %d %s, at %s",
		h.Process.ID, h.Ended.AppendTo(nil), history.TimeText(h.Process.Time(h.Ended.At)))
}

// SayEnd says that the process of a file did not end well. Watching a running one has said it.
func SayEnd(p *program.Run, h *history.History) {
	if text := EndText(h); text != "" && h.Names != nil {
		p.UI.Say(text)
	}
}

// Read reads the history of one process from files.
func Read(p *program.Run, files []string, o history.Options, observe history.Observe) (*history.History, error) {
	o.Want = gclog.WantedFinalized
	in, err := Open(p, files, o)
	if err != nil {
		return nil, InputError(err)
	}
	defer in.Close()
	stop := Progress(p, in, in.GCs)
	h, err := in.Read(observe)
	stop()
	if err == nil && in.GCs() == 0 {
		p.UI.Say(in.NothingText())
	}
	return h, InputError(err)
}

// Open opens files, one of which may be standard input.
func Open(p *program.Run, names []string, o history.Options) (*history.Source, error) {
	if slices.Contains(names, "-") {
		if err := checkInput(p, "a recording"); err != nil {
			return nil, err
		}
	}
	o.Stdin, o.Notify, o.Unpacked = p.In, p.UI.Say, Limit(p, unpack.LimitPassed)
	return history.Open(names, o)
}

// Progress shows how much has been read.
func Progress(p *program.Run, in *history.Source, gcs func() int64) (stop func()) {
	return p.UI.Watch(func(time.Duration) string {
		return fmt.Sprintf("%s read, %s", formats.SizeText(in.Bytes()), view.Counted(uint64(gcs()), "GC"))
	})
}

// InputError gives an error of reading files its exit code.
func InputError(err error) error {
	var process *history.ProcessError
	var call *history.CallError
	var coded *exit.Error
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case errors.As(err, &process) && process.Asked():
		return exit.With(exit.NoProcess, err)
	case process != nil:
		return exit.Usagef("%w: choose one with --pid or --name:\n%s",
			err, strings.TrimRight(processesText(process.Processes), "\n"))
	case errors.As(err, &call):
		return exit.With(exit.Usage, err)
	}
	return exit.With(exit.Data, err)
}

// processesText formats the list to choose from.
func processesText(list []*gclog.Process) string {
	var b strings.Builder
	for i, p := range list {
		if i == listMost {
			fmt.Fprintf(&b, "  and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "  %d", p.ID)
		for _, text := range []string{p.Name, view.Shorten(p.CommandLine, 100)} {
			if text != "" {
				b.WriteString("  " + view.OneLine(text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Series returns the inputs: the files of each rotated log together.
func Series(names []string) (list [][]string) {
	byName := map[string]int{}
	for _, name := range names {
		of := rotate.ArchivedFrom(name)
		if i, known := byName[of]; known {
			list[i] = append(list[i], name)
			continue
		}
		byName[of] = len(list)
		list = append(list, []string{name})
	}
	return list
}

// A Counter counts collections, for those who wait.
type Counter struct {
	N atomic.Int64
}

// Observe counts the record of a collection.
func (c *Counter) Observe(r gclog.Record) {
	if _, ok := r.(*gclog.GCDetails); ok {
		c.N.Add(1)
	}
}
