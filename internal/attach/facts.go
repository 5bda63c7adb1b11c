package attach

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// Facts returns what can be found out about a process without watching it. What cannot be found out
// stays unknown. The error is that of the first request: a runtime that does not answer it will not
// answer others.
//
// Whether the process uses server GC comes from the strongest gclog.Evidence; whether its GC is
// concurrent, from the first of these that reports it: the rundown of a throw-away session (.NET 9 and
// later), its environment and runtimeconfig.json. What the events show comes later.
//
// Facts starts a session, which must not be the first one of a runtime that may still be suspended
// at startup: see Session.process.
func Facts(ctx context.Context, t *host.Target) (gclog.Process, error) {
	p, err := Identify(ctx, t)
	Complete(ctx, t, &p)
	return p, err
}

// Complete adds to the result of Identify what can only be found out with a session.
func Complete(ctx context.Context, t *host.Target, p *gclog.Process) {
	if !ReportsSettings(p) {
		return
	}
	_ = Settings(ctx, t, p)
	for !p.HasLimits && time.Since(t.Started) < startTime && ctx.Err() == nil && t.Alive() {
		time.Sleep(startTime / 20) // its GC has no limits before it is initialized
		_ = Settings(ctx, t, p)
	}
}

// Identify is Facts without a session in the process. The error is that of the only request that
// was made; what is known without that request is returned in any case.
func Identify(ctx context.Context, t *host.Target) (gclog.Process, error) {
	return IdentifyWhile(ctx, ctx, t)
}

// IdentifyWhile is Identify whose requests to the runtime end with another context: what is known
// without an answer is then still found out.
func IdentifyWhile(ctx, asking context.Context, t *host.Target) (gclog.Process, error) {
	p, info, err := ask(asking, t)
	settingsFromOutside(ctx, asking, t, info, &p)
	return p, err
}

// flavors maps kinds of runtimes to their names in records.
var flavors = [...]string{
	host.RuntimeUnknown:   "",
	host.RuntimeCoreCLR:   gclog.FlavorCoreCLR,
	host.RuntimeNativeAOT: gclog.FlavorNativeAOT,
}

func ask(ctx context.Context, t *host.Target) (gclog.Process, *session.ProcessInfo, error) {
	p := gclog.Process{
		ID: int64(t.PID), CommandLine: strings.Join(t.Process.CommandLine, " "), Executable: t.Executable,
		User: t.User, Started: t.Started, StartKey: t.StartKey, ContainerID: t.ContainerID,
		GCLibrary: t.GCLibrary(), Flavor: flavors[t.Runtime()],
	}
	if t.UID >= 0 {
		p.UserID = strconv.Itoa(t.UID)
		if answers := t.Principal(); answers != t.UID {
			p.PrincipalID = strconv.Itoa(answers)
		}
	}
	info, err := t.ProcessInfo(ctx)
	if err == nil {
		p.Cookie, p.RuntimeVersion, p.EntryAssembly = info.Cookie, info.Version, info.EntryAssembly
		p.OS, p.Architecture = info.OS, info.Architecture
		if p.CommandLine == "" {
			p.CommandLine = info.CommandLine
		}
	}
	if session.IsUnknownCommand(err) {
		p.RuntimeVersion = t.LibraryVersion()
	}
	p.Name = programName(&t.Process, p.EntryAssembly)
	return p, info, err
}

// settingsFromOutside fills in what can be seen of the process without events.
func settingsFromOutside(ctx, asking context.Context, t *host.Target, info *session.ProcessInfo, p *gclog.Process) {
	env := environment(asking, t, info != nil)
	identify(env, &t.Process, p)
	n, known := t.ServerGCThreads()
	if n > 0 || known && info != nil && namesThreads(p.Flavor, info.Version) {
		p.SetServer(gclog.KnownBool(n > 0), gclog.EvidenceThreads)
	}
	if t.Processors() == 1 && p.Flavor != "" {
		p.SetServer(gclog.No, gclog.EvidenceProcessors)
	}
	settingsByConfiguration(ctx, t, env, p)
}

// namesThreads reports whether a runtime names all threads of its GC: CoreCLR does from .NET 8 on,
// NativeAOT from .NET 10 on.
func namesThreads(flavor, version string) bool {
	return flavor == gclog.FlavorCoreCLR && atLeast(version, 8) ||
		flavor == gclog.FlavorNativeAOT && atLeast(version, 10)
}

// programName returns the name that people know a process by: the program, not the host that runs
// it, and not truncated to 15 bytes.
func programName(p *host.Process, entryAssembly string) string {
	if entryAssembly != "" {
		return strings.TrimSuffix(entryAssembly, ".dll")
	}
	if base := filepath.Base(p.Executable); p.Executable != "" && strings.HasPrefix(base, p.Name) {
		if base != "dotnet" || len(p.CommandLine) < 2 {
			return base
		}
	}
	for _, arg := range p.CommandLine {
		if strings.HasSuffix(arg, ".dll") {
			return strings.TrimSuffix(filepath.Base(arg), ".dll")
		}
	}
	return p.Name
}

