// Package fakeruntime is a diagnostics server that replays a recorded nettrace stream over a real
// socket, as the runtime of the process that it runs in would. gclog demo shows it to people
// without .NET; tests use it to produce what a real runtime does too rarely.
package fakeruntime

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"
)

// Config describes what a fake runtime does.
type Config struct {
	Dir     string        // folder of the socket
	Stream  []byte        // a recording, V4
	Speed   float64       // 1: as recorded, 2: twice as fast; 0: all at once
	Version string        // of the runtime; "" for .NET Core 3.1, which supports few commands
	Env     []string      // answer to ProcessEnvironment
	Ports   string        // DOTNET_DiagnosticPorts: where it advertises itself, and whether it waits
	Silent  bool          // accepts connections and never answers
	Hangup  bool          // closes connections without an answer
	Garbage bool          // answers with bytes that violate the protocol
	Deaf    bool          // does not answer StopTracing, and does not end the session
	Refuse  uint32        // answers every CollectTracing with this error
	Cut     int           // closes the stream after that many bytes; 0: does not
	OnCut   func()        // called before the stream is cut
	OnSent  func()        // called when the whole recording has been sent
	Delay   time.Duration // before each answer
	// Walked is closed when the heap has been walked: a session that asks for that is answered only
	// then, as by .NET 8 to 10; nil: at once.
	Walked <-chan struct{}
	Log    func(string) // receives a line for each request and for the end of each session; nil: none

	Listener net.Listener // where it accepts connections; nil: at a socket of this process in Dir
	PID      int          // pid of its process; 0: this process
	CookieOf int          // the process whose cookie it claims; 0: PID
	Instance uint16       // distinguishes runtimes that have the same PID one after the other
	Name     string       // of its program; "": fakeruntime
	// Trace runs a session instead of replaying the recording, and returns how it ended. The
	// connection is closed afterwards.
	Trace func(*Session) (how string)
	// Meet returns the fault of a request; nil: the faults that the fields above describe.
	Meet func(command uint16) Fault
	// NativeAOT and Server are what it claims to be. A request that such a runtime would not survive is
	// a mistake of the program that sends it, and panics, unless the socket is Public.
	NativeAOT bool
	Server    bool
	Public    bool // every program of the user may send requests
}

// A Fault is what happens to a request before or instead of its answer.
type Fault struct {
	Wait    <-chan struct{} // closed when the request may continue; nil: it does not wait
	Silent  bool            // the request is never answered
	Hangup  bool            // the connection is closed
	Garbage bool            // the answer violates the protocol
	Refuse  uint32          // a CollectTracing is answered with this error; 0: it is not
}

// A Runtime is a running server.
type Runtime struct {
	cfg      Config
	listener net.Listener
	group    sync.WaitGroup
	closed   chan struct{}
	running  chan struct{} // closed when no port keeps the runtime suspended

	mu       sync.Mutex
	sessions map[uint64]*Session
	conns    map[net.Conn]bool
	next     uint64
	waiting  int // number of ports that have not resumed it yet

	requests atomic.Int64
}

// A Session is an open session: the connection that the stream goes to.
type Session struct {
	ID   uint64
	Conn net.Conn
	// Rundown: the session asks for the GC's settings at its end. gclog needs nothing else from
	// such a session, so the recording is not cut in it and does not count as sent.
	Rundown bool
	Listens bool            // the session asks for events
	Stopped <-chan struct{} // closed by StopTracing
	Over    <-chan struct{} // closed with the runtime

	stop chan struct{} // Stopped
	done chan struct{} // closed when everything is written
	once sync.Once
}

// Start starts a server, for this process unless the configuration says otherwise.
func Start(cfg Config) (*Runtime, error) {
	if cfg.Listener == nil {
		l, err := listen(cfg.Dir)
		if err != nil {
			return nil, err
		}
		cfg.Listener = l
	}
	if cfg.PID == 0 {
		cfg.PID = pid()
	}
	if cfg.Name == "" {
		cfg.Name = "fakeruntime"
	}
	if cfg.Meet == nil {
		cfg.Meet = cfg.meet
	}
	r := &Runtime{
		cfg: cfg, listener: cfg.Listener, closed: make(chan struct{}), running: make(chan struct{}),
		sessions: map[uint64]*Session{}, conns: map[net.Conn]bool{},
	}
	r.group.Go(r.serve)
	r.announce()
	return r, nil
}

