package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Provider is a source of events in the runtime.
type Provider struct {
	Name     string
	Keywords uint64
	Level    uint32   // 0 to 5
	Filter   string   // arguments, "" for none
	Exclude  []uint32 // ids of events that are not wanted; only .NET 10 and up leave them out
}

// Config is what a session listens to.
type Config struct {
	BufferMB  uint32 // in the target; at least 1
	Providers []Provider
	// RundownGC asks for the two events with the GC's settings when the session
	// ends. Only runtimes that can send them without a whole rundown are asked.
	RundownGC bool
}

// Limits of the runtime, beyond which it hangs or ends.
const (
	maxLevel     = 5
	maxProviders = 1000
	maxBufferMB  = 16 << 10

	formatNettrace   = 1
	rundownKeywordGC = 1
	no               = 0
)

// Validate returns what is wrong with the configuration: some of it would end
// the target.
func (c *Config) Validate() error {
	switch n := len(c.Providers); {
	case c.BufferMB < 1 || c.BufferMB > maxBufferMB:
		return fmt.Errorf("a buffer of %d MB: it must be 1 to %d", c.BufferMB, maxBufferMB)
	case n < 1 || n > maxProviders:
		return fmt.Errorf("%d providers: there must be 1 to %d", n, maxProviders)
	}
	for _, p := range c.Providers {
		if p.Name == "" {
			return errors.New("a provider without a name")
		}
		if p.Level > maxLevel {
			return fmt.Errorf("provider %s with level %d: the highest is %d", p.Name, p.Level, maxLevel)
		}
	}
	return nil
}

// payload encodes the request for one of the CollectTracing commands.
func (c *Config) payload(command byte) []byte {
	var e encoder
	if command == cmdCollectTracing5 {
		e.u32(0) // the events come over this connection
	}
	e.u32(c.BufferMB)
	e.u32(formatNettrace)
	switch command {
	case cmdCollectTracing2:
		e.u8(no) // rundown: here it would be all of it
	case cmdCollectTracing3:
		e.u8(no)
		e.u8(no) // no stacks
	default:
		rundown := uint64(0)
		if c.RundownGC {
			rundown = rundownKeywordGC
		}
		e.u64(rundown)
		e.u8(no)
	}
	e.u32(uint32(len(c.Providers)))
	for _, p := range c.Providers {
		e.u64(p.Keywords)
		e.u32(p.Level)
		e.string(p.Name)
		e.string(p.Filter)
		if command == cmdCollectTracing5 {
			e.u8(no) // the ids are those that are left out
			e.u32(uint32(len(p.Exclude)))
			for _, id := range p.Exclude {
				e.u32(id)
			}
		}
	}
	return e.b
}

// A Stream is the nettrace stream of a session. It must be read until its end:
// while nobody reads, the target buffers, and then drops events.
type Stream struct {
	// IdleTimeout is how long Read waits for a byte before it returns an error that
	// wraps os.ErrDeadlineExceeded; reading can go on then. 0: for ever. It may wait up to
	// 50 ms longer, so that those who read many streams are woken up for all of them at once.
	IdleTimeout time.Duration

	conn   net.Conn
	client *Client
	id     uint64
	begun  event // a byte has come
	over   event // none will

	patient  bool // patience counts, until a byte comes
	patience time.Duration
	woken    atomic.Bool
}

// StartTracing starts a session, with the newest command that the runtime knows. ctx is
// for the request: how long the session lasts is up to Stop, or Close, and a Read that waits
// is ended by IdleTimeout or by Close only. Who gives up while the request is under way
// waits for its answer, for a second at most: without it .NET Core 3.1 crashes. A session
// that has begun with that is there, without an error, as if ctx were not done.
func (c *Client) StartTracing(ctx context.Context, cfg Config) (*Stream, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	commands := []struct {
		name string
		id   byte
	}{
		{"CollectTracing5", cmdCollectTracing5},
		{"CollectTracing4", cmdCollectTracing4},
		{"CollectTracing3", cmdCollectTracing3},
		{"CollectTracing2", cmdCollectTracing2},
	}
	for _, v := range commands {
		if known := atomic.LoadUint32(&c.collect); known != 0 && uint32(v.id) > known {
			continue
		}
		s := &Stream{client: c, begun: newEvent(), over: newEvent()}
		err := c.exchange(ctx, v.name, setEventPipe, v.id, cfg.payload(v.id), func(conn net.Conn, answer []byte) (bool, error) {
			d := decoder{b: answer}
			id := d.u64()
			if d.bad {
				return false, badAnswer(v.name, "it lacks the id of the session")
			}
			s.conn, s.id = conn, id
			return true, nil
		})
		switch {
		case s.conn != nil:
			atomic.StoreUint32(&c.collect, uint32(v.id))
			_ = s.conn.SetDeadline(time.Time{}) // that of who has given up
			return s, nil
		case !unknownCommand(err) || v.id == cmdCollectTracing2:
			return nil, err
		}
	}
	panic("unreachable")
}

