// Package session talks to the diagnostics server in every .NET process: it queries the runtime, and
// starts EventPipe sessions whose bytes are a nettrace stream. It does not interpret the stream.
//
// docs/protocol.md describes the protocol and what experiments with it showed.
//
// # Safety of the target
//
// Some requests make a runtime hang or crash: a buffer of 0 MB, an unknown format, no providers, a
// level above 5. This package rejects them before anything is sent. Every request has a deadline.
// A session that walks or collects the heap kills certain runtimes, and must be marked as Unsafe.
//
// The caller makes sure that the intended process is at the other end of a connection ([PeerProcess]),
// and that no diagnostic port suspends it: a session that is started before the runtime is resumed can
// make the program crash (docs/protocol.md, Stop).
//
// # Use
//
// A [Client] connects to the runtime's socket, dotnet-diagnostic-PID-*-socket in its TMPDIR; a [Port]
// waits for runtimes that connect, and has a Client for each. The methods of a Client send one request
// each, on a connection of its own. [Client.StartTracing] returns a [Stream], which must be read until
// it ends; [Stream.Stop] ends it.
package session
