package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) ctlCommand() *cli.Command {
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
		Flags:  flags.Join(ctl.Flags(), results.Flags(results.Lists)),
		Action: results.Action(p.Run, results.Lists, p.ctl),
	}
}

func (p *commands) ctl(c *cli.Context, how string) error {
	what := c.Args().First()
	if c.Args().Len() != 1 {
		return exit.Usagef("ctl needs one word: reload, rotate or status")
	}
	if what != "status" && (c.IsSet(flags.Output) || c.IsSet(flags.Format)) {
		return exit.Usagef("-o and -f are for ctl status")
	}
	request := map[string]string{
		"reload": control.PathReload, "rotate": control.PathRotate, "status": control.PathStatus,
	}[what]
	if request == "" {
		return exit.Usagef("ctl %s: it must be reload, rotate or status", what)
	}
	path, err := ctl.Socket(c)
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
		return exit.With(exit.Session, err)
	case what != "status":
		return nil
	}
	var all daemon.Processes
	if err := json.Unmarshal(answer, &all); err != nil {
		return exit.With(exit.Session, fmt.Errorf("the daemon's answer is not a status: %w", err))
	}
	switch how {
	case "json":
		return p.PrintIndented(all)
	case "csv":
		return lists.PrintCSV(p.Run, statusColumns, append(all.Processes, all.Unreachable...))
	}
	return p.printStatus(&all)
}

type status = daemon.Status

var statusColumns = []lists.Column[status]{
	lists.Text(screen.Column{Title: "PID", Right: true}, "pid", func(s *status) string { return strconv.Itoa(s.PID) }),
	lists.Text(screen.Column{Title: "PROCESS", Width: 12, Cut: true}, "process",
		func(s *status) string { return s.Process }),
	lists.Text(screen.Column{Title: "SERVICE", Width: 8, Cut: true, Rank: 1}, "service", func(s *status) string {
		return s.Service
	}),
	lists.Text(screen.Column{Title: "STATE"}, "state", func(s *status) string { return fmt.Sprint(s.State) }),
	lists.Text(screen.Column{Title: "FOR", Right: true, Rank: 2}, "for", func(s *status) string {
		if s.Since.IsZero() {
			return ""
		}
		return view.Elapsed(time.Since(s.Since))
	}),
	lists.Text(screen.Column{Title: "GCS", Right: true}, "gcs", func(s *status) string { return fmt.Sprint(s.GCs) }),
	lists.Text(screen.Column{Title: "LOST", Right: true}, "lost_events", func(s *status) string {
		return fmt.Sprint(s.LostEvents)
	}),
}

// printStatus prints the daemon's state for people.
func (p *commands) printStatus(all *daemon.Processes) error {
	list := append(all.Processes, all.Unreachable...)
	if err := lists.PrintTable(p.Run, statusColumns, list); err != nil {
		return err
	}
	for _, s := range list {
		if s.Why != "" {
			p.UI.Sayf("process %d is %s: %s", s.PID, s.State, view.OneLine(s.Why))
		}
		if h := s.Snapshots; h != nil {
			p.UI.Say(snapshotsText(s.PID, h))
		}
		for i := range s.Unwritten {
			p.UI.Sayf("process %d: %s", s.PID, view.OneLine(s.Unwritten[i].String()))
		}
	}
	for _, u := range all.Unwritten {
		for i := range u.Outputs {
			p.UI.Sayf("process %d, which has exited: %s", u.PID, view.OneLine(u.Outputs[i].String()))
		}
	}
	for _, r := range all.Rules {
		for _, a := range r.Actions {
			if a.LastError != "" {
				p.UI.Sayf("rule %s: %s has failed %s, the last time because of: %s",
					view.OneLine(r.Name), a.Action, view.Counted(uint64(a.Failed), "time"), view.OneLine(a.LastError))
			}
		}
	}
	if all.StuckLooks > 0 {
		p.UI.Sayf("inspecting %d processes timed out; they are not logged: the daemon's own log has details",
			all.StuckLooks)
	}
	if all.Defects > 0 {
		p.UI.Say("defects of gclog since the daemon's start: " + strconv.Itoa(all.Defects) +
			"; the daemon's own log has details, please report them")
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
		return fmt.Sprintf("process %d: no heap snapshot at %s: %s", pid, at, view.OneLine(h.Why))
	}
	return fmt.Sprintf("process %d: heap snapshot at %s: %s", pid, at, view.OneLine(h.File))
}
