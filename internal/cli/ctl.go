package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/urfave/cli/v2"
)

func (p *program) ctlCommand() *cli.Command {
	return &cli.Command{
		Name:      "ctl",
		Usage:     "control the daemon on this host: reload, rotate, status",
		ArgsUsage: "reload|rotate|status",
		Description: `reload makes the daemon read its configuration again, and reports problems in it; rotate
starts new files for all outputs; status lists the processes that the daemon knows, and on
standard error why some are not logged. Only root and the daemon's user may use these
commands, which go through the daemon's control socket.

Examples:
   gclog ctl status
   gclog ctl status -f json | jq '.processes[] | select(.state != "on")'
   gclog ctl reload
   gclog ctl rotate --socket /run/gclog/ctl.sock`,
		Flags:  join(socketFlags(), resultFlags(listFormats)),
		Action: p.result(listFormats, p.ctl),
	}
}

// socketFlags choose the daemon.
func socketFlags() []cli.Flag {
	return []cli.Flag{
		configFileFlag(),
		&cli.StringFlag{Name: "socket", Usage: "`PATH` of the control socket, instead of control.socket of the configuration"},
	}
}

// controlSocket returns the path of the daemon's control socket.
func controlSocket(c *cli.Context) (string, error) {
	if path := c.String("socket"); path != "" {
		return path, nil
	}
	loaded, err := readConfig(c)
	if err != nil {
		return "", &codedError{exitUsage, err}
	}
	path := control.Path(loaded.Control.Socket)
	if path == "" {
		return "", usagef("the configuration has no control.socket: the daemon cannot be reached")
	}
	return path, nil
}

func (p *program) ctl(c *cli.Context, how string) error {
	what := c.Args().First()
	if c.Args().Len() != 1 {
		return usagef("ctl needs one word: reload, rotate or status")
	}
	if what != "status" && (c.IsSet(outputFlag) || c.IsSet(formatFlag)) {
		return usagef("-o and -f are for ctl status")
	}
	request := map[string]string{"reload": control.PathReload, "rotate": control.PathRotate, "status": control.PathStatus}[what]
	if request == "" {
		return usagef("ctl %s: it must be reload, rotate or status", what)
	}
	path, err := controlSocket(c)
	if err != nil {
		return err
	}
	method := http.MethodPost
	if what == "status" {
		method = http.MethodGet
	}
	answer, err := control.Ask(c.Context, path, method, request)
	if refused, ok := errors.AsType[*control.RefusedError](err); ok && what == "reload" {
		err = fmt.Errorf("the daemon keeps its current configuration: %w", refused)
	}
	switch {
	case err != nil:
		return &codedError{exitSession, err}
	case what != "status":
		return nil
	}
	var all daemon.Processes
	if err := json.Unmarshal(answer, &all); err != nil {
		return &codedError{exitSession, fmt.Errorf("the daemon's answer is not a status: %w", err)}
	}
	switch how {
	case "json":
		return p.printIndented(all)
	case "csv":
		return printCSV(p, statusColumns, append(all.Processes, all.Unreachable...))
	}
	return p.printStatus(&all)
}

type status = daemon.Status

var statusColumns = []column[status]{
	textColumn(screen.Column{Title: "PID", Right: true}, "pid", func(s *status) string { return strconv.Itoa(s.PID) }),
	textColumn(screen.Column{Title: "PROCESS", Width: 12, Cut: true}, "process", func(s *status) string { return s.Process }),
	textColumn(screen.Column{Title: "SERVICE", Width: 8, Cut: true, Rank: 1}, "service", func(s *status) string {
		return s.Service
	}),
	textColumn(screen.Column{Title: "STATE"}, "state", func(s *status) string { return fmt.Sprint(s.State) }),
	textColumn(screen.Column{Title: "FOR", Right: true, Rank: 2}, "for", func(s *status) string {
		if s.Since.IsZero() {
			return ""
		}
		return elapsed(time.Since(s.Since))
	}),
	textColumn(screen.Column{Title: "GCS", Right: true}, "gcs", func(s *status) string { return fmt.Sprint(s.GCs) }),
	textColumn(screen.Column{Title: "LOST", Right: true}, "lost_events", func(s *status) string {
		return fmt.Sprint(s.LostEvents)
	}),
}

// printStatus prints the daemon's state for people.
func (p *program) printStatus(all *daemon.Processes) error {
	list := append(all.Processes, all.Unreachable...)
	if err := printTable(p, statusColumns, list); err != nil {
		return err
	}
	for _, s := range list {
		if s.Why != "" {
			p.ui.sayf("process %d is %s: %s", s.PID, s.State, oneLine(s.Why))
		}
		if h := s.Snapshots; h != nil {
			p.ui.say(snapshotsText(s.PID, h))
		}
		for i := range s.Unwritten {
			p.ui.sayf("process %d: %s", s.PID, oneLine(s.Unwritten[i].String()))
		}
	}
	for _, u := range all.Unwritten {
		for i := range u.Outputs {
			p.ui.sayf("process %d, which has exited: %s", u.PID, oneLine(u.Outputs[i].String()))
		}
	}
	for _, r := range all.Rules {
		for _, a := range r.Actions {
			if a.LastError != "" {
				p.ui.sayf("rule %s: %s has failed %s, the last time because of: %s", oneLine(r.Name), a.Action, counted(uint64(a.Failed), "time"), oneLine(a.LastError))
			}
		}
	}
	if all.StuckLooks > 0 {
		p.ui.sayf("inspecting %d processes timed out; they are not logged: the daemon's own log has details", all.StuckLooks)
	}
	if all.Defects > 0 {
		p.ui.say("defects of gclog since the daemon's start: " + strconv.Itoa(all.Defects) + "; the daemon's own log has details, please report them")
	}
	return nil
}

// snapshotsText describes the heap snapshots that the daemon has taken of a process.
func snapshotsText(pid int, h *daemon.SnapshotStatus) string {
	if h.State != "" {
		return fmt.Sprintf("process %d: a heap snapshot is %s", pid, h.State)
	}
	at := h.Last.Local().Format(time.DateTime)
	if h.Why != "" {
		return fmt.Sprintf("process %d: no heap snapshot at %s: %s", pid, at, oneLine(h.Why))
	}
	return fmt.Sprintf("process %d: heap snapshot at %s: %s", pid, at, oneLine(h.File))
}

// askReady asks the daemon with a control socket whether it is ready.
func askReady(ctx context.Context, path string) (string, error) {
	answer, err := control.Ask(ctx, path, http.MethodGet, control.PathReady)
	line, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	return oneLine(line), err
}
