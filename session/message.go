package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf16"
)

// A message is a header of 20 bytes and a payload. The header contains the magic, u16 total size,
// u8 command set, u8 command, u16 0.
const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = 20
	maxMessage = 1<<16 - 1
)

// Command sets and commands.
const (
	setEventPipe = 0x02
	setProcess   = 0x04
	setServer    = 0xFF

	cmdStopTracing     = 0x01
	cmdCollectTracing2 = 0x03
	cmdCollectTracing3 = 0x04
	cmdCollectTracing4 = 0x05
	cmdCollectTracing5 = 0x06

	cmdProcessInfo        = 0x00
	cmdResumeRuntime      = 0x01
	cmdProcessEnvironment = 0x02
	cmdProcessInfo2       = 0x04
	cmdProcessInfo3       = 0x08

	serverOK    = 0x00
	serverError = 0xFF
)

// Error codes that a runtime returns.
const (
	CodeBadEncoding     = 0x80131384
	CodeUnknownCommand  = 0x80131385
	CodeUnknownMagic    = 0x80131386
	CodeUnknownError    = 0x80131387
	CodeNotYetAvailable = 0x8013135B
	CodeUninitialized   = 0x80131371
	CodeNotSupported    = 0x80131515
	CodeFail            = 0x80004005
	CodeInvalidArgument = 0x80070057
	CodeBufferTooSmall  = 0x8007007A
)

var codeNames = map[uint32]string{
	CodeBadEncoding:     "the request is malformed",
	CodeUnknownCommand:  "the runtime does not know this command",
	CodeUnknownMagic:    "the runtime does not know this protocol",
	CodeUnknownError:    "the runtime does not say why",
	CodeNotYetAvailable: "the runtime is still starting",
	CodeUninitialized:   "the runtime is not initialized yet",
	CodeNotSupported:    "the runtime does not support this request",
	CodeFail:            "the runtime failed, perhaps because it already has 64 sessions",
	CodeInvalidArgument: "an argument is invalid",
	CodeBufferTooSmall:  "a buffer is too small",
}

// A ServerError is an error that the runtime returned.
type ServerError struct {
	Command string
	Code    uint32 // an HRESULT
}

func (e *ServerError) Error() string {
	what := codeNames[e.Code]
	if what == "" {
		what = "the runtime refused the request"
	}
	return fmt.Sprintf("%s: %s (0x%08X)", e.Command, what, e.Code)
}

// An AnswerError reports that the other end of the connection did not answer like a runtime: it
// closed the connection, or speaks another protocol.
type AnswerError struct {
	Command string
	Err     error
}

func (e *AnswerError) Error() string { return e.Command + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *AnswerError) Unwrap() error { return e.Err }

func badAnswer(command, format string, args ...any) error {
	return &AnswerError{command, fmt.Errorf(format, args...)}
}

// IsUnknownCommand reports whether an error only means that the runtime is too old for a command, as
// .NET Core 3.1 is for ProcessInfo. Features are always detected this way, never by version.
func IsUnknownCommand(err error) bool {
	s, ok := errors.AsType[*ServerError](err)
	return ok && s.Code == CodeUnknownCommand
}

// An encoder builds the payload of a request.
type encoder struct{ b []byte }

func (e *encoder) u8(v byte)    { e.b = append(e.b, v) }
func (e *encoder) u32(v uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, v) }

// string writes a count of UTF-16 units including the terminating zero, then the units. An empty
// string is just a count of 0.
func (e *encoder) string(s string) {
	if s == "" {
		e.u32(0)
		return
	}
	units := utf16.Encode([]rune(s))
	e.u32(uint32(len(units) + 1))
	for _, u := range units {
		e.b = binary.LittleEndian.AppendUint16(e.b, u)
	}
	e.b = binary.LittleEndian.AppendUint16(e.b, 0)
}

// message returns a message with the given payload.
func message(set, command byte, payload []byte) ([]byte, error) {
	size := headerSize + len(payload)
	if size > maxMessage {
		return nil, fmt.Errorf("a request of %d bytes, but the protocol allows %d", size, maxMessage)
	}
	b := make([]byte, 0, size)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, uint16(size))
	b = append(b, set, command, 0, 0)
	return append(b, payload...), nil
}

// readResponse reads one message. An error that the runtime returns becomes a *ServerError for the
// named command.
func readResponse(r io.Reader, command string) ([]byte, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, closed(command, err)
	}
	if string(head[:len(magic)]) != magic {
		return nil, badAnswer(command, "the answer does not follow the diagnostics protocol")
	}
	size := int(binary.LittleEndian.Uint16(head[14:]))
	if size < headerSize {
		return nil, badAnswer(command, "an answer of %d bytes, but the header alone has %d", size, headerSize)
	}
	payload := make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, closed(command, err)
	}
	switch set, id := head[16], head[17]; {
	case set == setServer && id == serverOK:
		return payload, nil
	case set == setServer && id == serverError:
		d := decoder{b: payload}
		return nil, &ServerError{Command: command, Code: d.u32()}
	default:
		return nil, badAnswer(command, "an answer of kind %d.%d, expected %d", set, id, setServer)
	}
}

// closed returns an error that explains why an answer could not be read.
func closed(command string, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return badAnswer(command, "the runtime closed the connection without an answer: %w", err)
}

// A decoder reads the payload of an answer. It is sticky: after the first read past the end, bad is
// set and every read returns zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) u32() (v uint32) {
	if p := d.take(4); p != nil {
		v = binary.LittleEndian.Uint32(p)
	}
	return v
}

func (d *decoder) u64() (v uint64) {
	if p := d.take(8); p != nil {
		v = binary.LittleEndian.Uint64(p)
	}
	return v
}

func (d *decoder) string() string {
	return decodeUTF16(d.take(2 * uint64(d.u32())))
}

// guid reads 16 bytes and returns them in .NET's text form of a GUID.
func (d *decoder) guid() string { return formatGUID(d.take(16)) }

func formatGUID(p []byte) string {
	if len(p) != 16 {
		return ""
	}
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", binary.LittleEndian.Uint32(p),
		binary.LittleEndian.Uint16(p[4:]), binary.LittleEndian.Uint16(p[6:]), p[8:10], p[10:16])
}
