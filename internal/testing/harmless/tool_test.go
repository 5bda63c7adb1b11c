//go:build linux

package harmless

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
	"unicode/utf16"
)

// A tool is another diagnostics tool, like dotnet-trace or dotnet-monitor. It implements the
// protocol from its specification and shares no code with gclog, because gclog must not judge
// itself.
type tool struct {
	// connect returns a connection for one request.
	connect func() (net.Conn, error)
	port    *port // it listens there; nil: it connects to the default port of the runtime
}

const (
	ipcMagic = "DOTNET_IPC_V1\x00"

	setEventPipe = 2
	setProcess   = 4
	setServer    = 0xff

	stopTracing     = 1
	collectTracing2 = 3
	processInfo     = 0
	resumeRuntime   = 1

	ok             = 0
	unknownCommand = 0x80131385

	runtimeProvider = "Microsoft-Windows-DotNETRuntime"
	keywordGC       = 1
	informational   = 4

	// answerTime is how long a runtime may take to answer. It takes milliseconds.
	answerTime = 30 * time.Second
)

// errSilent means that a runtime did not answer.
var errSilent = errors.New("the runtime did not answer another tool")

// atDefaultPort returns a tool that connects to the default port of the runtime whose temporary
// directory is dir.
func atDefaultPort(dir string) *tool {
	return &tool{connect: func() (net.Conn, error) {
		path, err := defaultPort(dir)
		if err != nil {
			return nil, err
		}
		return net.Dial("unix", path)
	}}
}

// defaultPort returns the path of the only default port in a temporary directory.
func defaultPort(dir string) (string, error) {
	list, err := filepath.Glob(filepath.Join(dir, "dotnet-diagnostic-*-socket"))
	if err != nil || len(list) != 1 {
		return "", fmt.Errorf("%d default ports instead of one in %s: %w", len(list), dir, err)
	}
	return list[0], nil
}

// processInfo asks the runtime for its pid. It returns 0 for .NET Core 3.1, which does not support
// the request.
func (t *tool) processInfo() (pid int, err error) {
	answer, err := t.ask(setProcess, processInfo, nil)
	var code errorCode
	switch {
	case errors.As(err, &code) && code == unknownCommand:
		return 0, nil
	case err != nil:
		return 0, err
	case len(answer) < 8:
		return 0, fmt.Errorf("ProcessInfo has %d bytes", len(answer))
	}
	return int(binary.LittleEndian.Uint64(answer)), nil
}

// resume resumes a runtime that this tool's port suspends.
func (t *tool) resume() error {
	_, err := t.ask(setProcess, resumeRuntime, nil)
	return err
}

// An errorCode is the error with which a runtime refused a request.
type errorCode uint32

func (c errorCode) Error() string {
	return fmt.Sprintf("the runtime answers with error 0x%08x", uint32(c))
}

// ask sends a request on a new connection and returns the payload of the answer.
func (t *tool) ask(set, command byte, payload []byte) ([]byte, error) {
	conn, answer, err := t.exchange(set, command, payload)
	if err == nil {
		conn.Close()
	}
	return answer, err
}

func (t *tool) exchange(set, command byte, payload []byte) (conn net.Conn, answer []byte, err error) {
	conn, err = t.connect()
	if err != nil {
		return nil, nil, err
	}
	if answer, err = converse(conn, set, command, payload); err != nil {
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = errSilent
		}
		return nil, nil, fmt.Errorf("request %d.%d: %w", set, command, err)
	}
	return conn, answer, nil
}

func converse(conn net.Conn, set, command byte, payload []byte) (answer []byte, err error) {
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(message(set, command, payload)); err != nil {
		return nil, err
	}
	head := make([]byte, len(message(0, 0, nil)))
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint16(head[len(ipcMagic):])) - len(head)
	if !bytes.HasPrefix(head, []byte(ipcMagic)) || size < 0 {
		return nil, fmt.Errorf("an answer that begins with %q", head)
	}
	answer = make([]byte, size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, err
	}
	if head[16] == setServer && head[17] != ok && size >= 4 {
		return nil, errorCode(binary.LittleEndian.Uint32(answer))
	}
	return answer, conn.SetDeadline(time.Time{})
}

func message(set, command byte, payload []byte) []byte {
	const headSize = 20
	b := []byte(ipcMagic)
	b = binary.LittleEndian.AppendUint16(b, uint16(headSize+len(payload)))
	b = append(b, set, command, 0, 0)
	return append(b, payload...)
}

// A session is a session of another tool. Its stream is read immediately, and checked.
type session struct {
	tool    *tool
	conn    net.Conn
	id      uint64
	started chan struct{} // closed when the header of the stream has arrived
	ended   chan struct{} // closed at the end of the stream
	result  error         // what was wrong with it
}

// begin begins a session. The stream of a suspended runtime begins when it is resumed.
func (t *tool) begin(rundown bool) (*session, error) {
	var b []byte
	b = binary.LittleEndian.AppendUint32(b, 16) // MB
	b = binary.LittleEndian.AppendUint32(b, 1)  // nettrace
	b = append(b, map[bool]byte{true: 1}[rundown])
	b = binary.LittleEndian.AppendUint32(b, 1) // providers
	b = binary.LittleEndian.AppendUint64(b, keywordGC)
	b = binary.LittleEndian.AppendUint32(b, informational)
	b = appendString(b, runtimeProvider)
	b = binary.LittleEndian.AppendUint32(b, 0) // arguments
	conn, answer, err := t.exchange(setEventPipe, collectTracing2, b)
	if err != nil {
		return nil, err
	}
	if len(answer) != 8 {
		conn.Close()
		return nil, fmt.Errorf("the answer to CollectTracing2 has %d bytes", len(answer))
	}
	s := &session{tool: t, conn: conn, id: binary.LittleEndian.Uint64(answer), started: make(chan struct{}), ended: make(chan struct{})}
	go s.read()
	return s, nil
}

func appendString(b []byte, s string) []byte {
	units := append(utf16.Encode([]rune(s)), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func (s *session) read() {
	defer close(s.ended)
	first := true
	s.result = newWalker(s.conn).walk(func() {
		if first {
			close(s.started)
			first = false
		}
	})
}

// await waits for the header of the stream.
func (s *session) await() error {
	select {
	case <-s.started:
		return nil
	case <-s.ended:
		return s.result
	case <-time.After(answerTime):
		return fmt.Errorf("a session has not begun: %w", errSilent)
	}
}

// stop ends the session with StopTracing, and returns what was wrong with its stream.
func (s *session) stop() error {
	defer s.conn.Close()
	if err := s.await(); err != nil { // stopping it earlier may crash the runtime
		return err
	}
	if _, err := s.tool.ask(setEventPipe, stopTracing, binary.LittleEndian.AppendUint64(nil, s.id)); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return s.result
	case <-time.After(answerTime):
		return fmt.Errorf("a stopped session has not ended: %w", errSilent)
	}
}

// drop closes the connection of the session without stopping it.
func (s *session) drop() { s.conn.Close() }

// probe checks that the runtime serves this tool: its pid is pid, and a session is complete.
func (t *tool) probe(pid int) error {
	switch said, err := t.processInfo(); {
	case err != nil:
		return err
	case said != pid && said != 0:
		return fmt.Errorf("the runtime is process %d, not %d", said, pid)
	}
	s, err := t.begin(false)
	if err != nil {
		return err
	}
	return s.stop()
}
