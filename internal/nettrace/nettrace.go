// Package nettrace writes nettrace streams in V4 (docs/protocol.md 6): blocks that a runtime has
// written, and gclog's own events, which tell readers what the stream itself does not contain.
package nettrace

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

const (
	tagNull  = 1
	tagBegin = 5
	tagEnd   = 6

	blockVersion = 2
	traceVersion = 4
	traceSize    = 48
	syncTicks    = 16 // offset in the Trace object: the wall-clock time comes first
)

// preamble is the start of a stream.
var preamble = []byte("Nettrace\x14\x00\x00\x00!FastSerialization.1")

// HeadSize is the size of the head of a stream: the preamble and the Trace object.
const HeadSize = 32 + 3 + 3*4 + len("Trace") + 1 + traceSize + 1

// MayBeHead reports whether a head can begin with b. If b is a whole head, it is one.
func MayBeHead(b []byte) bool {
	start := appendBegin(bytes.Clone(preamble), "Trace", traceVersion)
	n := min(len(b), len(start))
	return bytes.Equal(b[:n], start[:n]) && (len(b) < HeadSize || b[HeadSize-1] == tagEnd)
}

// AppendHead appends the head of a stream with the content of its Trace block.
func AppendHead(b, trace []byte) []byte {
	b = appendBegin(append(b, preamble...), "Trace", traceVersion)
	return append(append(b, trace...), tagEnd)
}

// Sync makes ticks, at the wall-clock time at, the zero of the clock of a Trace block. Only whole
// milliseconds of the time can be stated.
func Sync(trace []byte, at time.Time, ticks int64) {
	at = at.UTC()
	for i, v := range []int{
		at.Year(), int(at.Month()), int(at.Weekday()), at.Day(),
		at.Hour(), at.Minute(), at.Second(), at.Nanosecond() / int(time.Millisecond),
	} {
		binary.LittleEndian.PutUint16(trace[2*i:], uint16(v))
	}
	binary.LittleEndian.PutUint64(trace[syncTicks:], uint64(ticks))
}

// AppendBlock appends a block to b, whose first byte is at an offset of the stream.
func AppendBlock(b []byte, offset int64, kind parse.BlockKind, content []byte) []byte {
	b = appendBegin(b, names[kind], blockVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	b = append(b, make([]byte, -(offset+int64(len(b)))&3)...) // aligns the content
	return append(append(b, content...), tagEnd)
}

var names = map[parse.BlockKind]string{
	parse.BlockEvent: "EventBlock", parse.BlockMetadata: "MetadataBlock", parse.BlockStack: "StackBlock",
	parse.BlockSequencePoint: "SPBlock",
}

// AppendEnd appends the end of a stream.
func AppendEnd(b []byte) []byte { return append(b, tagNull) }

func appendBegin(b []byte, name string, version uint32) []byte {
	b = append(b, tagBegin, tagBegin, tagNull)
	for _, n := range []uint32{version, version, uint32(len(name))} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(append(b, name...), tagEnd)
}

// The metadata ids of our events: runtimes number theirs from 1, and readers have 31 bits for them.
const (
	processID = 1<<30 + iota
	threadID
)

// Flags of a row: which fields its head contains.
const (
	hasMetadata = 0x01
	hasCapture  = 0x02
	hasThread   = 0x04
	isSorted    = 0x40
	hasSize     = 0x80
)

// AppendProcess appends an event to the head of a stream, with what is known of the process and the
// runtime reports only to its clients, or only at the end of a session that a client ends. The
// blocks after it keep their alignment.
//
// The event's thread is 0, which no thread of a program has, so it does not affect the detection of
// losses by sequence numbers.
func AppendProcess(head []byte, p *gclog.Process) []byte {
	ticks := binary.LittleEndian.Uint64(head[HeadSize-1-traceSize+syncTicks:])
	event := clr.AppendRecordedProcess(nil, recordedProcess(p))
	for {
		b := appendMetadata(head, clr.AppendRecordedProcessMetadata(nil, processID))
		row := binary.AppendUvarint([]byte{hasMetadata | hasSize}, processID)
		row = appendPayload(binary.AppendUvarint(row, ticks), event)
		b = AppendBlock(b, 0, parse.BlockEvent, append(blockHead(ticks), row...))
		if len(b)%4 == len(head)%4 {
			return b
		}
		event = append(event, 0)
	}
}

// recordedGC maps the kinds of GC to their names in a recording.
var recordedGC = [...]string{gclog.Unknown: "", gclog.No: "workstation", gclog.Yes: "server"}

func recordedProcess(p *gclog.Process) *clr.RecordedProcess {
	e := &clr.RecordedProcess{
		Name:           clr.EncodeUTF16(p.Name),
		RuntimeVersion: clr.EncodeUTF16(p.RuntimeVersion),
		Flavor:         clr.EncodeUTF16(p.Flavor),
		GC:             clr.EncodeUTF16(recordedGC[p.Server]),
		Snapshot:       p.Snapshot,
	}
	if !p.Started.IsZero() {
		e.Started = p.Started.UnixNano()
	}
	var threads []string
	for _, id := range p.DiagnosticsThreads {
		threads = append(threads, strconv.FormatUint(id, 10))
	}
	e.DiagnosticsThreads = clr.EncodeUTF16(strings.Join(threads, " "))
	return e
}

// A Thread is a thread with the number of the last event that it wrote.
type Thread struct {
	ID  uint64
	Seq uint32
}

// AppendThreads appends an event for each thread, with the number of its last event before the
// stream begins. So its next event, or a sequence point, shows what was lost after that one: the
// number of the first event of a thread alone does not. b is the stream from its first byte.
func AppendThreads(b []byte, ticks int64, threads []Thread) []byte {
	const unknownProcessor = 1<<32 - 1
	b = appendMetadata(b, clr.AppendRecordedThreadMetadata(nil, threadID))
	content := blockHead(uint64(ticks))
	var last uint32
	for i, t := range threads {
		flags, at := byte(hasCapture|hasThread|isSorted), uint64(0)
		if i == 0 {
			flags, at = flags|hasMetadata, uint64(ticks)
		}
		content = append(content, flags)
		if i == 0 {
			content = binary.AppendUvarint(content, threadID)
		}
		content = binary.AppendUvarint(content, uint64(t.Seq-last-1))
		last = t.Seq
		for _, v := range []uint64{t.ID, unknownProcessor, t.ID, at} {
			content = binary.AppendUvarint(content, v)
		}
	}
	return AppendBlock(b, 0, parse.BlockEvent, content)
}

// appendMetadata appends the metadata of one kind of event.
func appendMetadata(b, metadata []byte) []byte {
	row := appendPayload([]byte{hasSize, 0}, metadata)
	return AppendBlock(b, 0, parse.BlockMetadata, append(blockHead(0), row...))
}

// appendPayload appends the size and the payload of a row.
func appendPayload(b, payload []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(payload))), payload...)
}

// blockHead returns the head of an Event or Metadata block with compressed rows.
func blockHead(ticks uint64) []byte {
	const headSize, compressed = 20, 1
	b := binary.LittleEndian.AppendUint16(nil, headSize)
	b = binary.LittleEndian.AppendUint16(b, compressed)
	b = binary.LittleEndian.AppendUint64(b, ticks)
	return binary.LittleEndian.AppendUint64(b, ticks)
}
