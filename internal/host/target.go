package host

import (
	"context"
	"fmt"
	"time"

	"github.com/gclog/gclog/session"
)

// A Process is a process as the operating system shows it, with the place of its diagnostics
// socket, if it has one.
type Process struct {
	PID         int      // as this host sees it; InnerPID if this host does not show it (TargetOf)
	InnerPID    int      // in its own pid namespace; its socket is named after it
	Name        string   // of the program, at most 15 bytes on Linux
	Executable  string   // path, "" if it cannot be read
	CommandLine []string // at most 8 KB
	Directory   string   // its working directory, "" if it cannot be read
	UID         int      // -1: unknown
	User        string   // name of UID, or its number
	Started     time.Time
	StartKey    uint64 // start in the kernel's own unit: with PID an identity on this host
	ContainerID string // 64 hexadecimal digits, "" outside of a container
	// In Kubernetes; "" outside of it or if unknown.
	Namespace, Pod, ContainerName string
	PodUID                        string
	Environ                       map[string]string // initial variables that matter to gclog; nil: unreadable

	maker   int           // user other than root who has made its user namespace; 0: none has
	tempDir string        // where its runtime creates the socket
	socket  string        // name of the socket in tempDir
	peer    *session.Peer // the only source of information about the process; nil if this host shows it
	runtime bool          // the kernel shows that it contains a runtime, whatever its file system does
	host    *Host         // the Host that found it
}

// Principal returns the user whose share of what users share the process takes: UID, or who has made the
// user namespace that it is in, where one user can have thousands.
func (p *Process) Principal() int {
	if p.UID > 0 && p.maker != 0 {
		return p.maker
	}
	return p.UID
}

// A Target is a process whose runtime accepts requests.
type Target struct {
	session.Client
	Process

	abandoned int64 // when an abandoned Hold was first seen, in nanoseconds of Unix time; 0: there is none
}

// Ends reports whether the process has ended or ends within the given time. The connections of a
// process are closed a little before it ends.
func (t *Target) Ends(ctx context.Context, within time.Duration) bool {
	deadline := time.Now().Add(within)
	for t.Alive() {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return !t.Alive()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// A Cause is the reason why gclog cannot talk to a process.
type Cause uint8

// The causes.
const (
	_ Cause = iota // none
	CauseNoSuchProcess
	CauseOtherUser      // its socket belongs to another user
	CauseNotDotnet      // as far as can be seen, it contains no .NET runtime
	CauseDiagnosticsOff // it was started with DOTNET_EnableDiagnostics=0
	CauseTooOld         // .NET Core 2.x has no such socket
	CauseNoSocket       // it contains a runtime, which could not create its socket
	CauseStaleSocket    // the socket was left behind by another process
	CauseNoAccess       // its files cannot be read
	CauseWrongPeer      // another process listens on the socket
	CauseSuspended      // its runtime has not been resumed, or is still starting
	CauseSnapshot       // gclog is taking a heap snapshot of it
	CauseHarm           // it would not survive what is asked of it, or would ignore it
	CauseStuck          // looking at it takes too long: its file system or the kernel does not answer
)

// A TargetError reports why gclog cannot talk to a process, and what would help.
type TargetError struct {
	PID    int
	Cause  Cause
	Kind   string // more specific than Cause: "tmpdir-full"; docs/troubleshooting.md lists all
	Detail string // what was found, and how to fix it
	Err    error
}

func (e *TargetError) Error() string {
	s := fmt.Sprintf("process %d %s", e.PID, e.Detail)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *TargetError) Unwrap() error { return e.Err }

func refuse(pid int, cause Cause, err error, format string, args ...any) *TargetError {
	return &TargetError{PID: pid, Cause: cause, Kind: kinds[cause], Err: err, Detail: fmt.Sprintf(format, args...)}
}

// kinds contains the kind of each cause that has only one, or one that is the most frequent.
var kinds = map[Cause]string{
	CauseNoSuchProcess:  "no-process",
	CauseOtherUser:      "other-user",
	CauseNotDotnet:      "not-dotnet",
	CauseDiagnosticsOff: "diagnostics-off",
	CauseTooOld:         "too-old",
	CauseNoSocket:       "no-socket",
	CauseStaleSocket:    "stale-socket",
	CauseNoAccess:       "no-access",
	CauseWrongPeer:      "wrong-peer",
	CauseSuspended:      "suspended",
	CauseSnapshot:       "snapshot",
	CauseHarm:           "heap-walk-crash",
	CauseStuck:          "stuck",
}

// as sets the kind of the cause.
func (e *TargetError) as(kind string) *TargetError {
	e.Kind = kind
	return e
}

// Ignored reports whether the process was started with GCLOG_IGNORE=1: it must be left alone when
// all processes are attached to.
func (p *Process) Ignored() bool { return p.Environ["GCLOG_IGNORE"] == "1" }

// PodOf returns the pod and the namespace from the environment of a process in Kubernetes. Most
// people have Kubernetes fill in POD_NAME and POD_NAMESPACE. Without them, the host name is the
// pod's name, unless it is that of the node or was set to a name of its own.
func PodOf(env map[string]string) (pod, namespace string) {
	if env["KUBERNETES_SERVICE_HOST"] == "" {
		return "", ""
	}
	if pod = env["POD_NAME"]; pod == "" {
		pod = env["HOSTNAME"]
	}
	return pod, env["POD_NAMESPACE"]
}

// A Sighting is a process as a Scanner sees it.
type Sighting struct {
	PID      int
	StartKey uint64 // start time; identifies the process on this host together with PID
	Name     string // at most 15 bytes on Linux; changes when the process executes another program
	// OneThread: it is known to have a single thread. While a runtime runs, it has several: one of
	// them listens on the diagnostics socket.
	OneThread bool
}

// An Outcome is how a process ended.
type Outcome struct {
	Known  bool // the kernel has reported Code or Signal
	Exited bool // exited, not killed; if Known is false: it left no socket behind, as killed processes do
	Code   int  // with Exited
	Signal int  // the signal that killed it
	// OOM reports whether the kernel killed it because memory ran out, which the OOM kill count of its
	// control group shows. If the kernel has killed others of the group since the watch started, any
	// other kill of this process looks the same.
	OOM bool
	// Unseen: this host does not show the process, so how it ended is unknown.
	Unseen bool
}

// A Listed is a process with a .NET runtime, with the reason if gclog cannot talk to it.
type Listed struct {
	Process
	Err error // a *TargetError
}

// Target returns the process as a target. Err must be nil.
func (l *Listed) Target() *Target { return l.Process.target() }

func (p *Process) target() *Target {
	t := &Target{Process: *p}
	t.Dial = t.Process.dial
	return t
}

// TargetOf returns the process of a runtime that has connected to a port. What the operating system
// does not show of it stays unknown. That is everything if the process is in a pid namespace that is not
// below gclog's: then only its connection shows that it is alive.
func (h *Host) TargetOf(peer *session.Peer) *Target {
	t := &Target{
		Client:  peer.Client,
		Process: Process{PID: peer.PID, InnerPID: peer.Inner, UID: peer.UID, peer: peer, host: h},
	}
	if peer.PID == 0 {
		t.PID = peer.Inner
	} else if known, err := h.Describe(peer.PID); err == nil && peer.MayBe(known.StartKey) {
		t.Process = *known // and not another one that got its pid since
	}
	return t
}
