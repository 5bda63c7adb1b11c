package doctor

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/host"
)

// Machine finds out what gclog may do on this machine, and what its daemon would do. It also
// returns the .NET processes. ready asks the daemon at a control socket whether it is ready.
func Machine(
	ctx context.Context, h *host.Host, ready func(ctx context.Context, socket string) (string, error),
) (*Report, []host.Listed, error) {
	r := &Report{Subject: "this machine", Verdict: "ready"}
	list, err := h.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.fact("system", "%s/%s", runtime.GOOS, runtime.GOARCH)
	r.fact("gclog_user", "%s", self())
	r.fact("tmpdir", "%s", os.TempDir())
	r.machine(h)
	r.daemon(ctx, ready)
	if len(list) == 0 {
		r.add(Note, "no-dotnet", "no process with a .NET runtime was found")
	}
	r.order()
	return r, list, nil
}

// daemon checks the configuration, and whether its daemon is running.
func (r *Report) daemon(ctx context.Context, ready func(context.Context, string) (string, error)) {
	file := config.Find("", os.Environ())
	if file == "" {
		r.fact("configuration", "none")
	} else {
		r.fact("configuration", "%s", file)
	}
	loaded, err := config.Load(file, os.Environ())
	if err != nil {
		r.Verdict = "its configuration is invalid"
		for _, line := range lines(err) {
			r.add(Failure, "bad-configuration", "%s", line)
		}
		return
	}
	for _, w := range loaded.Warnings {
		r.add(Warning, "odd-configuration", "%s", w)
	}
	socket := control.Path(loaded.Control.Socket)
	if file == "" || socket == "" {
		return
	}
	answer, err := ready(ctx, socket)
	if err != nil {
		r.add(Warning, "no-daemon", "no daemon is ready: %v", err)
		return
	}
	r.fact("daemon", "%s: %s", socket, answer)
}

// lines splits a joined error into its parts.
func lines(err error) []string {
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, e.Error())
		}
		return all
	}
	return strings.Split(err.Error(), "\n")
}
