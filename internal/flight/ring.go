package flight

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/parse"
)

// A Ring keeps the latest blocks of the stream of one session. Its methods are called by the
// goroutine that reads the stream. A nil Ring keeps nothing.
type Ring struct {
	o *Recorder

	trace    []byte // content of the Trace block; nil: it has not arrived
	clock    clock
	metadata []byte // all Metadata blocks, each after its size
	closed   bool   // the session has ended
	why      error  // why the ring keeps nothing

	// The kept blocks, each after its blockHead.
	head, tail place
	spare      *chunk // taken for the block that is being kept
	blocks     int
	newest     int64     // latest time in the blocks that have arrived, in ticks
	arrived    time.Time // when the last one did
	reduced    int64     // how far the stream has been reduced to records, in ticks
	open       int64     // when what is in progress, or was until recently, began, in ticks; 0: nothing is
	inProgress int64     // when it last was
	given      int64     // time up to which blocks are missing because there was no room, in ticks
	losses     []loss
}

// A clock converts between durations and ticks.
type clock struct{ sync, perSecond int64 }

func (c clock) ticks(d time.Duration) int64 {
	sec, rest := int64(d/time.Second), int64(d%time.Second)
	return sec*c.perSecond + rest*c.perSecond/int64(time.Second)
}

func (c clock) duration(ticks int64) time.Duration {
	if c.perSecond <= 0 {
		return 0
	}
	return time.Duration(ticks/c.perSecond)*time.Second +
		time.Duration(ticks%c.perSecond*int64(time.Second)/c.perSecond)
}

// A loss is a report of lost events: the sequence numbers of the events that are kept may not show
// it.
type loss struct {
	thread uint64
	events uint32
	ticks  int64 // time of the row that showed it
}

const (
	// maxBlock is more than any block of a runtime has.
	maxBlock = 1 << 20
	// maxMetadata is the most that the metadata of a session may take: a thousand times of what a
	// session of gclog has.
	maxMetadata = 4 << 20
	// maxLosses is how many losses are remembered.
	maxLosses = 64
)

// Reasons why nothing can be recorded.
var (
	errFormat   = errors.New("the stream is not in the format V4, the only one that the flight recorder knows")
	errMetadata = errors.New("the process declares more kinds of events than the flight recorder keeps")
	errNothing  = errors.New("no event of that time is in the memory of the flight recorder")
)

// Block keeps a block. It is meant for parse.Reader.OnBlock.
func (r *Ring) Block(b parse.Block) {
	m := r.o.m
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.why != nil || r.closed:
	case b.Major != 4:
		r.why = errFormat
	case b.Kind == parse.BlockTrace:
		r.trace = slices.Clone(b.Content)
		c := clock{int64(binary.LittleEndian.Uint64(r.trace[16:])), int64(binary.LittleEndian.Uint64(r.trace[24:]))}
		r.clock, r.newest, r.reduced, r.given = c, c.sync, c.sync, math.MinInt64
	case b.Kind == parse.BlockMetadata:
		r.declare(b.Content)
	default:
		r.add(&b)
	}
}

// declare keeps a Metadata block.
func (r *Ring) declare(content []byte) {
	if size := len(r.metadata) + 4 + len(content); size > cap(r.metadata) {
		grown := max(size, 2*cap(r.metadata))
		if size > maxMetadata || !r.o.m.reserve(r.o, int64(grown-cap(r.metadata))) {
			r.why = errMetadata
			r.discard()
			return
		}
		r.o.account(grown - cap(r.metadata))
		r.metadata = append(make([]byte, 0, grown), r.metadata...)
	}
	r.metadata = binary.LittleEndian.AppendUint32(r.metadata, uint32(len(content)))
	r.metadata = append(r.metadata, content...)
}

// A blockHead is what is known of a kept block.
type blockHead struct {
	kind  parse.BlockKind
	cut   bool // see parse.Block
	size  int
	at    int64 // latest time in the stream up to this block, in ticks
	first int64 // earliest time in the block; that of a Stack block is at
}

const blockHeadSize = 1 + 4 + 8 + 8

// cutBit is set in the kind of a block that is cut.
const cutBit = 0x80

func (h *blockHead) put(b *[blockHeadSize]byte) {
	b[0] = byte(h.kind)
	if h.cut {
		b[0] |= cutBit
	}
	binary.LittleEndian.PutUint32(b[1:], uint32(h.size))
	binary.LittleEndian.PutUint64(b[5:], uint64(h.at))
	binary.LittleEndian.PutUint64(b[13:], uint64(h.first))
}