// Running returns a channel that is closed when the program of the process runs: at once, unless a
// port of kind suspend has to resume the runtime first.
func (r *Runtime) Running() <-chan struct{} { return r.running }

// Requests returns the number of requests so far.
func (r *Runtime) Requests() int64 { return r.requests.Load() }

// Sessions returns the number of open sessions.
func (r *Runtime) Sessions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// Close ends the server and removes its socket.
func (r *Runtime) Close() error {
	close(r.closed)
	err := r.listener.Close()
	r.mu.Lock()
	for conn := range r.conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
	return err
}

// track makes Close close a connection. It returns false if the runtime is closed already.
func (r *Runtime) track(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.closed:
		_ = conn.Close()
		return false
	default:
	}
	r.conns[conn] = true
	return true
}

// release closes a connection.
func (r *Runtime) release(conn net.Conn) {
	r.mu.Lock()
	delete(r.conns, conn)
	r.mu.Unlock()
	_ = conn.Close()
}

func (r *Runtime) log(format string, args ...any) {
	if r.cfg.Log != nil {
		r.cfg.Log(fmt.Sprintf(format, args...))
	}
}

func (r *Runtime) serve() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		if !r.track(conn) {
			return
		}
		r.group.Go(func() {
			if command, payload, err := readRequest(conn); err != nil || !r.handle(conn, command, payload) {
				r.release(conn)
			}
		})
	}
}

const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = 20

	codeUnknownCommand = 0x80131385
)

// readRequest reads one request. The command consists of its set and its number.
func readRequest(conn net.Conn) (command uint16, payload []byte, err error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, max(0, int(binary.LittleEndian.Uint16(head[14:]))-headerSize))
	if _, err := io.ReadFull(conn, payload); err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint16(head[16:]), payload, nil
}

// handle answers one request. It reports whether the connection is still needed, as that of a
// session is.
func (r *Runtime) handle(conn net.Conn, command uint16, payload []byte) bool {
	r.requests.Add(1)
	r.log("request 0x%04x%s", command, describe(command, payload))
	r.mustBeHarmless(command, payload)
	fault := r.cfg.Meet(command)
	if fault.Wait != nil {
		select {
		case <-fault.Wait:
		case <-r.closed:
		}
	}
	switch {
	case fault.Silent:
		<-r.closed
		return false
	case fault.Hangup:
		return false
	case fault.Garbage:
		_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
		return false
	}
	time.Sleep(r.cfg.Delay)
	switch command {
	case 0x0201:
		r.stop(conn, payload)
	case 0x0203, 0x0204, 0x0205, 0x0206:
		switch {
		case fault.Refuse != 0:
			_ = answer(conn, 0xFF, le32(fault.Refuse))
		case !r.knows(command):
			_ = answer(conn, 0xFF, le32(codeUnknownCommand))
		default:
			r.trace(conn, command, payload)
			return true
		}
	case 0x0400, 0x0404, 0x0408:
		if !r.knows(command) {
			_ = answer(conn, 0xFF, le32(codeUnknownCommand))
			break
		}
		_ = answer(conn, 0, r.info(command))
	case 0x0402:
		if r.cfg.Version == "" {
			_ = answer(conn, 0xFF, le32(codeUnknownCommand))
			break
		}
		r.environment(conn)
	case 0x0401:
		r.resume()
		_ = answer(conn, 0, le32(0))
	default:
		_ = answer(conn, 0xFF, le32(codeUnknownCommand))
	}
	return false
}

// meet returns the fault that the fields of the configuration describe, which does not change over
// time.
func (c *Config) meet(command uint16) Fault {
	return Fault{Silent: c.Silent || c.Deaf && command == 0x0201, Hangup: c.Hangup, Garbage: c.Garbage, Refuse: c.Refuse}
}

