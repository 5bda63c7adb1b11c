package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// Process finds out whether a process can be attached to. It sends no more requests than gclog ps
// and the start of gclog attach do: who the process is, its environment if that cannot be read
// otherwise, and, to CoreCLR 9 and later, a session that ends at once.
func Process(ctx context.Context, h *host.Host, pid int) *Report {
	r := &Report{Subject: fmt.Sprintf("process %d", pid)}
	t, err := h.Find(ctx, pid)
	if err != nil {
		r.refused(h, pid, err)
		if p, err := h.Describe(pid); err == nil {
			r.describe(p)
		}
		return r
	}
	return r.examine(ctx, h, t)
}

// Refused returns the report for a process that a search has found and that cannot be attached to.
func Refused(h *host.Host, l *host.Listed) *Report {
	r := &Report{Subject: fmt.Sprintf("process %d", l.PID)}
	r.refused(h, l.PID, l.Err)
	r.describe(&l.Process)
	return r
}

// Target is Process for a process that was already found.
func Target(ctx context.Context, h *host.Host, t *host.Target) *Report {
	r := &Report{Subject: fmt.Sprintf("process %d", t.PID)}
	return r.examine(ctx, h, t)
}

func (r *Report) refused(h *host.Host, pid int, err error) {
	r.Err = err
	r.Verdict = "cannot be attached to"
	id, text := CauseOf(err), err.Error()
	if finer, said := refine(h, pid, id); finer != "" {
		id = finer
		if said != "" {
			text = said
		}
	}
	if _, known := find(id); !known {
		id = "no-access"
	}
	r.add(Failure, id, "%s", text)
}

func (r *Report) examine(ctx context.Context, h *host.Host, t *host.Target) *Report {
	var facts gclog.Process
	cpu := t.OpenCPU()
	defer cpu.Close()
	err := r.patiently(ctx, t, cpu.Waited, func() (err error) {
		facts, err = attach.Identify(ctx, t)
		return err
	})
	asked := "ProcessInfo"
	old := session.IsUnknownCommand(err)
	if old {
		err = nil
	}
	once := map[host.Cause]string{
		host.CauseSuspended: " once its runtime has started",
		host.CauseSnapshot:  " once the heap snapshot is complete",
	}
	var pending *host.TargetError
	if err == nil {
		err = t.CheckStartup(ctx)
		if errors.As(err, &pending) && once[pending.Cause] != "" {
			err = nil
		}
	}
	if err == nil && pending == nil && attach.ReportsSettings(&facts) {
		asked += ", a session that ends at once"
		err = r.patiently(ctx, t, cpu.Waited, func() error { return attach.Settings(ctx, t, &facts) })
	}
	if err != nil {
		r.refused(h, t.PID, Explain(ctx, t, err))
	} else {
		r.Verdict = "can be attached to"
		if pending != nil {
			r.Verdict += once[pending.Cause]
			r.add(Warning, pending.Kind, "%v", pending)
		}
		r.limits(t, &facts, pending != nil, old)
	}
	r.order()
	r.Subject += " (" + facts.Name + ")"
	r.fact("runtime", "%s", strings.TrimSpace(facts.Flavor+" "+facts.RuntimeVersion))
	r.fact("gc", "%s", GC(&facts))
	r.fact("service", "%s", facts.Service)
	r.describe(&t.Process)
	r.fact("socket", "%s", t.Socket())
	r.fact("cookie", "%s", facts.Cookie)
	if r.Err == nil {
		r.fact("levels", "light, normal, full")
	}
	r.fact("asked", "%s", asked)
	return r
}

// starvedTime is how long a process may take to answer while its threads wait for a processor.
const starvedTime = time.Minute

