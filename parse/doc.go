// Package parse reads nettrace streams: the data that the EventPipe of a .NET runtime writes to its
// diagnostics socket, and that dotnet-trace stores as .nettrace files. It turns bytes into event
// rows in time order. It does not interpret the events; package clr decodes those of the runtime.
//
// It reads both containers: V4 with its additions called V5 (.NET Core 3.0 to .NET 11), and V6
// (recorders of a whole Linux machine). docs/protocol.md describes the layouts and the evidence for
// them.
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
// The Reader owns everything it returns. Events, losses and payloads are valid until the next call
// of Scan. *Metadata and *Trace stay valid and must not be changed.
//
// # Memory
//
// Memory is bounded whatever the stream contains: a window of at most 32 MiB (a block has at most
// 16 MiB), less than 20 MiB for rows that are waiting to be delivered in order, and tables of
// threads, metadata and labels with limits of their own. No memory is allocated for a length in the
// stream before the bytes have arrived. After warm-up nothing is allocated per event.
//
// # Errors
//
// A *KindError reports that the input is not a nettrace stream. A *FormatError reports where the
// stream is corrupt or, if it wraps io.ErrUnexpectedEOF, truncated. Everything before the damage is
// delivered first, up to the last complete row. Unknown items that the format allows a reader to
// skip (block kinds, optional items, metadata ids) are skipped and, if that affects events, counted
// in [Stats].
//
// A Reader must not be used by several goroutines at once.
package parse
