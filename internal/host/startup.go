package host

import (
	"context"
	"strings"
	"time"

	"github.com/gclog/gclog/session"
)

// A Startup is the state of a runtime's startup, as far as it is visible from outside. A runtime
// goes from StartupPending to StartupFinished once, and never back.
//
// Until the startup has finished, a diagnostic port may suspend the runtime: gclog's or that of any
// other tool. A session that is started and stopped during that time leaves its id behind in
// CoreCLR up to .NET 10, and the next session, of any tool, makes the program crash when it is resumed.
// So no session is started earlier: docs/protocol.md, Stop, describes the experiments.
type Startup uint8

// The states of a startup.
const (
	// StartupUnknown: this system or this runtime does not show it.
	StartupUnknown Startup = iota
	// StartupPending: the runtime was just started, or a diagnostic port suspends it.
	StartupPending
	// StartupFinished: the runtime was resumed. This state is final.
	StartupFinished
)

// StartTracing starts a session: see session.Client.StartTracing. It returns a *TargetError instead if
// the runtime's startup is pending, or if the process would not survive the session, as far as can be
// seen: then the cause is CauseHarm. While gclog holds the target (see Hold) it waits; so does the Stop
// of the Stream.
func (t *Target) StartTracing(ctx context.Context, cfg session.Config) (*session.Stream, error) {
	if t.Startup() == StartupPending {
		return nil, t.pending(ctx)
	}
	release, err := t.Share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	s, err := t.StartFirst(ctx, cfg)
	if s != nil {
		s.Share = t.Share
	}
	return s, err
}

// StartFirst is StartTracing for a runtime that has just connected to a port, and that no other port
// suspends: it starts the session although the startup is pending.
func (t *Target) StartFirst(ctx context.Context, cfg session.Config) (*session.Stream, error) {
	if err := t.Permit(ctx, &cfg); err != nil {
		return nil, err
	}
	cfg.Unsafe = true
	return t.Client.StartTracing(ctx, cfg)
}

const (
	// startupTime is how long a normal startup may take before it is worth a message.
	startupTime = time.Second
	// The startup of a process is polled every startupFirst in the first second and every
	// startupThen after that: a normal startup takes milliseconds, a suspended one may take hours.
	startupFirst = 2 * time.Millisecond
	startupThen  = 50 * time.Millisecond
)

// AwaitStartup returns when a session may be started: when the startup is no longer pending, and
// gclog does not hold the target (see Hold and Share). If that takes more than a second, it calls waits with a
// *TargetError that says what the process is waiting for. The error is that of ctx, or a
// *TargetError if the process has exited.
func (t *Target) AwaitStartup(ctx context.Context, waits func(error)) error {
	every := time.NewTicker(startupFirst)
	defer every.Stop()
	for began, reported := time.Now(), false; t.Startup() == StartupPending || t.isHeld(); {
		switch {
		case !t.Alive():
			return refuse(t.PID, CauseNoSuchProcess, nil, "exited before it was resumed").as("ended")
		case !reported && time.Since(began) >= startupTime:
			reported = true
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

// CheckStartup returns nil if a session may be started now or within a second. Otherwise it returns
// a *TargetError that says what the process is waiting for, or the error of ctx.
func (t *Target) CheckStartup(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, startupTime)
	defer cancel()
	err := t.AwaitStartup(limited, func(error) {})
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return t.pending(ctx)
	}
	return err
}

// pending returns an error that says what a process is waiting for.
func (t *Target) pending(ctx context.Context) *TargetError {
	if held := t.heldBy(); held != nil && t.Startup() != StartupPending {
		return held
	}
	env := t.Environ
	if env == nil {
		env, _ = t.Environment(ctx)
	}
	ports := session.SuspendingPorts(env)
	switch {
	case env == nil:
		return refuse(t.PID, CauseSuspended, nil,
			"is waiting for a diagnostic port to resume it (DOTNET_DiagnosticPorts)")
	case len(ports) == 0:
		return refuse(t.PID, CauseSuspended, nil, "is still starting").as("starting")
	}
	return refuse(t.PID, CauseSuspended, nil, "is waiting for %s to resume it", strings.Join(ports, " and "))
}

// Environment returns the variables of the process's environment that matter to gclog.
func (t *Target) Environment(ctx context.Context) (map[string]string, error) {
	var env environment
	if err := t.Client.Environment(ctx, env.add); err != nil {
		return nil, err
	}
	return env.variables, nil
}
