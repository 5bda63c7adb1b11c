package session

import (
	"context"
	"strings"
	"time"
)

// A Startup is what can be seen of a runtime's start from outside.
//
// Until it has finished, a diagnostic port may suspend the runtime: its own or that of any
// tool. A session that is begun and stopped meanwhile leaves its id behind in CoreCLR, and the
// next session, of whatever tool, makes the program crash when it is resumed. So no session is
// begun before: docs/protocol.md, Stop, has the experiments.
type Startup uint8

// What can be seen.
const (
	// StartupUnknown: this system or this runtime does not show it.
	StartupUnknown Startup = iota
	// StartupPending: the runtime was just started, or a diagnostic port suspends it.
	StartupPending
	// StartupFinished: the runtime was resumed. It stays so.
	StartupFinished
)

// StartTracing begins a session: see Client.StartTracing. A runtime whose startup is pending is
// refused one, with a *TargetError. Whoever has just been connected to by a runtime, and knows
// that no other port suspends it, may use the Client.
func (t *Target) StartTracing(ctx context.Context, cfg Config) (*Stream, error) {
	if t.Startup() == StartupPending {
		return nil, t.pending(ctx)
	}
	return t.Client.StartTracing(ctx, cfg)
}

const (
	// startupTime is how long an ordinary start may take before it is worth a message.
	startupTime = time.Second
	// The startup of a process is looked at every startupFirst in the first second and every
	// startupThen after that: an ordinary start takes milliseconds, a suspended one hours.
	startupFirst = 2 * time.Millisecond
	startupThen  = 50 * time.Millisecond
)

// AwaitStartup returns when a session may be begun: when the startup is no longer pending. If
// that takes more than a second, waits is called with a *TargetError that says what the process
// is waiting for. The error is that of ctx, or a *TargetError if the process has exited.
func (t *Target) AwaitStartup(ctx context.Context, waits func(error)) error {
	every := time.NewTicker(startupFirst)
	defer every.Stop()
	for began, told := time.Now(), false; t.Startup() == StartupPending; {
		switch {
		case !t.Alive():
			return refuse(t.PID, CauseNoSuchProcess, nil, "exited before it was resumed").as("ended")
		case !told && time.Since(began) >= startupTime:
			told = true
			every.Reset(startupThen)
			waits(t.pending(ctx))
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// CheckStartup returns nil if a session may be begun now or within a second, else a *TargetError
// that says what the process is waiting for, or the error of ctx.
func (t *Target) CheckStartup(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, startupTime)
	defer cancel()
	err := t.AwaitStartup(limited, func(error) {})
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return t.pending(ctx)
	}
	return err
}

// pending says what a process is waiting for.
func (t *Target) pending(ctx context.Context) *TargetError {
	env := t.Environ
	if env == nil {
		env, _ = t.Environment(ctx)
	}
	ports := SuspendingPorts(env)
	switch {
	case env == nil:
		return refuse(t.PID, CauseSuspended, nil, "is waiting for a diagnostic port to resume it (DOTNET_DiagnosticPorts)")
	case len(ports) == 0:
		return refuse(t.PID, CauseSuspended, nil, "is still starting").as("starting")
	}
	return refuse(t.PID, CauseSuspended, nil, "is waiting for %s to resume it", strings.Join(ports, " and "))
}

// SuspendingPorts returns the diagnostic ports in an environment that suspend a runtime in its
// start, as a message names them. Each of them must resume it.
func SuspendingPorts(env map[string]string) (list []string) {
	// Of a runtime the older prefix counts only where the variable is not set with the newer one.
	lookup := func(name string) (variable, value string) {
		if value, set := env["DOTNET_"+name]; set {
			return "DOTNET_" + name, value
		}
		return "COMPlus_" + name, env["COMPlus_"+name]
	}
	_, ports := lookup("DiagnosticPorts")
	for port := range strings.SplitSeq(ports, ";") {
		tags := strings.Split(port, ",")
		if path := strings.TrimSpace(tags[0]); path != "" && suspendsByTags(tags[1:]) {
			list = append(list, path)
		}
	}
	if variable, value := lookup("DefaultDiagnosticPortSuspend"); value == "1" {
		list = append(list, "a tool at its default port ("+variable+"=1)")
	}
	return list
}

// suspendsByTags: of the tags of a kind the first counts, suspend is the default, and a port to
// listen at does nothing: no runtime has those (docs/protocol.md, Diagnostic ports).
func suspendsByTags(tags []string) bool {
	suspends, connects := "", ""
	for _, tag := range tags {
		switch tag = strings.ToLower(strings.TrimSpace(tag)); {
		case suspends == "" && (tag == "suspend" || tag == "nosuspend"):
			suspends = tag
		case connects == "" && (tag == "connect" || tag == "listen"):
			connects = tag
		}
	}
	return suspends != "nosuspend" && connects != "listen"
}
