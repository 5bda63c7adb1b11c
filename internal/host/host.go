// Package host looks at the processes of this host: it finds those with a .NET runtime, what the kernel
// shows of them (their memory, control groups, threads and files), and whether a session may be started.
//
// # Safety of the target
//
// A process is identified by pid and start time, its socket is searched for under its own root without
// following links out of it, and the peer of every connection must be the intended process. No session
// is started that the process would not survive, as far as can be seen.
package host

// A Host finds the processes of this host and looks at them. Its zero value can be used.
//
// A look at a process can block in the kernel for as long as another party wants: on a network file
// system that is down, or on one that a hostile process serves. So each look has a deadline, and
// those that do not end are counted and limited: see Stuck. That protects the caller but not the
// whole program, which cannot exit while such a look is blocked. With a Helper it can.
type Host struct {
	// Helper contains the arguments, starting with the program's name, with which this program is
	// run as a helper: it must then call ServeHelper. The Host uses helpers where a file system of
	// a process may not answer, and abandons a helper that is blocked. If Helper is nil, the Host
	// accesses all file systems itself. Only Linux needs it.
	Helper []string

	state hostState
}