// emulates reports whether a program runs those of another machine. One of its first arguments is the
// program that people know.
func emulates(program string) bool {
	return strings.HasPrefix(program, "qemu-") || program == "rosetta"
}

// environment returns the environment of the process: over its socket, which needs no rights beyond
// those for the session, otherwise from the operating system.
func environment(ctx context.Context, t *host.Target, hasCommands bool) map[string]string {
	if t.Environ != nil || !hasCommands {
		return t.Environ
	}
	env, _ := t.Environment(ctx)
	return env
}

// atLeast reports whether a version's major number is at least major.
func atLeast(version string, major int) bool { return gclog.Major(version) >= major }

// startTime is how long a runtime may take to initialize its GC.
const startTime = time.Second

// rundownTime is how long the throw-away session may take, unless a target has more patience.
const rundownTime = 3 * time.Second

// ReportsSettings reports whether a runtime reports the settings of its GC: .NET 9 and later do.
func ReportsSettings(p *gclog.Process) bool {
	return p.Cookie != "" && p.Flavor == gclog.FlavorCoreCLR && atLeast(p.RuntimeVersion, 9)
}

// AnswersAfterCollecting reports whether a runtime answers a request for a collection only after it
// has collected: .NET 8 to 10 do, and NativeAOT 10. If no collection starts soon after the answer, the
// request was lost and may be repeated; others could then collect for both requests.
func AnswersAfterCollecting(p *gclog.Process) bool {
	if atLeast(p.RuntimeVersion, 11) {
		return false
	}
	return p.Flavor == gclog.FlavorCoreCLR && atLeast(p.RuntimeVersion, 8) ||
		p.Flavor == gclog.FlavorNativeAOT && atLeast(p.RuntimeVersion, 10)
}

// collectsAtEnd reports whether the runtime collects once more when the session of a heap snapshot
// ends.
func collectsAtEnd(p *gclog.Process) bool { return !atLeast(p.RuntimeVersion, 10) }

// answersAhead reports whether the runtime answers a request for a heap walk before it walks: .NET Core
// 3.1 and .NET 11 do (docs/heap.md, The request).
func answersAhead(p *gclog.Process) bool {
	return p.RuntimeVersion != "" && (!atLeast(p.RuntimeVersion, 5) || atLeast(p.RuntimeVersion, 11))
}

// Settings opens a session that ends at once: the runtime then reports its settings in two events.
// The session enables GC events only so that nothing is left behind if gclog is killed now: a
// runtime notices that a session has no reader only when it has something to write to it, and it
// has room for 64 sessions (docs/protocol.md, Stop). The error is that of starting the session.
func Settings(ctx context.Context, t *host.Target, p *gclog.Process) error {
	patience := max(rundownTime, t.Timeout)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	release, err := t.Share(limited) // else a heap snapshot could begin before the session ends
	if err == nil {
		defer release()
	}
	s, err := t.StartTracing(limited, session.Config{
		BufferMB: 1, RundownGC: true,
		Providers: []session.Provider{{
			Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational,
		}},
	})
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("CollectTracing: %w within %v", session.ErrNoAnswer, patience)
	case err != nil:
		return err
	}
	readSettings(ctx, s, p, patience)
	return nil
}

// readSettings ends a session of Settings and reads what it reports within a time, which is short once
// nobody waits for it any more.
func readSettings(asked context.Context, s *session.Stream, p *gclog.Process, within time.Duration) {
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(asked), within)
	defer cancel()
	defer context.AfterFunc(asked, func() { time.AfterFunc(rundownTime, cancel) })()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = s.Stop(ctx) // what counts is that the stream ends
	}()
	processes := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
	_ = processes.Drain(parse.NewReader(s, gclog.Wanted)) // what came before an error counts too
	<-stopped
	for _, found := range processes.List() {
		p.SetServer(found.Server, found.ServerFrom)
		if found.Concurrent != gclog.Unknown {
			p.Concurrent = found.Concurrent
		}
		p.Limits, p.HasLimits = found.Limits, found.HasLimits
		if p.RuntimeVersion == "" {
			p.RuntimeVersion = found.RuntimeVersion
		}
	}
}

// Names returns the names that a user may know a process by, the best first: the name of its
// program, of its executable, of its service. They are found out without a request to the process.
func Names(p *host.Process) []string {
	names := []string{programName(p, "")}
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(p.Name)
	if p.Executable != "" {
		add(filepath.Base(p.Executable))
	}
	if emulates(filepath.Base(p.Executable)) {
		for _, arg := range p.CommandLine[min(1, len(p.CommandLine)):min(maxPrograms+1, len(p.CommandLine))] {
			if !strings.HasPrefix(arg, "-") {
				add(filepath.Base(arg))
			}
		}
	}
	add(serviceName(p.Environ, resource(p.Environ)))
	return names
}
