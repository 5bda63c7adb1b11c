package attach

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// factsTime is how long a recording waits for the facts about its process.
const factsTime = 2 * time.Second

// A recorder writes a recording. After the head of the stream it inserts an event with facts that
// the runtime reports only to its clients, or only at the end of a session that a client ends.
type recorder struct {
	w     io.Writer
	facts func() gclog.Process // called when the head has arrived
	head  []byte               // of the stream, up to the end of its Trace object
	done  bool                 // the head has been written
}

// recordedFacts returns what a recording says about its process. What cannot be found out in time
// is unknown there too.
func recordedFacts(ctx context.Context, t *session.Target) (p gclog.Process) {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	_ = Contain(func() { p, _ = Identify(ctx, t) })
	p.DiagnosticsThreads = t.DiagnosticsThreads()
	return p
}

// The head of a stream in V4 (docs/protocol.md): the preamble and the Trace object, in which the
// clock's ticks follow the wall-clock time.
const (
	headV4  = 32 + 3 + 3*4 + len("Trace") + 1 + 48 + 1
	ticksV4 = headV4 - 1 - 48 + 16
)

var preambleV4 = []byte("Nettrace\x14\x00\x00\x00!FastSerialization.1\x05\x05\x01")

// Write implements io.Writer. An incomplete head is not written: it contains nothing.
func (r *recorder) Write(b []byte) (int, error) {
	if r.done {
		return r.w.Write(b)
	}
	n := min(len(b), headV4-len(r.head))
	r.head = append(r.head, b[:n]...)
	isV4 := bytes.HasPrefix(preambleV4, r.head[:min(len(r.head), len(preambleV4))])
	if isV4 && len(r.head) < headV4 {
		return n, nil
	}
	r.done = true
	if isV4 && r.head[headV4-1] == tagEnd {
		p := r.facts()
		r.head = appendRecorded(r.head, &p)
	}
	if _, err := r.w.Write(r.head); err != nil || n == len(b) {
		return n, err
	}
	rest, err := r.w.Write(b[n:])
	return n + rest, err
}

const (
	tagEnd = 6
	// recordedID is the metadata id of our event: runtimes number theirs from 1.
	recordedID = 1 << 30
)

// recordedGC maps the kinds of GC to their names in a recording.
var recordedGC = [...]string{gclog.Unknown: "", gclog.No: "workstation", gclog.Yes: "server"}

// appendRecorded appends the blocks of our event to the head of a stream in V4. Its thread is 0,
// which no thread of a program has, so the event does not affect the detection of losses by
// sequence numbers.
func appendRecorded(head []byte, p *gclog.Process) []byte {
	const (
		hasID   = 0x01
		hasSize = 0x80
	)
	ticks := binary.LittleEndian.Uint64(head[ticksV4:])
	event := clr.AppendRecordedProcess(nil, recordedEvent(p))
	for {
		b := appendBlock(head, "MetadataBlock", ticks, []byte{hasSize}, clr.AppendRecordedProcessMetadata(nil, recordedID))
		b = appendBlock(b, "EventBlock", ticks, binary.AppendUvarint([]byte{hasID | hasSize}, recordedID), event)
		if len(b)%4 == len(head)%4 { // the blocks after it must keep their alignment
			return b
		}
		event = append(event, 0)
	}
}

func recordedEvent(p *gclog.Process) *clr.RecordedProcess {
	e := &clr.RecordedProcess{
		Name: clr.EncodeUTF16(p.Name), RuntimeVersion: clr.EncodeUTF16(p.RuntimeVersion), Flavor: clr.EncodeUTF16(p.Flavor),
		GC: clr.EncodeUTF16(recordedGC[p.Server]), Snapshot: p.Snapshot,
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

// appendBlock appends a block with one row to b, which must hold the stream from its first byte.
func appendBlock(b []byte, name string, ticks uint64, head, payload []byte) []byte {
	const version, headerSize, compressed = 2, 20, 1
	b = append(b, 5, 5, 1)
	for _, n := range []uint32{version, version, uint32(len(name))} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	b = append(append(b, name...), tagEnd)
	content := binary.LittleEndian.AppendUint16(nil, headerSize)
	content = binary.LittleEndian.AppendUint16(content, compressed)
	content = binary.LittleEndian.AppendUint64(content, ticks)
	content = binary.LittleEndian.AppendUint64(content, ticks)
	content = append(content, head...)
	content = binary.AppendUvarint(content, ticks)
	content = binary.AppendUvarint(content, uint64(len(payload)))
	content = append(content, payload...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	b = append(b, make([]byte, -len(b)&3)...) // aligns the content
	return append(append(b, content...), tagEnd)
}
