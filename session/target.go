package session

import (
	"context"
	"fmt"
	"time"
)

// A Process is a process as the operating system shows it, and where its
// diagnostics socket is, if it has one.
type Process struct {
	PID         int      // as this host sees it; InnerPID, if this host does not show it (Peer.Target)
	InnerPID    int      // in its own pid namespace: what its socket is named after
	Name        string   // of the program, at most 15 bytes on Linux
	Executable  string   // path, "" if it cannot be read
	CommandLine []string // at most 8 KB of it
	UID         int      // -1: unknown
	User        string   // name of UID, or its number
	Started     time.Time
	StartKey    uint64 // start in the kernel's own unit: with PID an identity on this host
	ContainerID string // 64 hexadecimal digits, "" outside of a container
	// Of Kubernetes: "" outside of it, or where nothing tells it.
	Namespace, Pod, ContainerName string
	PodUID                        string
	Environ                       map[string]string // of what it was started with what matters to gclog; nil if it cannot be read

	tempDir string // where its runtime makes the socket
	socket  string // name of the socket in tempDir
	peer    *Peer  // of a process that nothing else tells about; nil: this host shows it
	runtime bool   // the kernel tells that there is one in it, whatever its file system does
	host    *Host  // that has found it
}

// A Target is a process whose runtime can be talked to.
type Target struct {
	Client
	Process
}

// Ends reports whether the process has ended, or does in the time given: its connections are closed
// a little earlier.
func (t *Target) Ends(ctx context.Context, within time.Duration) bool {
	deadline := time.Now().Add(within)
	for t.Alive() {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// Cause is why a process cannot be talked to.
type Cause uint8

// The causes.
const (
	CauseNoSuchProcess  Cause = iota + 1
	CauseOtherUser            // its socket belongs to another user
	CauseNotDotnet            // there is no .NET runtime in it, as far as can be seen
	CauseDiagnosticsOff       // it was started with DOTNET_EnableDiagnostics=0
	CauseTooOld               // .NET Core 2.x has no such socket
	CauseNoSocket             // there is a runtime, but it could not make its socket
	CauseStaleSocket          // the socket is left over from another process
	CauseNoAccess             // its files cannot be looked at
	CauseWrongPeer            // another process listens on the socket
	CauseSuspended            // its runtime has not been resumed, or is still starting
	CauseStuck                // to look at it takes too long: its file system does not answer, or the kernel
)

// A TargetError says why a process cannot be talked to, and what would help.
type TargetError struct {
	PID    int
	Cause  Cause
	Kind   string // of the cause, finer than Cause: "tmpdir-full"; docs/troubleshooting.md has all
	Detail string // what was found, and the way out
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

// kinds are those of the causes that have only one, or one that is the most frequent.
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
	CauseStuck:          "stuck",
}

// as says of what kind the cause is.
func (e *TargetError) as(kind string) *TargetError {
	e.Kind = kind
	return e
}

// Ignored reports whether the process was started with GCLOG_IGNORE=1: whoever takes all
// processes shall leave it alone.
func (p *Process) Ignored() bool { return p.Environ["GCLOG_IGNORE"] == "1" }

// PodOf returns the pod and the namespace that an environment tells, in Kubernetes.
// POD_NAME and POD_NAMESPACE are what most people call what they have Kubernetes fill
// in; else a pod is called like its host, unless that is the node or was given a name
// of its own.
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
	StartKey uint64 // with PID an identity on this host
	Name     string // at most 15 bytes on Linux; it is another one when the process runs another program
}

// An Outcome is how a process ended.
type Outcome struct {
	Known  bool // the kernel has told Code, or Signal
	Exited bool // by itself; where that is not known, it left no socket behind as those do that are killed
	Code   int  // with Exited
	Signal int  // that killed it
	// OOM: the kernel killed it because there was no memory left. That goes by the count
	// of its control group: who is killed otherwise, when others of the group were killed
	// for that since the watch began, looks the same.
	OOM bool
	// Unseen: this host does not show the process, so that nothing tells how it ended.
	Unseen bool
}

// A Listed is a process with a .NET runtime, and why it cannot be talked to, if
// so.
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

// Target returns the process of a runtime that has connected to a port. What the
// operating system does not tell about it stays unknown. Of one in a pid namespace that
// is not below ours that is everything: only its connection tells that it is alive.
func (p *Peer) Target() *Target {
	t := &Target{Client: p.Client, Process: Process{PID: p.PID, InnerPID: p.Inner, UID: p.id.uid, peer: p, host: p.port.host}}
	if p.PID == 0 {
		t.PID = p.Inner
	} else if known, err := p.port.host.Describe(p.PID); err == nil && (p.id.start == unknownStart || p.id.start == known.StartKey) {
		t.Process = *known // and no other one, which got its number since
	}
	return t
}
