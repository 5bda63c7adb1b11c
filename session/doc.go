// Package session talks to the diagnostics server in every .NET process: it finds processes,
// queries their identity, and starts EventPipe sessions whose bytes are a nettrace stream. It does
// not interpret the stream.
//
// docs/protocol.md describes the protocol and what experiments with it showed.
//
// # Safety of the target
//
// Some requests make a runtime hang or crash: a buffer of 0 MB, an unknown format, no providers, a
// level above 5. This package rejects them before anything is sent. Every request has a deadline. A
// process is identified by pid and start time, its socket is searched for under its own root
// without following links out of it, and the peer of every connection must be the intended process.
//
// # Use
//
// [Find], [List] or a [Port] returns a [Target]. Its Client methods send one request each, on a
// connection of its own. [Client.StartTracing] returns a [Stream], which must be read until it
// ends; [Stream.Stop] ends it.
package session
