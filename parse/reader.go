package parse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// An Event is one row of the stream. The Reader owns it and its payload: both are valid until the
// next call of Scan.
type Event struct {
	Meta *Metadata

	Ticks int64 // time stamp in ticks of the stream's clock
	Time  int64 // the same in nanoseconds since Trace.SyncTime

	// Thread is the OS thread that the event is about, in the target's pid namespace. If a V6
	// stream does not contain the thread's id, Thread is the thread's index with the highest bit
	// set: unique, but not an id.
	Thread  uint64
	Process int64 // in the target's pid namespace; 0 if the stream does not contain it
	Version int   // of the payload's layout; VersionUnknown: decode by its length
	Payload []byte
	// Stack has the addresses of the call stack, the innermost frame first, of Trace.PointerSize bytes
	// each: see KeepStacks.
	Stack []byte

	// More is the number of rows that were folded into this one. Sum is the total of what Want.Sum
	// returned for this row and those. Rows are only folded if Want.Sum is set.
	More uint32
	Sum  uint64
}

// A Loss reports events that the runtime dropped, usually because its buffer was full. It is
// delivered in time order among the events.
type Loss struct {
	Thread   uint64 // the thread that wrote the events; 0: several (there was no room for separate losses)
	Process  int64  // 0: unknown, any process may be affected
	Events   uint32
	From, To int64 // nanoseconds since Trace.SyncTime; the events were lost between the two
	Ticks    int64 // To in ticks of the stream's clock
}

// Stats counts what the Reader has read so far.
type Stats struct {
	Bytes           int64 // of the stream, read and parsed
	Rows            int64 // all events, wanted or not
	Lost            int64 // events that were never written to the stream
	Late            int64 // events delivered after one with a later time stamp
	UnknownMetadata int64 // rows that refer to metadata that was never declared
	SkippedLabels   int64 // label lists (V6) that could not be read
	SkippedStacks   int64 // stacks for which there was no room, or that were damaged: see KeepStacks
	// Until is up to when the stream was recorded, in nanoseconds since Trace.SyncTime: the time of the
	// latest event, wanted or not, or of the latest sequence point. A runtime writes one when the session
	// ends.
	Until int64
}

// A Reader reads a nettrace stream event by event. The package comment shows how to use it;
// order.go explains the order of the events.
type Reader struct {
	filter  func(*Metadata) Want
	onBlock func(Block) // nil: nobody needs the blocks

	src     source
	trace   *Trace
	step    func(*Reader) error // continues at a block boundary
	meta    metadataTable
	threads map[uint64]*captureThread
	evicted bool // threads have been forgotten because there were too many
	labels  map[uint32]labelList
	stacks  *stackTable // nil: nobody needs stacks
	sort    sorter
	stats   Stats

	block   block
	inBlock bool
	more    bool // the last block suggests that another one follows

	releasing      bool  // rows up to limit are being delivered; set by release, cleared by Scan
	limit          int64 // in ticks
	pending        row   // delivered after them; its payload is in the block
	hasPending     bool
	pendingPayload []byte
	pendingStack   []byte
	held           *chunk // memory of the current event
	newest         int64  // latest time of the delivered events, in ticks
	until          int64  // Stats.Until, in ticks
	silence        uint64 // longestSilence in ticks; 0: before the first row
	rundown        bool   // the last rows were of kinds with Want.Rundown

	ahead *batches // finds events and losses; nil: the Reader itself does

	event  Event
	loss   Loss
	isLoss bool
	end    error // why the stream ended; nil until it has; set by finish
	err    error
}

// NewReader returns a Reader of the stream r. It reads nothing yet.
//
// The Reader calls filter once for each kind of event. Rows of kinds that it does not want are
// never delivered and cost little more than reading their headers, but losses among them are still
// detected.
//
// An error of r whose Timeout method returns true does not end the stream: Scan returns false, Err
// returns the error, and Scan can be called again. That is how a caller with a deadline on its
// socket regains control to call Flush.
func NewReader(r io.Reader, filter func(*Metadata) Want) *Reader {
	x := &Reader{}
	x.Reset(r, filter)
	return x
}

// Reset makes the Reader read another stream and reuses its memory.
func (r *Reader) Reset(src io.Reader, filter func(*Metadata) Want) {
	*r = Reader{filter: filter, src: r.src, meta: r.meta, sort: r.sort, step: (*Reader).start}
	r.src.reset(src)
	r.meta.reset()
	r.sort.reset()
	r.threads = map[uint64]*captureThread{}
	r.labels = map[uint32]labelList{}
	r.newest, r.until = math.MinInt64, math.MinInt64
}

