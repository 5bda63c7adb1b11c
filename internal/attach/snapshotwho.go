package attach

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/session"
)

// WalkRefusal returns why the runtime of a process must not be asked to walk its heap, as what follows
// the process in a sentence, or nil. Whatever takes snapshots asks this: commands, rules, heap.auto.
//
// NativeAOT walks its heap from .NET 10 on. In .NET 10 with server GC, the walk crashes the program, so
// there it must be known that the program has workstation GC: from .NET 10 on NativeAOT names the threads
// of server GC, as the runtime of other programs does. session.Target.Permit holds every session against
// the same, with requests of its own.
func WalkRefusal(p *session.Process, facts *gclog.Process) error {
	version := facts.RuntimeVersion
	crashes := atLeast(version, 10) && !atLeast(version, 11)
	switch {
	case facts.Flavor == gclog.FlavorCoreCLR:
		return nil
	case facts.Flavor == gclog.FlavorNativeAOT && version == "":
		return errors.New("is a NativeAOT program of an unknown version: its runtime cannot walk its heap before .NET 10")
	case facts.Flavor == gclog.FlavorNativeAOT && !atLeast(version, 10):
		return fmt.Errorf("is a NativeAOT program of .NET %s: its runtime cannot walk its heap, which .NET 10 and later can", version)
	case !crashes, strings.Contains(facts.CommandLine, ".dll"): // NativeAOT runs no assembly
		return nil
	}
	switch threads, known := p.ServerGCThreads(); {
	case known && threads == 0:
		return nil
	case facts.Flavor == "":
		return errors.New("may be a NativeAOT program of .NET 10 with server GC, which crashes in a heap walk: root and the user of the process can see what it is")
	case known:
		return errors.New("is a NativeAOT program of .NET 10 with server GC, which crashes in a heap walk: start it with DOTNET_gcServer=0, or publish it with .NET 11")
	}
	return errors.New("is a NativeAOT program of .NET 10 and may have server GC, with which it would crash in a heap walk: its threads do not show which it has")
}
