package session

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
)

// What a session asks of a runtime's heap, by keywords of its provider. docs/protocol.md, Heap walks,
// has what was seen of each runtime.
const (
	runtimeProvider = "Microsoft-Windows-DotNETRuntime"

	// keywordHeapWalk makes the runtime walk its heap in each full blocking collection.
	keywordHeapWalk = 0x100000
	// keywordHeapCollect makes the runtime do such a collection when the session starts.
	keywordHeapCollect = 0x800000
)

// asksHeap reports what a session asks of the runtime's heap. Runtimes ignore the level here.
func (c *Config) asksHeap() (walk, collect bool) {
	for _, p := range c.Providers {
		if strings.EqualFold(p.Name, runtimeProvider) {
			walk = walk || p.Keywords&keywordHeapWalk != 0
			collect = collect || p.Keywords&keywordHeapCollect != 0
		}
	}
	return walk, collect
}

// errUnknownRuntime reports a session that not every runtime survives, on a connection whose runtime is
// not known.
var errUnknownRuntime = errors.New("a session that walks or collects the heap needs a Target: not every runtime survives it")

// Permit returns a *TargetError with the cause CauseHarm if a session with this configuration would kill
// the process, or could as far as can be seen, or if the runtime is known to ignore what the session is
// for. StartTracing calls it, too.
func (t *Target) Permit(ctx context.Context, cfg *Config) error {
	walk, collect := cfg.asksHeap()
	if cfg.Unsafe || !walk && !collect {
		return nil
	}
	kind := t.Runtime()
	if kind == RuntimeCoreCLR && t.peer == nil {
		return nil
	}
	info, err := t.ProcessInfo(ctx)
	switch {
	case unknownCommand(err):
		return nil // .NET Core 3.1
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
		return refuse(p.PID, CauseHarm, nil, "is a NativeAOT program of .NET %s: its runtime neither collects nor walks its heap on request, which .NET 10 and later do", cmp.Or(version, "(unknown)")).as("native-aot-old")
	case kind != RuntimeNativeAOT && strings.Contains(commandLine, ".dll"): // NativeAOT runs no assembly
		return nil
	case major != 10 || !walk:
		return nil
	}
	switch n, known := p.ServerGCThreads(); {
	case n > 0 && kind == RuntimeNativeAOT:
		return refuse(p.PID, CauseHarm, nil, "is a NativeAOT program of .NET 10 with server GC, which crashes in a heap walk: start it with DOTNET_gcServer=0, or publish it with .NET 11")
	case n > 0 || !known:
		return refuse(p.PID, CauseHarm, nil, "may be a NativeAOT program of .NET 10 with server GC, which crashes in a heap walk: nothing that gclog can see of it says that it is not")
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
