package host

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/gclog/gclog/session"
)

// Permit returns a *TargetError with the cause CauseHarm if a session with this configuration would kill
// the process, or could as far as can be seen, or if the runtime is known to ignore what the session is
// for. StartTracing calls it, too.
func (t *Target) Permit(ctx context.Context, cfg *session.Config) error {
	walk, collect := cfg.AsksHeap()
	if cfg.Unsafe || !walk && !collect {
		return nil
	}
	kind := t.Runtime()
	if kind == RuntimeCoreCLR && t.peer == nil {
		return nil
	}
	info, err := t.ProcessInfo(ctx)
	switch {
	case session.IsUnknownCommand(err): // .NET Core 3.1
		return nil
	case err != nil:
		return err
	}
	return t.PermitHeap(kind, info.Version, info.CommandLine, walk)
}

// PermitHeap returns a *TargetError with the cause CauseHarm if the runtime of the process must not be
// asked to collect, or to walk its heap, given what it is and what it has said of itself; else nil.
//
// NativeAOT 10 with server GC dies of SIGSEGV in the first full blocking collection that walks the
// heap, whoever causes that; with workstation GC it walks as later versions do. Earlier versions do
// neither, but a session may crash them that ends while the program collects.
func (p *Process) PermitHeap(kind Runtime, version, commandLine string, walk bool) error {
	major := majorOf(version)
	switch {
	case kind == RuntimeCoreCLR && p.peer == nil:
		return nil
	case kind == RuntimeNativeAOT && major < 10:
		return refuse(p.PID, CauseHarm, nil, "is a NativeAOT program of .NET %s: its runtime neither collects nor "+
			"walks its heap on request, which .NET 10 and later do", cmp.Or(version, "(unknown)")).as("native-aot-old")
	case kind != RuntimeNativeAOT && strings.Contains(commandLine, ".dll"): // NativeAOT runs no assembly
		return nil
	case major != 10 || !walk:
		return nil
	}
	switch n, known := p.ServerGCThreads(); {
	case n > 0 && kind == RuntimeNativeAOT:
		return refuse(p.PID, CauseHarm, nil, "is a NativeAOT program of .NET 10 with server GC, which crashes in a "+
			"heap walk: start it with DOTNET_gcServer=0, or publish it with .NET 11")
	case n > 0 || !known:
		return refuse(p.PID, CauseHarm, nil, "may be a NativeAOT program of .NET 10 with server GC, which crashes in "+
			"a heap walk: nothing that gclog can see of it says that it is not")
	}
	return nil
}

// majorOf returns the major number of a version, 0 if it has none.
func majorOf(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}
