//go:build linux

package fakenode

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"golang.org/x/sys/unix"
)

// A stream is an open session, with the data that its reader has taken and has not taken yet. The
// runtime's lock guards it.
type stream struct {
	session *fakeruntime.Session
	raw     syscall.RawConn
	fd      int // keeps the socket after the connection is closed, until everything is known to be read; -1: it is
	index   int // of the ledger's session; -1: the stream is for settings only

	w       nettracetest.V4
	pending []byte // encoded and not written
	written int64  // bytes
	encoded int64  // bytes, including pending ones
	ends    []end  // of collections that are not written completely yet
	reset   bool   // a write has reported that the other end did not read everything
	unread  []end  // of collections that are written and not known to be read
	damaged []uint32
	opened  int64
	spoilt  bool // nothing that comes from now on can be read

	trickle  int64 // until this time one byte is sent per second
	lastByte int64
	metadata int64 // until this time endless metadata is sent
	extra    uint32

	left   chan struct{} // closed when the runtime has finished with the stream
	ending string        // how it ended
}

// An end is the position of a collection's last event in a stream.
type end struct {
	number uint32
	offset int64
}

const (
	// maxPending is how much may wait for a reader before events are dropped, like the buffer of a
	// real session.
	maxPending = 4 << 20
	maxBlock   = 100 << 10
)

func newStream(s *fakeruntime.Session, pid int) (*stream, error) {
	raw, err := s.Conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	t := &stream{session: s, raw: raw, fd: -1, index: -1, opened: monotonic(), left: make(chan struct{})}
	control := raw.Control(func(fd uintptr) { t.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(control, err); err != nil {
		return nil, err
	}
	appendHead(&t.w, pid, t.opened)
	t.take()
	return t, nil
}

// take moves what the writer has encoded to pending.
func (t *stream) take() {
	b := t.w.Take()
	t.encoded += int64(len(b))
	t.pending = append(t.pending, b...)
}

// add encodes events, thread by thread as a runtime does: no row precedes in time the first row of
// a thread in front of it. It returns how many events were dropped.
func (t *stream) add(events []event, heaps, drop int) (lost int) {
	if len(t.pending) > maxPending {
		drop = len(events)
	}
	for i := range events[:min(drop, len(events))] {
		e := &events[i]
		t.w.Lose(e.thread, 1)
		t.damaged = append(t.damaged, e.number)
		lost++
	}
	rest := events[lost:]
	if len(rest) == 0 {
		return lost
	}
	var payload [2048]byte
	var threads [8]uint64
	t.w.Open()
	for _, thread := range threadsOf(threads[:0], rest) {
		first := true
		for i := range rest {
			e := &rest[i]
			if e.thread != thread {
				continue
			}
			if len(t.w.Bytes) > maxBlock {
				t.w.Close()
				t.take()
				t.w.Open()
			}
			t.w.Add(nettracetest.Row{
				Kind: e.id, Thread: e.thread, Ticks: e.at, Sorted: first, Payload: e.appendPayload(payload[:0], heaps),
			})
			first = false
		}
	}
	t.w.Close()
	t.take()
	return lost
}

func threadsOf(list []uint64, events []event) []uint64 {
	for i := range events {
		if t := events[i].thread; !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// finished notes that all events of a collection are encoded; first is when it began.
func (t *stream) finished(number uint32, first int64) {
	whole := first > t.opened && !slices.Contains(t.damaged, number)
	t.damaged = slices.DeleteFunc(t.damaged, func(n uint32) bool { return n == number })
	if whole && !t.spoilt {
		t.ends = append(t.ends, end{number, t.encoded})
	}
}

// write writes what the socket accepts at once. It reports whether the reader is still there.
func (t *stream) write(now int64) bool {
	trickles := now < t.trickle
	if trickles {
		if now-t.lastByte < int64(time.Second) {
			return true
		}
		t.lastByte = now
	}
	there := true
	for len(t.pending) > 0 && there {
		b := t.pending
		if trickles {
			b = b[:1]
		}
		n := 0
		err := t.raw.Write(func(fd uintptr) bool {
			var err error
			n, err = unix.SendmsgN(int(fd), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			there = err == nil || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
			t.reset = t.reset || errors.Is(err, unix.ECONNRESET)
			return true
		})
		if err != nil || !there {
			return false
		}
		if n <= 0 {
			break
		}
		t.wrote(n)
		if trickles {
			break
		}
	}
	return true
}

// wrote notes that the next n bytes are written.
func (t *stream) wrote(n int) {
	t.written += int64(n)
	t.pending = t.pending[:copy(t.pending, t.pending[n:])]
}

// enter records what was written and read since the last call.
func (t *stream) enter(s *Session) {
	n := 0
	for n < len(t.ends) && t.ends[n].offset <= t.written {
		s.Sent = appendNumber(s.Sent, t.ends[n].number)
		n++
	}
	t.unread = append(t.unread, t.ends[:n]...)
	t.ends = t.ends[:copy(t.ends, t.ends[n:])]
	if t.fd < 0 {
		return
	}
	if rest, err := unix.IoctlGetInt(t.fd, unix.SIOCOUTQ); err != nil || rest > 0 {
		return // the kernel does not say how much of it was read
	}
	if t.discarded() {
		t.unread = nil
		return
	}
	for _, e := range t.unread {
		s.Read = appendNumber(s.Read, e.number)
	}
	t.unread = t.unread[:0]
}

// discarded reports whether the other end has closed the connection without reading everything. The
// kernel reports it once: to a write that waits, or here.
func (t *stream) discarded() bool {
	code, err := unix.GetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	return err != nil || code != 0 || t.reset
}

// hangUp ends the stream for the other end, which may still read what is written.
func (t *stream) hangUp() { _ = unix.Shutdown(t.fd, unix.SHUT_RDWR) }

// free closes the socket.
func (t *stream) free() {
	_ = unix.Close(t.fd)
	t.fd = -1
}

// finish encodes the end of a session.
func (t *stream) finish() {
	if t.session.Rundown {
		t.w.Open()
		t.w.Add(nettracetest.Row{Kind: rundownSettings().ID, Thread: threadUser, Ticks: monotonic(), Sorted: true, Payload: appendSettings(nil)})
		t.w.Close()
	}
	t.w.End()
	t.take()
}

// half encodes a block that is incomplete.
func (t *stream) half() {
	t.w.Open()
	for range 8 {
		t.w.Add(nettracetest.Row{Kind: rundownSettings().ID, Thread: threadUser, Ticks: monotonic(), Payload: appendSettings(nil)})
	}
	t.w.Close()
	t.w.Bytes = t.w.Bytes[:len(t.w.Bytes)/2]
	t.take()
	t.spoilt = true
}

// announce encodes the start of a block of 4 GB.
func (t *stream) announce() {
	t.w.Open()
	t.w.Close()
	size := len("EventBlock") + 15
	binary.LittleEndian.PutUint32(t.w.Bytes[size:], 0xFFFFFFF0)
	t.w.Bytes = append(t.w.Bytes, make([]byte, 64<<10)...)
	t.take()
	t.spoilt = true
}

// flood encodes metadata of events that do not exist.
func (t *stream) flood() {
	for range 32 {
		var list [64]nettracetest.Kind
		for i := range list {
			t.extra++
			list[i] = nettracetest.Kind{ID: 1<<16 + t.extra, Provider: "Fake-Provider", EventID: t.extra, Name: "An event that never comes", Version: 1}
		}
		t.w.Metadata(list[:]...)
	}
	t.take()
}
