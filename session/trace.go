package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
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
	Exclude  []uint32 // ids of unwanted events; only .NET 10 and up leave them out
	// Only has the ids of the wanted events, if not all are; .NET 10 and up leave out the others. The GC sends
	// nothing more at its levels after a collection whose own events are left out: GCStart (1) and, at level 5,
	// GCJoin (203).
	Only []uint32
}

// A Config is the configuration of a session.
type Config struct {
	BufferMB  uint32 // in the target; at least 1
	Providers []Provider
	// RundownGC requests the two events with the GC's settings at the end of the session. It only
	// has an effect on runtimes that can send them without a whole rundown.
	RundownGC bool
	// RundownMethods requests the names of all methods with compiled code, and the modules, at the end
	// of the session. Before .NET 9 that is a whole rundown.
	RundownMethods bool
	// Stacks requests the call stacks of events, which .NET Core 3.1 to .NET 8 always send.
	Stacks bool
	// Unsafe permits sessions that walk or collect the heap, which kill certain runtimes: see AsksHeap.
	Unsafe bool
}

// Keywords of the runtime's provider that make it walk its heap in each full blocking collection, and
// do such a collection when the session starts. docs/protocol.md, Heap walks, has what was seen of
// each runtime.
const (
	runtimeProvider    = "Microsoft-Windows-DotNETRuntime"
	keywordHeapWalk    = 0x100000
	keywordHeapCollect = 0x800000
)

// AsksHeap reports whether the session makes the runtime walk its heap, and collect. Not every runtime
// survives that: NativeAOT 10 with server GC dies of SIGSEGV. Runtimes ignore the level here.
func (c *Config) AsksHeap() (walk, collect bool) {
	for _, p := range c.Providers {
		if strings.EqualFold(p.Name, runtimeProvider) {
			walk = walk || p.Keywords&keywordHeapWalk != 0
			collect = collect || p.Keywords&keywordHeapCollect != 0
		}
	}
	return walk, collect
}

// Limits of the runtime. Beyond them it hangs or crashes.
const (
	maxLevel     = 5
	maxProviders = 1000
	maxBufferMB  = 16 << 10

	formatNettrace = 1
	no             = 0
	yes            = 1

	// Keywords of the rundown.
	rundownGC      = 0x1
	rundownMethods = 0x8 | 0x10 | 0x20 // Loader, JIT, NGEN
)

