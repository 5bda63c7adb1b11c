package parse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// An Event is one row of the stream. The Reader owns it and its payload: both
// are valid until the next call of Scan.
type Event struct {
	Meta *Metadata

	Ticks int64 // time stamp in ticks of the stream's clock
	Time  int64 // the same in nanoseconds since Trace.SyncTime

	// Thread is the OS thread that the event is about, in the target's pid
	// namespace. For a V6 thread whose id the stream does not tell it is the
	// thread's index with the highest bit set: unique, but no id.
	Thread  uint64
	Process int64 // in the target's pid namespace; 0 if the stream does not tell
	Version int   // of the payload's layout; VersionUnknown: go by its length
	Payload []byte

	// More is how many rows were folded into this one, Sum what Want.Sum returned for
	// it and them together. Rows are only folded where Want.Sum allows it.
	More uint32
	Sum  uint64
}

// A Loss reports events that the runtime dropped, most often because its buffer
// was full. It is delivered in time order among the events.
type Loss struct {
	Thread   uint64 // that wrote the events; 0: several threads, for more losses than there is room for
	Process  int64  // 0: unknown, all may be concerned
	Events   uint32
	From, To int64 // nanoseconds since Trace.SyncTime: they were lost in between
	Ticks    int64 // To in ticks of the stream's clock
}

// Stats counts what the Reader has met so far.
type Stats struct {
	Bytes           int64 // of the stream, read and understood
	Rows            int64 // all events, wanted or not
	Lost            int64 // events that never made it into the stream
	Late            int64 // events delivered after a younger one
	UnknownMetadata int64 // rows that refer to metadata that was never declared
	SkippedLabels   int64 // label lists (V6) that cannot be read
}

// A Reader reads a nettrace stream event by event. The package comment shows
// how; see order.go for the order of the events.
type Reader struct {
	filter func(*Metadata) Want

	src     source
	trace   *Trace
	step    func(*Reader) error // reads on at a block boundary
	meta    metadataTable
	threads map[uint64]*captureThread
	evicted bool // threads was once too large
	labels  map[uint32]labelList
	sort    sorter
	stats   Stats

	block   block
	inBlock bool
	more    bool // the last block announces another one

	releasing      bool  // rows up to limit are due
	limit          int64 // in ticks
	pending        row   // due after them; its payload is in the block
	hasPending     bool
	pendingPayload []byte
	held           *chunk // memory of the current event
	newest         int64  // ticks of the newest event delivered

	event  Event
	loss   Loss
	isLoss bool
	end    error // why the stream ended; nil as long as it has not
	err    error
}

// NewReader returns a Reader of the stream r. It reads nothing yet.
//
// filter is asked once for each kind of event; rows of kinds that it does not want
// are never delivered and cost little more than their header, but losses among
// them are still found.
//
// An error of r whose Timeout method says true does not end the stream: Scan
// then returns false with that error, and can be called again. It is how a
// caller with a deadline on its socket gets the control back, to call Flush.
func NewReader(r io.Reader, filter func(*Metadata) Want) *Reader {
	x := &Reader{}
	x.Reset(r, filter)
	return x
}

// Reset makes the Reader read another stream with the memory that it has.
func (r *Reader) Reset(src io.Reader, filter func(*Metadata) Want) {
	*r = Reader{filter: filter, src: r.src, meta: r.meta, sort: r.sort, step: (*Reader).start}
	r.src.reset(src)
	r.meta.reset()
	r.sort.reset()
	r.threads = map[uint64]*captureThread{}
	r.labels = map[uint32]labelList{}
	r.newest = math.MinInt64
}

// Trace returns the head of the stream, nil as long as it has not been read.
// It is there whenever Event is.
func (r *Reader) Trace() *Trace { return r.trace }

// ReadTrace reads the head of the stream, up to its first block, and returns it.
func (r *Reader) ReadTrace() (*Trace, error) {
	for r.trace == nil {
		if r.end != nil {
			return nil, r.failure()
		}
		if err := r.step(r); err != nil {
			if isTimeout(err) {
				return nil, err
			}
			r.finish(err)
		}
	}
	return r.trace, nil
}

// Stats returns the counts so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Bytes = r.src.off
	return s
}

// Err returns why Scan returned false: nil at the regular end of the stream, a
// *KindError, a *FormatError, an error of the underlying reader, or its
// time-out.
func (r *Reader) Err() error { return r.err }

// Event returns the event that Scan found, nil if it found a loss.
func (r *Reader) Event() *Event {
	if r.isLoss {
		return nil
	}
	return &r.event
}

// Loss returns the loss that Scan found, nil if it found an event.
func (r *Reader) Loss() *Loss {
	if r.isLoss {
		return &r.loss
	}
	return nil
}