// SendsGCSettings tells, once a session has been started, whether the runtime
// can send the GC's settings when a session ends, without a whole rundown.
func (c *Client) SendsGCSettings() bool { return atomic.LoadUint32(&c.collect) >= cmdCollectTracing4 }

// Read reads the stream. At its end it returns io.EOF, also where the target was
// killed: the end of a whole stream is told by the stream itself.
func (s *Stream) Read(p []byte) (int, error) {
	if s.IdleTimeout > 0 {
		if err := s.conn.SetReadDeadline(s.deadline()); err != nil {
			return 0, s.ended(err)
		}
		if s.woken.Swap(false) {
			return 0, os.ErrDeadlineExceeded
		}
	}
	n, err := s.conn.Read(p)
	if IsIdle(err) && !s.woken.Swap(false) {
		// On a busy host, or when this process stood still, the time may be over although there is
		// something to read: that is no silence.
		if err := s.conn.SetReadDeadline(time.Now().Add(peekTime)); err != nil {
			return 0, s.ended(err)
		}
		n, err = s.conn.Read(p)
	}
	s.patient = s.patient && n == 0
	if n > 0 {
		s.begun.happen()
	}
	return n, s.ended(err)
}

// ended makes io.EOF of the errors that say that the connection is there no more.
func (s *Stream) ended(err error) error {
	if err != nil && (connectionGone(err) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed)) {
		err = io.EOF
	}
	if err != nil && !IsIdle(err) {
		s.over.happen()
	}
	return err
}

// peekTime is how long is waited for what is there already.
const peekTime = time.Millisecond

// wakeEvery is the time at whose multiples silence ends in all streams.
const wakeEvery = 50 * time.Millisecond

func (s *Stream) deadline() time.Time {
	d := s.IdleTimeout
	if s.patient {
		d = s.patience
	}
	if d == 0 {
		return time.Time{}
	}
	end := time.Now().Add(d + wakeEvery - 1)
	return end.Add(-time.Duration(end.UnixNano() % int64(wakeEvery)))
}

// Patience says how long the silence that is on now may last before Read returns,
// instead of IdleTimeout; 0: until Wake. It is for who called Read.
func (s *Stream) Patience(d time.Duration) { s.patient, s.patience = true, d }

// Wake makes Read return as after a silence, if there is an IdleTimeout. Anybody can
// call it.
func (s *Stream) Wake() {
	s.woken.Store(true)
	_ = s.conn.SetReadDeadline(time.Unix(1, 0))
}

// Stop asks the runtime to end the session. It does so on a connection of its
// own; the stream must be read until io.EOF, because the runtime writes what
// it still has before it answers.
//
// It waits for the first byte of the stream, as long as a request may take, and closes the
// connection if none comes. A runtime that is still suspended in its start sends none, and
// StopTracing would make the next session, anybody's, crash it (docs/protocol.md, Stop).
func (s *Stream) Stop(ctx context.Context) error {
	head, cancel := context.WithTimeout(ctx, s.client.timeout())
	defer cancel()
	select {
	case <-s.begun.c:
	case <-s.over.c:
		return nil // the runtime has ended it
	case <-head.Done():
		if s.begun.happened() {
			return ctx.Err() // there may be more to read
		}
		_ = s.conn.Close()
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("StopTracing: the session has not begun: %w within %v", ErrNoAnswer, s.client.timeout())
	}
	var e encoder
	e.u64(s.id)
	_, err := s.client.request(ctx, "StopTracing", setEventPipe, cmdStopTracing, e.b)
	return err
}

// Discard ends a session whose stream nobody wants: it asks the runtime to, reads what that
// still writes, and closes the connection. It does so when ctx is done, or the time of a
// request is over, if the runtime has not ended the stream by then. Where a runtime can
// still be asked this is the way to leave it: not every one survives Close (docs/protocol.md,
// Stop). Nobody may read the stream meanwhile.
func (s *Stream) Discard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	defer s.conn.Close()
	defer context.AfterFunc(ctx, func() { _ = s.conn.Close() })()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_ = s.Stop(ctx) // what counts is that the stream ends
	}()
	s.IdleTimeout = 0
	_ = s.conn.SetDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, s)
	<-asked
}

// CloseRead has the runtime find nobody at the other end, as Close does; but what it has sent
// can still be read, where the system allows that, and Read returns io.EOF after it.
func (s *Stream) CloseRead() error { return closeRead(s.conn) }

func closeRead(conn net.Conn) error {
	if c, ok := conn.(interface{ CloseRead() error }); ok {
		return c.CloseRead()
	}
	return conn.Close()
}

// Close closes the connection. The runtime then ends the session by itself with
// the next event that it cannot write.
func (s *Stream) Close() error { return s.conn.Close() }

// An event happens at most once. Anybody can wait for it.
type event struct {
	c    chan struct{} // closed when it has happened
	once *sync.Once
}

func newEvent() event { return event{make(chan struct{}), new(sync.Once)} }

func (e event) happen() { e.once.Do(func() { close(e.c) }) }

func (e event) happened() bool {
	select {
	case <-e.c:
		return true
	default:
		return false
	}
}

// IsIdle reports whether an error of Read only says that no byte came in time.
func IsIdle(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
