package session

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Poller waits for the data of many streams, so that they wake up the program together. While data
// arrives it looks at its streams every pollEvery, and what arrives in between wakes up nothing.
// While all are silent it waits until something arrives or a Read has waited long enough.
//
// A stream that sends so much that its socket could become full in between is read as its data
// arrives, because a runtime whose writes wait loses events.
type Poller struct {
	outer int      // epoll: whatever makes the Poller look at its streams
	file  *os.File // of outer, for which Go's own poller waits
	inner int      // epoll: data has arrived at a stream
	timer int      // timerfd; for a timer of Go, two threads would wake up

	mu     sync.Mutex
	conns  map[int]*polledConn // by descriptor
	events []unix.EpollEvent   // room for one of each
	at     time.Time           // when the timer expires; zero: never
	closed bool
}

// NewPoller returns a Poller. Close it.
func NewPoller() (*Poller, error) {
	p := &Poller{conns: map[int]*polledConn{}, events: make([]unix.EpollEvent, 1)}
	var err, another, third error
	p.outer, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	p.inner, another = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	p.timer, third = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	err = errors.Join(
		err, another, third,
		unix.SetNonblock(p.outer, true), // otherwise Go's poller does not accept it
		epollAdd(p.outer, p.timer, unix.EPOLLIN|unix.EPOLLET),
		epollAdd(p.outer, p.inner, unix.EPOLLIN|unix.EPOLLONESHOT),
	)
	if err != nil {
		for _, fd := range []int{p.outer, p.inner, p.timer} {
			closeFile(&fd)
		}
		return nil, err
	}
	p.file = os.NewFile(uintptr(p.outer), "epoll")
	raw, err := p.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	go p.run(raw)
	return p, nil
}

func (p *Poller) run(raw syscall.RawConn) {
	var why [4]unix.EpollEvent
	for raw.Read(func(outer uintptr) bool { return epollTake(int(outer), why[:]) > 0 }) == nil {
		p.look()
	}
}

// look wakes up the streams at which data has arrived, and those whose Read has waited long enough.
func (p *Poller) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	arrived := p.events[:epollTake(p.inner, p.events)]
	for i := range arrived {
		if c := p.conns[int(arrived[i].Fd)]; c != nil && c.waiting {
			c.wake(nil)
		}
	}
	now := time.Now()
	var next time.Time
	for _, c := range p.conns {
		switch {
		case !c.waiting || c.due.IsZero():
		case !now.Before(c.due):
			c.wake(os.ErrDeadlineExceeded)
		case next.IsZero() || c.due.Before(next):
			next = c.due
		}
	}
	at, listen := plan(now, next, len(arrived) > 0)
	p.setTimer(at)
	if listen {
		epollListen(p.outer, p.inner)
	}
}

// plan returns when to look at the streams the next time, zero if there is no such time, and whether
// what arrives before is a reason to look too. arrived reports whether something has arrived that was
// not read yet; next is when a Read has waited long enough.
func plan(now, next time.Time, arrived bool) (at time.Time, listen bool) {
	soon := roundUp(now.Add(1), pollEvery)
	switch {
	case !next.IsZero() && !next.After(soon):
		return next, false
	case arrived:
		return soon, false
	}
	return next, true
}

func (p *Poller) setTimer(at time.Time) {
	if p.at = at; !at.IsZero() {
		timerSet(p.timer, time.Until(at))
	}
}

// expect makes sure that Read does not wait longer than it should.
func (p *Poller) expect(c *polledConn) {
	if c.due.IsZero() {
		return
	}
	if p.at.IsZero() || p.at.Sub(c.due) > time.Millisecond { // less is due to the clock
		p.setTimer(c.due)
	}
}

// take returns a connection that is read with the help of the Poller, instead of the given one, and
// reports whether that is possible.
func (p *Poller) take(conn net.Conn) (polled net.Conn, ok bool) {
	switch c := conn.(type) {
	case *connection:
		c.Conn, ok = p.take(c.Conn)
		return c, ok
	case *net.UnixConn:
		if polled := p.register(c); polled != nil {
			return polled, true
		}
	}
	return conn, false
}