// Validate returns an error if the configuration is invalid. Some invalid configurations would
// crash the target.
func (c *Config) Validate() error {
	switch n := len(c.Providers); {
	case c.BufferMB < 1 || c.BufferMB > maxBufferMB:
		return fmt.Errorf("a buffer of %d MB: it must be 1 to %d MB", c.BufferMB, maxBufferMB)
	case n < 1 || n > maxProviders:
		return fmt.Errorf("%d providers: there must be 1 to %d", n, maxProviders)
	}
	for _, p := range c.Providers {
		if p.Name == "" {
			return errors.New("a provider without a name")
		}
		if len(p.Exclude) > 0 && len(p.Only) > 0 {
			return fmt.Errorf("provider %s with both wanted and unwanted events", p.Name)
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
		e.u32(0) // the events are sent over this connection
	}
	e.u32(c.BufferMB)
	e.u32(formatNettrace)
	whole, stacks := byte(no), byte(no)
	if c.RundownMethods {
		whole = yes
	}
	if c.Stacks {
		stacks = yes
	}
	switch command {
	case cmdCollectTracing2:
		e.u8(whole) // rundown; this command only knows a whole one
	case cmdCollectTracing3:
		e.u8(whole)
		e.u8(stacks)
	default:
		rundown := uint64(0)
		if c.RundownGC {
			rundown |= rundownGC
		}
		if c.RundownMethods {
			rundown |= rundownMethods
		}
		e.u64(rundown)
		e.u8(stacks)
	}
	e.u32(uint32(len(c.Providers)))
	for _, p := range c.Providers {
		e.u64(p.Keywords)
		e.u32(p.Level)
		e.string(p.Name)
		e.string(p.Filter)
		if command == cmdCollectTracing5 {
			which, ids := byte(no), p.Exclude // those to leave out
			if len(p.Only) > 0 {
				which, ids = yes, p.Only
			}
			e.u8(which)
			e.u32(uint32(len(ids)))
			for _, id := range ids {
				e.u32(id)
			}
		}
	}
	return e.b
}

// A Stream is the nettrace stream of a session. It must be read until its end: if it is not read,
// the target buffers events and then drops them.
//
// A Stream starts without having received a byte. Read records the first byte, and later the end of
// the stream. Stop waits for either.
type Stream struct {
	// IdleTimeout is how long Read waits for a byte before it returns an error that wraps
	// os.ErrDeadlineExceeded. Reading can continue after that. 0 means forever. Read may wait up
	// to 50 ms longer, so that a process that reads many streams wakes up for all of them at once;
	// with a Poller up to 100 ms.
	IdleTimeout time.Duration
	// Prompt is for a stream whose silence says something: Read does not wait for others to wake up
	// with. It has no effect with a Poller.
	Prompt bool
	// Share waits until the session may be ended, and keeps it that way until release is called. nil: it
	// may be ended at any time. The error is that of ctx.
	Share func(ctx context.Context) (release func(), err error)

	conn    net.Conn
	client  *Client
	id      uint64
	polled  bool  // by a Poller
	started event // a byte has arrived
	over    event // no more bytes will arrive

	patient  bool // patience applies, until a byte arrives
	patience time.Duration
	woken    atomic.Bool
}

// StartTracing starts a session, with the latest command that the runtime supports. ctx only
// applies to the request: Stop or Close ends the session, and only IdleTimeout or Close ends a Read
// that waits. If ctx is done while the request is under way, StartTracing still waits for the
// answer, for at most one second: otherwise .NET Core 3.1 would crash. If that answer starts a
// session, StartTracing returns it without an error, as if ctx were not done.
//
// Sessions that walk or collect the heap must be Unsafe: the Client does not know its runtime.
func (c *Client) StartTracing(ctx context.Context, cfg Config) (*Stream, error) {
	if walk, collect := cfg.AsksHeap(); (walk || collect) && !cfg.Unsafe {
		return nil, errUnknownRuntime
	}
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
		s := &Stream{client: c, started: newEvent(), over: newEvent()}
		take := func(conn net.Conn, answer []byte) (keep bool, err error) {
			d := decoder{b: answer}
			id := d.u64()
			if d.bad {
				return false, badAnswer(v.name, "the session id is missing")
			}
			s.conn, s.id = conn, id
			return true, nil
		}
		err := c.exchange(ctx, v.name, setEventPipe, v.id, cfg.payload(v.id), take)
		switch {
		case s.conn != nil:
			atomic.StoreUint32(&c.collect, uint32(v.id))
			_ = s.conn.SetDeadline(time.Time{}) // a cancelled request has set one
			return s, nil
		case !IsUnknownCommand(err) || v.id == cmdCollectTracing2:
			return nil, err
		}
	}
	panic("unreachable")
}

// errUnknownRuntime reports a session that not every runtime survives.
var errUnknownRuntime = errors.New("a session that walks or collects the heap: not every runtime survives it")

// PollWith has a Poller wait for the data of the stream, if it can. It must be called before anything
// is read.
func (s *Stream) PollWith(p *Poller) { s.conn, s.polled = p.take(s.conn) }

// Read reads the stream. At its end Read returns io.EOF, even if the target was killed: whether the
// stream is complete is recorded in the stream itself.
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
	if IsIdle(err) && !s.woken.Swap(false) && !s.polled {
		// On a busy host, or if this process was suspended, the deadline may have passed although
		// there is data to read. That is not silence.
		if err := s.conn.SetReadDeadline(time.Now().Add(peekTime)); err != nil {
			return 0, s.ended(err)
		}
		n, err = s.conn.Read(p)
	}
	s.patient = s.patient && n == 0
	if n > 0 {
		s.started.happen()
	}
	return n, s.ended(err)
}

// ended turns the errors of a closed connection into io.EOF.
func (s *Stream) ended(err error) error {
	if err != nil && (connectionGone(err) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed)) {
		err = io.EOF
	}
	if err != nil && !IsIdle(err) {
		s.over.happen()
	}
	return err
}

// peekTime is how long Read waits for data that has already arrived.
const peekTime = time.Millisecond

