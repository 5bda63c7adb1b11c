package node

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/view"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"
	"github.com/urfave/cli/v2"
)

func (p *commands) daemonCommand() *cli.Command {
	return &cli.Command{
		Name:  "daemon",
		Usage: "log every .NET process of this host while it runs",
		Description: `Without a configuration, it logs every process that gclog may attach to (those of this
user; for root, those of all users) as JSON lines in ./gclog-logs/. SIGHUP reloads the
configuration, SIGUSR1 starts new files for all outputs, SIGUSR2 logs the state of all
sessions, SIGTERM ends all sessions and the daemon.

Examples:
   gclog daemon --once                       what it would log, and why not the rest
   gclog daemon                              log everything, with the defaults
   gclog daemon -c /etc/gclog/gclog.yaml     with a configuration: gclog config show
   gclog daemon --listen /diag/gclog.sock -o /logs/%s-%p.json
                         in a sidecar, for programs that have the variable
                         DOTNET_DiagnosticPorts=/diag/gclog.sock,nosuspend`,
		Flags: []cli.Flag{
			ctl.ConfigFlag(),
			&cli.StringSliceFlag{Name: "listen", Usage: "also listen on a diagnostic port at `PATH`; may be repeated"},
			&cli.StringSliceFlag{
				Name:     flags.Output,
				Aliases:  []string{"o"},
				Category: flags.OutputGroup,
				Usage: "write to `FILE` instead of the configured outputs; placeholders as in attach; may " +
					"be repeated",
			},
			&cli.BoolFlag{
				Name: "once", Usage: "list the processes that would be logged and why the others would not, then exit",
			},
		},
		Action: p.daemon,
	}
}

func (p *commands) daemon(c *cli.Context) error {
	if err := flags.NoArguments(c); err != nil {
		return err
	}
	load := func() (*config.Loaded, error) {
		loaded, err := ctl.Config(c)
		if err == nil {
			err = loaded.Override(c.StringSlice(flags.Output), c.StringSlice("listen"))
		}
		if err == nil {
			err = checkHost(loaded)
		}
		return loaded, err
	}
	loaded, err := load()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	o := daemon.Options{
		Config: loaded, Load: load, Version: p.Version, Session: program.RandomID(), Host: program.Hostname(),
		Explain: doctor.Explain, Processes: p.Host,
	}
	if c.Bool("once") {
		return p.once(c.Context, o)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(daemonGCPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(daemonProcessors, runtime.GOMAXPROCS(0)))
	}
	log, closeLog := p.daemonLog(loaded.Log)
	o.Log = log
	ctx, reload, release := p.Signals(c.Context)
	defer release()
	o.Reload = reload
	rotate, status, ignore := daemonSignals()
	defer ignore()
	o.Rotate, o.Status = rotate, status
	d := daemon.New(o)
	err = d.Run(ctx)
	closeLog(d.Ends().Add(ownLogTime))
	if err != nil {
		return exit.With(exit.Session, err)
	}
	return nil
}

// daemonGCPercent is low because the daemon produces little garbage: collecting it early costs
// little.
const daemonGCPercent = 20

// daemonProcessors: 500 busy processes use a third of one processor, and each further processor
// that the daemon could use is woken up for nothing. With only one, reading would wait whenever
// writing waits for a disk.
const daemonProcessors = 2

// daemonLog returns the daemon's own log, on standard error: JSON, or lines for people on a
// terminal. Lines that are not read in time are dropped, and counted: the daemon must not wait for
// the reader. Lines for the journal have no time, because the journal adds its own.
func (p *commands) daemonLog(o config.Log) (log zerolog.Logger, closeLog func(by time.Time)) {
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	level, err := zerolog.ParseLevel(o.Level)
	if err != nil { // cannot happen: the configuration was checked
		level = zerolog.InfoLevel
	}
	var w io.Writer = formats.JSONWriter{W: p.UI.W}
	if o.Format == "console" || o.Format == "auto" && p.UI.Terminal {
		w = zerolog.ConsoleWriter{
			Out:           p.UI.W,
			NoColor:       !screen.Colored(p.UI.W),
			TimeFormat:    "15:04:05.000",
			FormatPrepare: cleanMessage,
		}
	}
	straight := zerolog.New(w).Level(level)
	if os.Getenv("JOURNAL_STREAM") == "" || o.Format == "console" {
		straight = straight.With().Timestamp().Logger()
	}
	queue := diode.NewWriter(struct{ io.Writer }{w}, ownLogLines, // hides Close, which would close standard error
		0, func(missed int) {
			straight.Warn().Int("lines", missed).Msg("lines of this log were dropped: it was not read in time")
		})
	return straight.Output(queue), func(by time.Time) {
		closed := make(chan struct{})
		go func() {
			_ = queue.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(time.Until(by)):
		}
	}
}

// cleanMessage removes what a terminal would interpret from the message of a line; other fields are
// quoted.
func cleanMessage(line map[string]any) error {
	if text, ok := line[zerolog.MessageFieldName].(string); ok {
		line[zerolog.MessageFieldName] = view.OneLine(text)
	}
	return nil
}

const (
	// ownLogLines is the maximum number of waiting lines of the daemon's own log.
	ownLogLines = 1000
	// ownLogTime is how long writing the last lines may take when everything else has ended.
	ownLogTime = 150 * time.Millisecond
)

// once prints what the daemon would do.
func (p *commands) once(ctx context.Context, o daemon.Options) error {
	list, err := daemon.Once(ctx, o)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		p.UI.Say("no .NET process was found")
		return nil
	}
	var rows [][]string
	for _, v := range list {
		level, log := v.Level, strings.Join(v.Outputs, ", ")
		if v.Why != "" {
			level, log = "-", "not logged: "+v.Why
		}
		rows = append(rows, []string{
			strconv.Itoa(v.PID), view.OneLine(v.Process), view.OneLine(view.Dash(v.Service)), level, view.OneLine(log),
		})
	}
	width, _ := screen.Size(p.Unfiltered)
	return screen.Print(p.Out, width, []screen.Column{
		{Title: "PID", Right: true},
		{Title: "PROCESS", Width: 12, Cut: true},
		{Title: "SERVICE", Width: 8, Cut: true, Rank: 1},
		{Title: "LEVEL"},
		{Title: "LOG", Width: 20, Fold: true},
	}, slices.Values(rows), nil)
}