// Trace returns the head of the stream, or nil if it has not been read yet. It is never nil when
// Event is not.
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
	if r.ahead != nil {
		return r.ahead.stats
	}
	s := r.stats
	s.Bytes = r.src.off
	if r.until != math.MinInt64 {
		s.Until = r.trace.Nanoseconds(r.until)
	}
	return s
}

// Err returns why Scan returned false: nil at the regular end of the stream, a
// *KindError, a *FormatError, an error of the underlying reader, or its
// time-out.
func (r *Reader) Err() error { return r.err }

// Event returns the event that Scan found, or nil if it found a loss.
func (r *Reader) Event() *Event {
	if r.isLoss {
		return nil
	}
	return &r.event
}

// Loss returns the loss that Scan found, or nil if it found an event.
func (r *Reader) Loss() *Loss {
	if r.isLoss {
		return &r.loss
	}
	return nil
}

// Scan advances to the next event or loss. It returns false at the end of the stream and on an
// error, which Err returns. The rows in front of the damage in a corrupt or truncated stream are
// delivered first.
func (r *Reader) Scan() bool {
	if r.ahead != nil {
		return r.ahead.next(r)
	}
	return r.scan()
}

func (r *Reader) scan() bool {
	r.sort.arena.release(r.held)
	r.held = nil
	for {
		switch {
		case r.releasing:
			if w := r.sort.next(r.limit); w != nil {
				r.deliver(w, w.payload(), w.addresses())
				return true
			}
			if r.limit == math.MaxInt64 {
				if w := r.sort.spilledLoss(); w != nil {
					r.deliver(w, nil, nil)
					return true
				}
			}
			r.releasing = false
			if r.hasPending {
				r.hasPending = false
				r.deliver(&r.pending, r.pendingPayload, r.pendingStack)
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

// Interrupted reports, while the stream is silent, whether the writer appears to have been
// interrupted in the middle of a batch: the last block was full, or it contained what a following
// block needs. It is then too early for Flush.
func (r *Reader) Interrupted() bool { return r.more }

// Flush makes the Reader deliver all waiting events at once. It is meant for live streams: a
// runtime writes its buffers about every 100 ms, so if no byte has arrived for that long, nothing
// older is still to come. In the middle of a block Flush does nothing.
func (r *Reader) Flush() {
	if !r.inBlock && !r.releasing && r.end == nil && len(r.src.unread()) == 0 {
		r.release(math.MaxInt64)
	}
}

// extend notes that the stream was still recorded at a time.
func (r *Reader) extend(ticks int64, rundown bool) {
	if ticks > r.until && !(r.rundown && rundown) && (uint64(ticks-r.until) <= r.silence || r.follows(ticks)) {
		r.until = ticks
	}
	r.rundown = rundown
}

// longestSilence is more than a stream has no row for: a time that is so much later is damaged.
const longestSilence = 7 * 24 * 3600 // seconds

// follows reports whether a time may follow what was read so far. If it may, extend has what it needs to
// decide about most of the times after it.
func (r *Reader) follows(ticks int64) bool {
	silence := min(r.trace.TicksPerSecond, math.MaxInt64/longestSilence) * longestSilence
	after := r.until
	if after == math.MinInt64 {
		after = r.trace.SyncTicks
	}
	d := ticks - after
	if (d < 0) != (ticks < after) || d > silence { // the former: d has overflowed
		return false
	}
	r.silence = uint64(silence)
	return true
}

func (r *Reader) release(limit int64) {
	r.releasing, r.limit = true, limit
}

// finish records why the stream ended. Waiting rows are still delivered.
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

func (r *Reader) deliver(w *row, payload, stack []byte) {
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
	e.Version, e.Payload, e.Stack = int(w.version), payload, stack
	e.More, e.Sum = w.more, w.sum
}

// errEndOfStream reports the end that the stream itself declares.
var errEndOfStream = errors.New("end of stream")

func (r *Reader) corrupt(off int64, block, format string, args ...any) error {
	return &FormatError{Offset: off, Block: block, Msg: fmt.Sprintf(format, args...)}
}

// require is like source.need, for bytes without which the stream cannot continue.
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
		// Not a nettrace stream. More bytes help to recognize what it is; an error while reading
		// them does not matter.
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