// wakeEvery is the interval at whose multiples silence ends in all streams; pollEvery is that of the
// streams of a Poller, and how often it looks at them: as often as runtimes write. If the streams of
// a Poller are read within readTime of a look, silence counts from that look.
const (
	wakeEvery = 50 * time.Millisecond
	pollEvery = 100 * time.Millisecond
	readTime  = 10 * time.Millisecond
)

func (s *Stream) deadline() time.Time {
	d := s.IdleTimeout
	if s.patient {
		d = s.patience
	}
	if d == 0 {
		return time.Time{}
	}
	switch now := time.Now(); {
	case s.polled:
		return roundUp(now.Add(d-readTime), pollEvery)
	case s.Prompt:
		return now.Add(d)
	default:
		return roundUp(now.Add(d), wakeEvery)
	}
}

// roundUp returns the first multiple of an interval that is not before t.
func roundUp(t time.Time, every time.Duration) time.Time {
	t = t.Add(every - 1)
	return t.Add(-time.Duration(t.UnixNano() % int64(every)))
}

// SetPatience sets how long the current silence may last before Read returns, instead of IdleTimeout;
// 0: until Wake. It must be called by the goroutine that calls Read.
func (s *Stream) SetPatience(d time.Duration) { s.patient, s.patience = true, d }

// Wake makes Read return as after a silence, if there is an IdleTimeout. Any goroutine may call it.
func (s *Stream) Wake() {
	s.woken.Store(true)
	_ = s.conn.SetReadDeadline(time.Now())
}

// AwaitRelease waits until the session may be ended (see Share), as Stop does. A caller that gives
// Stop little time and closes the connection after that calls AwaitRelease first, because that ends
// the session too. The error is that of ctx.
func (s *Stream) AwaitRelease(ctx context.Context) error {
	if s.Share == nil {
		return nil
	}
	release, err := s.Share(ctx)
	if err == nil {
		release()
	}
	return err
}

// Stop asks the runtime to end the session, on a connection of its own. The stream must be read
// until io.EOF, because the runtime writes its remaining events before it answers.
//
// Stop waits for the first byte of the stream, for the time of a request, and closes the connection
// if none arrives. A runtime that is still suspended during startup sends none, and StopTracing
// would make the next session, of any tool, crash it (docs/protocol.md, Stop).
func (s *Stream) Stop(ctx context.Context) error {
	head, cancel := context.WithTimeout(ctx, s.client.timeout())
	defer cancel()
	select {
	case <-s.started.c:
	case <-s.over.c:
		return nil // the runtime has ended it
	case <-head.Done():
		if s.started.happened() {
			return ctx.Err() // there may be more to read
		}
		_ = s.conn.Close()
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("StopTracing: the session has not started: %w within %v", ErrNoAnswer, s.client.timeout())
	}
	if s.Share != nil {
		release, err := s.Share(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	var e encoder
	e.u64(s.id)
	_, err := s.client.request(ctx, "StopTracing", setEventPipe, cmdStopTracing, e.b)
	return err
}

// Discard ends a session whose stream is not needed: it asks the runtime to end it, reads what the
// runtime still writes, and closes the connection. If the runtime has not ended the stream when ctx
// is done or the time of a request is over, Discard closes the connection then; that time begins when
// the session may be ended. While a runtime can still be asked this is the right way to leave it,
// because not every runtime survives Close (docs/protocol.md, Stop). The stream must not be read
// concurrently.
func (s *Stream) Discard(ctx context.Context) {
	_ = s.AwaitRelease(ctx)
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	defer s.conn.Close()
	defer context.AfterFunc(ctx, func() { _ = s.conn.Close() })()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_ = s.Stop(ctx) // only the end of the stream matters
	}()
	s.IdleTimeout = 0
	_ = s.conn.SetDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, s)
	<-asked
}

// CloseRead makes the runtime's writes fail, as Close does. But where the system allows it, data
// that has already been sent can still be read, and Read then returns io.EOF.
func (s *Stream) CloseRead() error { return closeRead(s.conn) }

func closeRead(conn net.Conn) error {
	if c, ok := conn.(interface{ CloseRead() error }); ok {
		return c.CloseRead()
	}
	return conn.Close()
}

// Close closes the connection. The runtime ends the session when it next fails to write an event.
func (s *Stream) Close() error { return s.conn.Close() }

// An event happens at most once. Any goroutine can wait for it.
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

// IsIdle reports whether an error of Read only means that no byte arrived in time.
func IsIdle(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
