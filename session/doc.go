// Package session talks to the diagnostics server in every .NET process: it
// finds processes, asks them who they are, and starts EventPipe sessions whose
// bytes are a nettrace stream. It knows nothing of what is in the stream.
//
// The protocol and what was learnt about it by experiment is in docs/protocol.md.
//
// # Safety of the target
//
// Some requests make a runtime hang or end: a buffer of 0 MB, an unknown format,
// no providers, a level above 5. They are refused here, before anything is sent.
// Every request has a deadline. A process is known by pid and start time, its
// socket is looked for under its own root without following links out of it, and
// the peer of every connection must be the process meant.
//
// # Use
//
// A [Target] comes from [Find], [List] or a [Port]; its Client methods send one
// request each, on a connection of its own. [Client.StartTracing] returns a
// [Stream] to read from until it ends; [Stream.Stop] makes it end.
package session