// register returns nil if there are no more descriptors.
func (p *Poller) register(conn *net.UnixConn) *polledConn {
	c := &polledConn{Conn: conn, poller: p, fd: noFile, woken: make(chan error, 1)}
	_ = control(conn, func(fd int) {
		c.fd, _ = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		c.much, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF) // as a rule the runtime has the same
		c.much /= 4
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.watch(c.fd) {
		closeFile(&c.fd)
		return nil
	}
	p.conns[c.fd] = c
	if len(p.events) < len(p.conns) {
		p.events = append(p.events, unix.EpollEvent{})
	}
	_ = conn.Close() // Go's poller has it, and would wake up for what arrives
	return c
}

// watch has the kernel watch a descriptor, and reports whether it does.
func (p *Poller) watch(fd int) bool {
	if epollAdd(p.inner, fd, unix.EPOLLIN) != nil {
		return false
	}
	if epollAdd(p.outer, fd, unix.EPOLLONESHOT) != nil { // reports the end of the connection, once
		// Closing would not remove it: the connection has another descriptor.
		_ = unix.EpollCtl(p.inner, unix.EPOLL_CTL_DEL, fd, nil)
		return false
	}
	return true
}

// Close ends the Poller and closes its streams.
func (p *Poller) Close() error {
	p.mu.Lock()
	p.closed = true
	var rest []*polledConn
	for _, c := range p.conns {
		rest = append(rest, c)
	}
	p.mu.Unlock()
	for _, c := range rest {
		_ = c.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	closeFile(&p.inner)
	closeFile(&p.timer)
	return p.file.Close()
}

// A polledConn is a connection that is read with the help of a Poller.
type polledConn struct {
	net.Conn // closed: for the methods that a Stream does not need
	poller   *Poller

	mu sync.Mutex // held while fd is used without the Poller's lock
	fd int

	// Fields of the goroutine that reads:
	much int // the socket may become full if this much arrives while nobody reads
	got  int // bytes read since it last waited
	busy int // for how many waits it is read as its data arrives

	// Guarded by the Poller's lock:
	waiting bool
	woken   chan error // receives how the wait has ended
	due     time.Time  // when Read has waited long enough; zero: never
	closed  bool
}

// busyTimes is how many times in succession a stream that has sent much must have sent little, until
// it is no longer read as its data arrives.
const busyTimes = 16

func (c *polledConn) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		n, err := readArrived(c.fd, b)
		c.mu.Unlock()
		switch {
		case errors.Is(err, unix.EAGAIN):
			if err := c.wait(); err != nil {
				return 0, err
			}
		case errors.Is(err, unix.EBADF):
			return 0, net.ErrClosed
		case n == 0 && err == nil && len(b) > 0:
			return 0, io.EOF
		default:
			c.got += n
			return n, err
		}
	}
}

// wait waits until something arrives. An error says why there is nothing to wait for.
func (c *polledConn) wait() error {
	p := c.poller
	p.mu.Lock()
	if c.closed {
		p.mu.Unlock()
		return net.ErrClosed
	}
	c.waiting = true
	if c.isBusy() {
		epollListen(p.outer, c.fd)
	}
	p.expect(c)
	p.mu.Unlock()
	return <-c.woken
}

// isBusy reports whether the stream is read as its data arrives.
func (c *polledConn) isBusy() bool {
	switch {
	case c.got >= c.much:
		c.busy = busyTimes
	case c.busy > 0:
		c.busy--
	}
	c.got = 0
	return c.busy > 0
}

func (c *polledConn) wake(err error) {
	c.waiting = false
	c.woken <- err // has room
}

func (c *polledConn) SetReadDeadline(t time.Time) error {
	c.poller.mu.Lock()
	defer c.poller.mu.Unlock()
	c.due = t
	c.poller.expect(c)
	return nil
}

func (c *polledConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *polledConn) CloseRead() error {
	c.mu.Lock()
	err := unix.Shutdown(c.fd, unix.SHUT_RD)
	c.mu.Unlock()
	c.poller.mu.Lock()
	defer c.poller.mu.Unlock()
	if c.waiting {
		c.wake(nil) // to read the end
	}
	return err
}

func (c *polledConn) Close() error {
	p := c.poller
	p.mu.Lock()
	if !c.closed {
		c.closed = true
		delete(p.conns, c.fd)
		if c.waiting {
			c.wake(net.ErrClosed)
		}
	}
	p.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	closeFile(&c.fd)
	return nil
}
