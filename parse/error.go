package parse

import (
	"errors"
	"fmt"
	"io"
)

// A FormatError says that a stream is not what the format promises, and where.
//
// errors.Is(err, io.ErrUnexpectedEOF) tells a stream that merely ends too early
// from one whose bytes are wrong.
type FormatError struct {
	Offset int64  // in bytes from the start of the stream
	Block  string // "Event", "Metadata", ...; "" outside of any block
	Msg    string // what was found and what was expected
	Err    error  // io.ErrUnexpectedEOF for a truncated stream, else nil
}

func (e *FormatError) Error() string {
	where := ""
	if e.Block != "" {
		where = " in a block of kind " + e.Block
	}
	word := "corrupt"
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		word = "truncated"
	}
	return fmt.Sprintf("nettrace stream is %s at byte %d%s: %s", word, e.Offset, where, e.Msg)
}

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }

// A KindError says that the bytes are not a nettrace stream at all, or one of a
// version that this package does not read.
type KindError struct {
	Kind  Kind
	Found string // what it is, as part of a sentence: "a Windows ETW log (.etl)"
	Hint  string // what the user can do, "" if nothing is known
}

func (e *KindError) Error() string {
	s := "not a nettrace stream: this is " + e.Found
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// A Kind is what a file is that is no nettrace stream.
type Kind string

// The kinds that are told apart by their first bytes.
const (
	KindUnknown    Kind = ""
	KindEmpty      Kind = "empty"
	KindBegin      Kind = "begin" // less of a nettrace stream than can be told
	KindNetPerf    Kind = "netperf"
	KindETLX       Kind = "etlx"
	KindGCDump     Kind = "gcdump"
	KindZip        Kind = "zip"
	KindPerf       Kind = "perf"
	KindLTTng      Kind = "lttng"
	KindETL        Kind = "etl"
	KindPacked     Kind = "packed"
	KindDump       Kind = "dump"
	KindSpeedscope Kind = "speedscope"
	KindChromium   Kind = "chromium"
)
