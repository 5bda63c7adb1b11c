// Package parse reads nettrace streams: what the EventPipe of a .NET runtime
// writes to its diagnostics socket, and what dotnet-trace stores as .nettrace.
// It turns bytes into event rows in time order. It knows nothing about the
// events themselves; package clr decodes those of the runtime.
//
// Both containers are read: V4 with its additions called V5 (.NET Core 3.0 to
// .NET 11) and V6 (recorders of a whole Linux machine). The layouts are written
// down in docs/protocol.md, with what showed them.
//
// # Use
//
// A [Reader] is used like a bufio.Scanner:
//
//	r := parse.NewReader(src, parse.All)
//	for r.Scan() {
//		if loss := r.Loss(); loss != nil {
//			continue // events are missing here
//		}
//		ev := r.Event()
//		...
//	}
//	if err := r.Err(); err != nil { ... }
//
// # Ownership
//
// The Reader owns everything it hands out. Events, losses and payloads are valid
// until the next Scan; *Metadata and *Trace stay valid, and must not be changed.
//
// # Memory
//
// The memory is bounded whatever the stream says: a window of at most 32 MiB (a
// block has at most 16), less than 20 MiB for rows that wait for their turn, and
// tables of threads, metadata and labels with limits of their own. No length in
// the stream is believed before the bytes are there. After warm-up nothing is
// allocated per event.
//
// # Errors
//
// A *KindError says that the input is no nettrace stream; a *FormatError where
// it is broken, or, when it wraps io.ErrUnexpectedEOF, cut off. What came before
// is delivered first, to the last complete row. Unknown things that the format
// allows a reader to skip (block kinds, optional items, metadata ids) are
// skipped and, where events suffer, counted in [Stats].
//
// A Reader must not be used by several goroutines at once.
package parse
