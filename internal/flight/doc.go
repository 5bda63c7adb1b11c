// Package flight is the flight recorder: it keeps the last seconds of the raw streams of many
// processes in a bounded memory, and writes those around a collection as a .nettrace file.
//
// A [Memory] is the memory of all processes. A [Recorder] belongs to a process and has a [Ring] for
// each of its sessions, which receives the blocks of the stream on the goroutine that reads it:
// nothing is decoded there, and nothing waits. A [Recording] is the part of the stream that somebody
// has asked for. When its time is over, its blocks are pinned: they are written from where they are,
// while the rings continue.
//
// The blocks in a file are whole and as the runtime wrote them, so a file begins and ends some 100 ms
// outside of what was asked for. Only three things differ from the stream: the time zero of its head,
// its sequence points, which name threads that have no event in the file, and events of gclog itself
// at its start (package nettrace). docs/recorder.md explains this to users.
package flight