// knows reports whether a runtime of the version supports a command.
func (r *Runtime) knows(command uint16) bool {
	if r.cfg.Version == "" {
		return command == 0x0203
	}
	var major int
	_, _ = fmt.Sscanf(r.cfg.Version, "%d.", &major)
	switch command {
	case 0x0206:
		return major >= 10
	case 0x0204, 0x0205:
		return major >= 9
	case 0x0408:
		return major >= 8
	case 0x0404:
		return major >= 6
	}
	return true
}

func (r *Runtime) info(command uint16) []byte {
	var b []byte
	if command == 0x0408 {
		b = le32(1)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(r.cfg.PID))
	b = append(b, r.cookie()...)
	for _, s := range []string{r.cfg.Name, "Linux", "x64"} {
		b = appendString(b, s)
	}
	if command != 0x0400 {
		b = appendString(b, r.cfg.Name)
		b = appendString(b, r.cfg.Version)
	}
	if command == 0x0408 {
		b = appendString(b, "linux-x64")
	}
	return b
}

func (r *Runtime) environment(conn net.Conn) {
	b := le32(uint32(len(r.cfg.Env)))
	for _, e := range r.cfg.Env {
		b = appendString(b, e)
	}
	if answer(conn, 0, append(le32(uint32(len(b))), 0, 0)) == nil {
		_, _ = conn.Write(b)
	}
}

func (r *Runtime) trace(conn net.Conn, command uint16, payload []byte) {
	r.mu.Lock()
	r.next++
	stop := make(chan struct{})
	request, ok := readTracing(command, payload)
	s := &Session{
		ID: r.next, Conn: conn, Rundown: request.rundown != 0, Listens: ok && request.listens(),
		Stopped: stop, Over: r.closed, stop: stop, done: make(chan struct{}),
	}
	r.sessions[s.ID] = s
	r.mu.Unlock()
	r.group.Go(func() {
		defer func() {
			r.release(conn)
			r.mu.Lock()
			delete(r.sessions, s.ID)
			r.mu.Unlock()
			close(s.done)
		}()
		if r.cfg.Walked != nil && request.walks() {
			select {
			case <-r.cfg.Walked:
			case <-r.closed:
			}
		}
		how := "cannot be answered"
		if answer(conn, 0, binary.LittleEndian.AppendUint64(nil, s.ID)) == nil {
			how = r.carryOut(s)
		}
		r.log("session %d %s", s.ID, how)
	})
}

// carryOut runs a session. Like a runtime that a port suspends it sends nothing before it is
// resumed; stopping a session before that would make a real runtime crash when the next one begins.
func (r *Runtime) carryOut(s *Session) (how string) {
	select {
	case <-r.running:
	case <-s.Stopped:
		return "was stopped before the runtime was resumed, which crashes it"
	case <-r.closed:
		return "ended with the runtime"
	}
	if r.cfg.Trace != nil {
		return r.cfg.Trace(s)
	}
	return r.replay(s)
}

// stop ends a session. Like a runtime it answers when everything is written.
func (r *Runtime) stop(conn net.Conn, payload []byte) {
	if len(payload) != 8 {
		_ = answer(conn, 0xFF, le32(0x80131384))
		return
	}
	r.mu.Lock()
	s := r.sessions[binary.LittleEndian.Uint64(payload)]
	r.mu.Unlock()
	if s != nil {
		s.once.Do(func() { close(s.stop) })
		<-s.done
	}
	_ = answer(conn, 0, payload)
}

func answer(conn net.Conn, id byte, payload []byte) error {
	b := append([]byte(magic), 0, 0, 0xFF, id, 0, 0)
	binary.LittleEndian.PutUint16(b[14:], uint16(headerSize+len(payload)))
	_, err := conn.Write(append(b, payload...))
	return err
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func appendString(b []byte, s string) []byte {
	units := append(utf16.Encode([]rune(s)), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}
