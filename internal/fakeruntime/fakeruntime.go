// Package fakeruntime is a diagnostics server that replays a recorded nettrace
// stream over a real socket, as the runtime of the process that it runs in would.
// gclog demo shows it to people without .NET; tests use it to make what a real
// runtime does too rarely.
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

// Config is what a fake runtime does.
type Config struct {
	Dir     string        // of the socket
	Stream  []byte        // recorded, V4
	Speed   float64       // 1: as it was recorded, 2: twice as fast; 0: at once
	Version string        // of the runtime; "" for .NET Core 3.1, which knows few commands
	Env     []string      // that ProcessEnvironment answers
	Ports   string        // DOTNET_DiagnosticPorts: where it announces itself, and whether it waits
	Silent  bool          // takes connections and never answers
	Hangup  bool          // closes connections without an answer
	Garbage bool          // answers what is not of the protocol
	Deaf    bool          // does not answer StopTracing, and does not end the session
	Refuse  uint32        // answers every CollectTracing with this error
	Cut     int           // closes the stream after so many bytes; 0: does not
	OnCut   func()        // is called then, before the stream is closed
	OnSent  func()        // is called when the whole recording is sent
	Delay   time.Duration // before each answer
	Log     func(string)  // is told each request and how each session ends; nil: nobody listens

	Listener net.Listener // where it is reached; nil: at a socket of this process in Dir
	PID      int          // of its process; 0: this one
	CookieOf int          // the process whose cookie it claims; 0: PID
	Instance uint16       // tells apart those that have the same PID one after the other
	Name     string       // of its program; "": fakeruntime
	// Trace carries out a session in the place of the recording, and returns how it
	// ended. The connection is closed after it.
	Trace func(*Session) (how string)
	// Meet tells how a request is met; nil: as the fields above say.
	Meet func(command uint16) Fault
}

// A Fault is what is done with a request before, or in the place of, its answer.
type Fault struct {
	Wait    <-chan struct{} // is waited for first; nil: nothing is
	Silent  bool            // it is never answered
	Hangup  bool            // the connection is closed
	Garbage bool            // it is answered with what is not of the protocol
	Refuse  uint32          // a CollectTracing is answered with this error; 0: it is not
}

// A Runtime is a running server.
type Runtime struct {
	cfg      Config
	listener net.Listener
	group    sync.WaitGroup
	closed   chan struct{}
	running  chan struct{} // closed when no port is waited for any more

	mu       sync.Mutex
	sessions map[uint64]*Session
	conns    map[net.Conn]bool
	next     uint64
	waiting  int // ports that have not resumed it yet

	requests atomic.Int64
}

// A Session is one that somebody has opened: the connection that the stream goes to.
type Session struct {
	ID   uint64
	Conn net.Conn
	// Rundown: it asks for the GC's settings at its end. gclog wants nothing else of such a
	// session, so the recording neither is cut in it nor counts as sent.
	Rundown bool
	Listens bool            // it asks for events
	Stopped <-chan struct{} // closed by StopTracing
	Over    <-chan struct{} // closed with the runtime

	stop chan struct{} // Stopped
	done chan struct{} // closed when all is written
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

// Running is closed when the program of the process runs: at once, unless a port
// of kind suspend has to let it.
func (r *Runtime) Running() <-chan struct{} { return r.running }

// Requests is how many requests came so far.
func (r *Runtime) Requests() int64 { return r.requests.Load() }

// Sessions is how many sessions are open.
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

// track has Close close a connection; it reports whether it is not too late.
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

// readRequest reads one request. The command is its set and its number.
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

// handle answers one request. It reports whether the connection is still needed:
// that of a session is.
func (r *Runtime) handle(conn net.Conn, command uint16, payload []byte) bool {
	r.requests.Add(1)
	r.log("request 0x%04x%s", command, describe(command, payload))
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

// meet is what the fields of the configuration say, at all times the same.
func (c *Config) meet(command uint16) Fault {
	return Fault{Silent: c.Silent || c.Deaf && command == 0x0201, Hangup: c.Hangup, Garbage: c.Garbage, Refuse: c.Refuse}
}

// knows reports whether a runtime of the version has a command.
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
		how := "cannot be answered"
		if answer(conn, 0, binary.LittleEndian.AppendUint64(nil, s.ID)) == nil {
			how = r.carryOut(s)
		}
		r.log("session %d %s", s.ID, how)
	})
}

// carryOut carries a session out. Like a runtime that a port suspends it sends nothing before it
// is resumed; a session that is stopped until then would make a real one crash with the next.
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

// stop ends a session. Like a runtime it answers when all is written.
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
