// Package fakeruntime is a diagnostics server that replays a recorded nettrace
// stream over a real socket, as the runtime of the process that it runs in would.
// gclog demo shows it to people without .NET; tests use it to make what a real
// runtime does too rarely.
package fakeruntime

import (
	"encoding/binary"
	"errors"
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
	Silent  bool          // takes connections and never answers
	Refuse  uint32        // answers every CollectTracing with this error
	Cut     int           // closes the stream after so many bytes; 0: does not
	OnCut   func()        // is called then, before the stream is closed
	Delay   time.Duration // before each answer
}

// A Runtime is a running server.
type Runtime struct {
	cfg      Config
	listener net.Listener
	group    sync.WaitGroup
	closed   chan struct{}

	mu       sync.Mutex
	sessions map[uint64]*tracing
	next     uint64

	requests atomic.Int64
}

// A tracing is a session: the connection that the stream goes to.
type tracing struct {
	conn net.Conn
	stop chan struct{} // closed by StopTracing
	done chan struct{} // closed when all is written
	once sync.Once
}

// Start starts a server for this process.
func Start(cfg Config) (*Runtime, error) {
	l, err := listen(cfg.Dir)
	if err != nil {
		return nil, err
	}
	r := &Runtime{cfg: cfg, listener: l, closed: make(chan struct{}), sessions: map[uint64]*tracing{}}
	r.group.Go(r.serve)
	return r, nil
}

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
	for _, s := range r.sessions {
		_ = s.conn.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
	return err
}

func (r *Runtime) serve() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.group.Go(func() {
			if r.handle(conn) != nil {
				_ = conn.Close()
			}
		})
	}
}

const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = 20

	codeUnknownCommand = 0x80131385
)

// handle answers one request. It closes the connection, but for a session.
func (r *Runtime) handle(conn net.Conn) error {
	var head [headerSize]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	payload := make([]byte, int(binary.LittleEndian.Uint16(head[14:]))-headerSize)
	if _, err := io.ReadFull(conn, payload); err != nil {
		return err
	}
	r.requests.Add(1)
	if r.cfg.Silent {
		<-r.closed
		return io.EOF
	}
	time.Sleep(r.cfg.Delay)
	switch command := binary.BigEndian.Uint16(head[16:]); command {
	case 0x0201:
		return r.stop(conn, payload)
	case 0x0203, 0x0204, 0x0205, 0x0206:
		if r.cfg.Refuse != 0 {
			return answer(conn, 0xFF, le32(r.cfg.Refuse))
		}
		if !r.knows(command) {
			return answer(conn, 0xFF, le32(codeUnknownCommand))
		}
		return r.trace(conn)
	case 0x0400, 0x0404, 0x0408:
		if !r.knows(command) {
			return answer(conn, 0xFF, le32(codeUnknownCommand))
		}
		return answer(conn, 0, r.info(command))
	case 0x0402:
		if r.cfg.Version == "" {
			return answer(conn, 0xFF, le32(codeUnknownCommand))
		}
		return r.environment(conn)
	case 0x0401:
		return answer(conn, 0, le32(0))
	default:
		return answer(conn, 0xFF, le32(codeUnknownCommand))
	}
}

// knows tells whether a runtime of the version has a command.
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
	b = binary.LittleEndian.AppendUint64(b, uint64(pid()))
	b = append(b, 0xfa, 0xce, 0, 0, 0, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(pid()))
	b = append(b, 0, 0)
	for _, s := range []string{"fakeruntime", "Linux", "x64"} {
		b = appendString(b, s)
	}
	if command != 0x0400 {
		b = appendString(b, "fakeruntime")
		b = appendString(b, r.cfg.Version)
	}
	if command == 0x0408 {
		b = appendString(b, "linux-x64")
	}
	return b
}

func (r *Runtime) environment(conn net.Conn) error {
	b := le32(uint32(len(r.cfg.Env)))
	for _, e := range r.cfg.Env {
		b = appendString(b, e)
	}
	if err := answerOpen(conn, 0, append(le32(uint32(len(b))), 0, 0)); err != nil {
		return err
	}
	_, err := conn.Write(b)
	return errors.Join(err, conn.Close())
}

func (r *Runtime) trace(conn net.Conn) error {
	r.mu.Lock()
	r.next++
	id := r.next
	s := &tracing{conn: conn, stop: make(chan struct{}), done: make(chan struct{})}
	r.sessions[id] = s
	r.mu.Unlock()
	r.group.Go(func() {
		defer func() {
			_ = conn.Close()
			r.mu.Lock()
			delete(r.sessions, id)
			r.mu.Unlock()
			close(s.done)
		}()
		if answerOpen(conn, 0, binary.LittleEndian.AppendUint64(nil, id)) == nil {
			r.replay(s)
		}
	})
	return nil
}

// stop ends a session. Like a runtime it answers when all is written.
func (r *Runtime) stop(conn net.Conn, payload []byte) error {
	if len(payload) != 8 {
		return answer(conn, 0xFF, le32(0x80131384))
	}
	r.mu.Lock()
	s := r.sessions[binary.LittleEndian.Uint64(payload)]
	r.mu.Unlock()
	if s != nil {
		s.once.Do(func() { close(s.stop) })
		<-s.done
	}
	return answer(conn, 0, payload)
}

func answer(conn net.Conn, id byte, payload []byte) error {
	return errors.Join(answerOpen(conn, id, payload), conn.Close())
}

func answerOpen(conn net.Conn, id byte, payload []byte) error {
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
