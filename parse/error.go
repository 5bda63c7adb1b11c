package parse

import (
	"errors"
	"fmt"
	"io"
)

// A FormatError reports that a stream violates the format, and where.
//
// errors.Is(err, io.ErrUnexpectedEOF) distinguishes a stream that is merely truncated from one with
// wrong bytes.
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

// A KindError reports that the input is not a nettrace stream at all, or one of a version that this
// package does not read.
type KindError struct {
	Kind  Kind
	Found string // what the input is, as part of a sentence: "a Windows ETW log (.etl)"
	Hint  string // what the user can do about it, "" if unknown
}

func (e *KindError) Error() string {
	s := "not a nettrace stream: this is " + e.Found
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// A Kind is the kind of a file that is not a nettrace stream.
type Kind string

// The kinds that are recognized by their first bytes.
const (
	KindUnknown    Kind = ""
	KindEmpty      Kind = "empty"
	KindBegin      Kind = "begin" // starts like a nettrace stream, but is too short to be sure
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