// patiently makes a request. If the process does not answer in time and its threads have been waiting for
// a processor meanwhile, as on an overloaded host, it gets more time for this request and those that
// follow, unless there is another reason.
func (r *Report) patiently(
	ctx context.Context, t *host.Target, delay func() (ns int64, known bool), request func() error,
) error {
	began := time.Now()
	before, known := delay()
	err := request()
	if !known || !errors.Is(err, session.ErrNoAnswer) || t.Timeout == starvedTime {
		return err
	}
	if after, _ := delay(); after < before || time.Duration(after-before) < time.Since(began)/2 {
		return err
	}
	if err = Explain(ctx, t, err); CauseOf(err) != "no-answer" {
		return err
	}
	t.Timeout = starvedTime
	if err = request(); !errors.Is(err, session.ErrNoAnswer) {
		r.add(Warning, "no-cpu", "process %d has answered only after %v: its threads wait for a processor",
			t.PID, time.Since(began).Round(time.Second/10))
	}
	return err
}

// describe adds what the operating system reports about a process.
func (r *Report) describe(p *host.Process) {
	user := p.User
	if p.UID >= 0 && user != fmt.Sprint(p.UID) {
		user += fmt.Sprintf(" (uid %d)", p.UID)
	}
	r.fact("user", "%s", user)
	r.fact("gclog_user", "%s", self())
	if !p.Started.IsZero() {
		r.fact("started", "%s", p.Started.UTC().Format(time.RFC3339))
	}
	r.fact("container", "%s", p.ContainerID)
	if p.InnerPID != p.PID && p.InnerPID != 0 {
		r.fact("inner_pid", "%d", p.InnerPID)
	}
	if dir := p.Environ["TMPDIR"]; dir != "" {
		r.fact("tmpdir", "%s", dir)
	}
	r.fact("command_line", "%s", strings.Join(p.CommandLine, " "))
	r.describeMore(p)
}

// self returns who runs gclog.
func self() string {
	if uid := os.Geteuid(); uid >= 0 {
		return fmt.Sprintf("uid %d%s", uid, capabilitiesText())
	}
	return ""
}

// limits adds what does not work with a process, or not as people may expect.
func (r *Report) limits(t *host.Target, facts *gclog.Process, pending, old bool) {
	if ports := session.SuspendingPorts(t.Environ); len(ports) > 0 && !pending {
		r.add(Note, "waiting-port",
			"every .NET process that process %d starts waits for %s to resume it", t.PID, strings.Join(ports, " and "))
	}
	switch {
	case old:
		r.add(Note, "core31", "process %d does not support the ProcessInfo request: it runs on .NET Core 3.1", t.PID)
	case facts.Flavor == gclog.FlavorNativeAOT:
		r.add(Note, "native-aot",
			"process %d is a NativeAOT program: level full has no types of what it allocates", t.PID)
	case !attach.ReportsSettings(facts):
		r.add(Note, "runtime-old",
			"process %d runs on .NET %s, which does not report its GC settings", t.PID, facts.RuntimeVersion)
	}
	if e, ok := errors.AsType[*host.TargetError](attach.WalkRefusal(&t.Process, facts)); ok {
		r.add(Note, e.Kind, "no heap snapshot can be taken: process %d %s", t.PID, e.Detail)
	}
	if dir := t.Environ["TMPDIR"]; t.Environ != nil && clean(dir) != clean(os.Getenv("TMPDIR")) {
		r.add(Note, "tmpdir-differs",
			"process %d has its socket in %s, but gclog has %s as its own temporary directory",
			t.PID, clean(dir), clean(os.Getenv("TMPDIR")))
	}
	if t.Ignored() {
		r.add(Note, "ignored", "process %d was started with GCLOG_IGNORE=1: gclog daemon ignores it", t.PID)
	}
	r.namespaces(&t.Process)
}

// clean returns a temporary directory without trailing slashes; /tmp if none is set.
func clean(dir string) string {
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		return "/tmp"
	}
	return dir
}

// GC returns the kind of a process's GC for people, or "" if it is unknown.
func GC(p *gclog.Process) string {
	s := map[gclog.Known]string{gclog.Yes: "server", gclog.No: "workstation"}[p.Server]
	if s != "" && p.Concurrent == gclog.No {
		s += ", non-concurrent"
	}
	if s != "" && p.GCLibrary != "" {
		s += ", " + p.GCLibrary
	}
	return s
}
