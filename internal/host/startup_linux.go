package host

import "strings"

// Startup determines the state of the startup from the threads of the process.
//
// CoreCLR 8 and up and NativeAOT 10 and up name their threads. While a port suspends one, its only
// threads are the main one and that of the diagnostics server, and in CoreCLR up to .NET 10 that of the
// synchronization manager; the finalizer, the debugger and others are started later. NativeAOT 8 and 9
// have two threads while they are suspended, and at least four afterwards.
func (p *Process) Startup() Startup {
	early, finished := false, false
	n, err := p.threads(func(t *thread) bool {
		switch {
		case !strings.HasPrefix(t.name, ".NET "):
		case t.name == eventPipeThread, t.name == synchronizationThread:
			early = true
		default:
			finished = true
		}
		return !finished
	})
	switch {
	case finished:
		return StartupFinished
	case err != nil:
		return StartupUnknown
	case early:
		return StartupPending
	case n <= 2 && p.IsNativeAOT():
		return StartupPending
	}
	return StartupUnknown
}