// next reads the head of a block and advances to its content.
func (a *place) next() (h blockHead) {
	var b [blockHeadSize]byte
	a.read(b[:])
	h.kind, h.cut = parse.BlockKind(b[0]&^cutBit), b[0]&cutBit != 0
	h.size = int(binary.LittleEndian.Uint32(b[1:]))
	h.at = int64(binary.LittleEndian.Uint64(b[5:]))
	h.first = int64(binary.LittleEndian.Uint64(b[13:]))
	return h
}

// add keeps a block with events, stacks or a sequence point.
func (r *Ring) add(b *parse.Block) {
	r.arrived = time.Now()
	first, last, known := b.Times()
	if known {
		r.newest = max(r.newest, last)
	} else {
		first = r.newest
	}
	h := blockHead{kind: b.Kind, cut: b.Cut, size: len(b.Content), at: r.newest, first: first}
	if h.size > maxBlock || !r.room(blockHeadSize+h.size) {
		r.clear() // a stream with a hole is useless
		r.given = r.newest
	} else {
		var head [blockHeadSize]byte
		h.put(&head)
		r.append(head[:])
		r.append(b.Content)
		r.blocks++
	}
	r.o.passed(b)
}

// room takes the chunks that n more bytes need. It reports whether there are that many.
func (r *Ring) room(n int) bool {
	var taken place // chunks that are not in use yet
	count := 0
	defer func() {
		for taken.c != nil {
			c := taken.c
			taken.c = c.next
			r.o.m.give(r.o, c)
		}
	}()
	for {
		free := 0
		if r.tail.c != nil {
			free = chunkData - r.tail.off
		}
		if n <= free+count*chunkData {
			break
		}
		c := r.o.m.take(r.o) // may take blocks from this ring
		if c == nil {
			return false
		}
		c.next, taken.c = taken.c, c
		count++
	}
	if r.tail.c == nil && taken.c != nil {
		c := taken.c
		taken.c = c.next
		c.next = nil
		r.tail = place{c, 0}
		r.head = r.tail
	}
	r.spare, taken.c = taken.c, nil
	return true
}

// append appends to the list, for which there is room.
func (r *Ring) append(p []byte) {
	for len(p) > 0 {
		if r.tail.off == chunkData {
			c := r.spare
			r.spare = c.next
			c.next = nil
			r.tail.c.next = c
			r.tail = place{c, 0}
		}
		n := copy(r.tail.c.b[r.tail.off:], p)
		p, r.tail.off = p[n:], r.tail.off+n
	}
}

// oldest returns what is known of the oldest block.
func (r *Ring) oldest() blockHead {
	a := r.head
	return a.next()
}

// drop forgets the oldest block.
func (r *Ring) drop() {
	h := r.oldest()
	r.head.skip(blockHeadSize+h.size, func(c *chunk) { r.o.m.give(r.o, c) })
	if r.blocks--; r.blocks == 0 {
		r.o.m.give(r.o, r.head.c)
		r.head, r.tail = place{}, place{}
	}
}

// clear forgets all blocks.
func (r *Ring) clear() {
	for r.blocks > 0 {
		r.drop()
	}
}

// discard returns all memory.
func (r *Ring) discard() {
	r.clear()
	r.o.account(-cap(r.metadata))
	r.metadata = nil
}

// Lost reports that events were lost, as the Reader delivers it.
func (r *Ring) Lost(l *parse.Loss) {
	if r == nil {
		return
	}
	r.o.m.mu.Lock()
	defer r.o.m.mu.Unlock()
	if len(r.losses) == maxLosses {
		r.losses = slices.Delete(r.losses, 0, 1)
	}
	r.losses = append(r.losses, loss{l.Thread, l.Events, l.Ticks})
}

// Reduced reports how far the stream has been reduced to records, and when the oldest of the
// collections that are in progress began, both in ticks; open 0: none is in progress. Events that are
// too old for a recording of what comes next are forgotten.
func (r *Ring) Reduced(now, open int64) {
	if r == nil {
		return
	}
	r.o.m.mu.Lock()
	defer r.o.m.mu.Unlock()
	r.reduced = now
	// What has ended is still to be reported.
	if over := now-r.inProgress > r.clock.ticks(settle); r.open == 0 || over || open != 0 && open <= r.open {
		r.open, r.inProgress = open, now
	}
	r.o.forget()
}

// needed returns since when the events may be needed for a recording of what is reported after some
// more time.
func (r *Ring) needed(later time.Duration) int64 {
	now := r.reduced + r.clock.ticks(later)
	if r.open != 0 {
		return min(now, max(r.open, now-r.clock.ticks(longest)))
	}
	return now
}

// Close reports that the session has ended. What it has sent is kept until it is too old.
func (r *Ring) Close() {
	if r == nil {
		return
	}
	r.o.m.mu.Lock()
	defer r.o.m.mu.Unlock()
	r.closed = true
	r.o.ended()
}