// Scan goes on to the next event or loss. It returns false at the end of the
// stream, and when there is an error: then Err tells which. What a damaged or
// truncated stream held before the damage is delivered first.
func (r *Reader) Scan() bool {
	r.sort.arena.release(r.held)
	r.held = nil
	for {
		switch {
		case r.releasing:
			if w := r.sort.next(r.limit); w != nil {
				r.deliver(w, w.payload())
				return true
			}
			if r.limit == math.MaxInt64 {
				if w := r.sort.spilledLoss(); w != nil {
					r.deliver(w, nil)
					return true
				}
			}
			r.releasing = false
			if r.hasPending {
				r.hasPending = false
				r.deliver(&r.pending, r.pendingPayload)
				return true
			}
		case r.inBlock:
			if err := r.walk(); err != nil {
				r.finish(err)
			}
		case r.end != nil:
			r.err = r.failure()
			return false
		default:
			if err := r.step(r); err != nil {
				if isTimeout(err) {
					r.err = err
					return false
				}
				r.finish(err)
			}
		}
	}
}

// MoreToCome tells, in a silence, whether the writer seems to be interrupted in the middle
// of what it writes at a time: the last block was full, or holds what another one needs.
// Flush is too early then.
func (r *Reader) MoreToCome() bool { return r.more }

// Flush makes the events that wait for their place in time due at once. It is
// for live streams: a runtime writes what it has about every 100 ms, so when no
// byte has come for as long, nothing older is on its way. In the middle of a
// block it does nothing.
func (r *Reader) Flush() {
	if !r.inBlock && !r.releasing && r.end == nil && len(r.src.unread()) == 0 {
		r.release(math.MaxInt64)
	}
}

func (r *Reader) release(limit int64) {
	r.releasing, r.limit = true, limit
}

// finish notes the end of the stream; what waits is still delivered.
func (r *Reader) finish(err error) {
	r.end = err
	r.inBlock = false
	r.release(math.MaxInt64)
}

func (r *Reader) failure() error {
	if errors.Is(r.end, errEndOfStream) {
		return nil
	}
	return r.end
}

func (r *Reader) deliver(w *row, payload []byte) {
	r.held = w.chunk
	if w.ticks < r.newest {
		r.stats.Late++
	} else {
		r.newest = w.ticks
	}
	if r.isLoss = w.loss != nil; r.isLoss {
		r.stats.Lost += int64(w.loss.events)
		r.loss = Loss{
			Thread: w.about.tid, Process: w.about.process, Events: w.loss.events,
			From: r.trace.Nanoseconds(w.loss.since), To: r.trace.Nanoseconds(w.ticks), Ticks: w.ticks,
		}
		return
	}
	e := &r.event
	e.Meta, e.Ticks, e.Time = w.meta, w.ticks, r.trace.Nanoseconds(w.ticks)
	if w.about != nil {
		e.Thread, e.Process = w.about.tid, w.about.process
	} else {
		e.Thread, e.Process = w.thread, r.trace.ProcessID
	}
	e.Version, e.Payload = int(w.version), payload
	e.More, e.Sum = w.more, w.sum
}

// errEndOfStream is the end that a stream itself declares.
var errEndOfStream = errors.New("end of stream")

func (r *Reader) corrupt(off int64, block, format string, args ...any) error {
	return &FormatError{Offset: off, Block: block, Msg: fmt.Sprintf(format, args...)}
}

// require is source.need for bytes without which the stream cannot go on.
func (r *Reader) require(n int, block, missing string) error {
	err := r.src.need(n)
	if err == nil || isTimeout(err) {
		return err
	}
	at := r.src.off + int64(len(r.src.unread()))
	if errors.Is(err, io.EOF) {
		return &FormatError{Offset: at, Block: block, Msg: missing, Err: io.ErrUnexpectedEOF}
	}
	return fmt.Errorf("reading the nettrace stream at byte %d: %w", at, err)
}

// start reads the first bytes and decides which of the two containers follows.
func (r *Reader) start() error {
	if err := r.src.need(len(magicNettrace)); err != nil && !errors.Is(err, io.EOF) {
		if isTimeout(err) {
			return err
		}
		return fmt.Errorf("reading the nettrace stream: %w", err)
	}
	if string(r.src.unread()[:min(r.src.end-r.src.pos, len(magicNettrace))]) != string(magicNettrace) {
		// Not ours. More of it tells what it is; an error to read that does not matter.
		_ = r.src.need(sniffLen)
		return sniff(r.src.unread())
	}
	if err := r.require(len(magicNettrace)+4, "", "it ends in the preamble"); err != nil {
		return err
	}
	switch n := binary.LittleEndian.Uint32(r.src.unread()[len(magicNettrace):]); n {
	case uint32(len(magicFast)):
		return r.startV4()
	case 0:
		return r.startV6()
	default:
		return r.corrupt(int64(len(magicNettrace)), "", "the preamble has %d where V4 has 20 and V6 has 0", n)
	}
}
