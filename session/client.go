package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// DefaultTimeout is the time a runtime has to answer a request.
const DefaultTimeout = 5 * time.Second

// ErrNoAnswer reports that a runtime accepted the connection but did not answer in time: it hangs,
// is stopped, or is waiting for something.
var ErrNoAnswer = errors.New("no answer")

// A Client sends requests to the runtime of one process.
type Client struct {
	// Dial connects to the runtime. Each request uses a connection of its own.
	Dial func(ctx context.Context) (net.Conn, error)
	// Timeout is the time for each request; 0 means DefaultTimeout.
	Timeout time.Duration

	collect uint32 // atomic, as sessions may overlap: latest CollectTracing command the runtime supports; 0: not tried
}

// request sends one command and returns the payload of the answer.
func (c *Client) request(ctx context.Context, name string, set, command byte, payload []byte) ([]byte, error) {
	var answer []byte
	err := c.exchange(ctx, name, set, command, payload, func(conn net.Conn, b []byte) (bool, error) {
		answer = b
		return false, nil
	})
	return answer, err
}

// exchange sends one command. After the answer it calls take with the connection and the answer's
// payload, and take may continue to read. take reports whether it keeps the connection.
//
// All this must finish within the time for one request. After that time the error wraps
// ErrNoAnswer; if ctx is done, the error is that of ctx.
func (c *Client) exchange(
	ctx context.Context, name string, set, command byte, payload []byte,
	take func(net.Conn, []byte) (keep bool, err error),
) error {
	m, err := message(set, command, payload)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	timeout := c.timeout()
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = c.converse(limited, name, m, leaveTime(set, command), take)
	switch {
	case err == nil, limited.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded): // first: ctx may end right now
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%s: %w within %v", name, ErrNoAnswer, timeout)
}

func (c *Client) timeout() time.Duration {
	if c.Timeout == 0 {
		return DefaultTimeout
	}
	return c.Timeout
}

// graceTime is how long a cancelled request for a session still waits for its answer. .NET Core 3.1
// crashes with SIGSEGV if the connection is closed before it has answered, which takes it
// milliseconds.
const graceTime = time.Second

// leaveTime returns how long a request that has been sent must not be abandoned.
func leaveTime(set, command byte) time.Duration {
	if set == setEventPipe && command != cmdStopTracing {
		return graceTime
	}
	return 0
}

func (c *Client) converse(
	ctx context.Context, name string, m []byte, leave time.Duration, take func(net.Conn, []byte) (bool, error),
) (err error) {
	conn, err := c.Dial(ctx)
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			_ = conn.Close()
		}
	}()
	// The deadline of the context is not the only way it ends: it may be cancelled earlier.
	if err := ctx.Err(); err != nil {
		return err
	}
	given := make(chan struct{}) // closed when the request has been cancelled
	stop := context.AfterFunc(ctx, func() {
		defer close(given)
		_ = conn.SetDeadline(time.Now().Add(leave))
	})
	if _, err := conn.Write(m); err != nil {
		return closed(name, err)
	}
	answer, err := readResponse(conn, name)
	if err != nil {
		return err
	}
	if keep, err = take(conn, answer); err != nil {
		return err
	}
	if !stop() { // cancelled just now, but the answer has arrived
		<-given // else the function could still set a deadline after the caller has the connection
	}
	return nil
}

// ProcessInfo is what a runtime reports about its process. .NET Core 3.1 has no such command; older
// runtimes report fewer fields.
type ProcessInfo struct {
	PID           uint64 // in the process's own pid namespace
	Cookie        string // GUID of this instance of the runtime
	CommandLine   string
	OS            string
	Architecture  string
	EntryAssembly string // .NET 6 and up
	Version       string // .NET 6 and up
	RID           string // .NET 8 and up
}

// ProcessInfo asks a runtime about its process, with the latest command that it supports.
func (c *Client) ProcessInfo(ctx context.Context) (*ProcessInfo, error) {
	for _, v := range []struct {
		name    string
		command byte
	}{{"ProcessInfo3", cmdProcessInfo3}, {"ProcessInfo2", cmdProcessInfo2}, {"ProcessInfo", cmdProcessInfo}} {
		answer, err := c.request(ctx, v.name, setProcess, v.command, nil)
		if IsUnknownCommand(err) && v.command != cmdProcessInfo {
			continue
		}
		if err != nil {
			return nil, err
		}
		return decodeProcessInfo(answer, v.command, v.name)
	}
	panic("unreachable")
}

func decodeProcessInfo(b []byte, command byte, name string) (*ProcessInfo, error) {
	d := decoder{b: b}
	if command == cmdProcessInfo3 {
		d.u32() // version of the answer; later versions only append fields
	}
	text := func() string { return bounded(d.string(), maxText) }
	p := &ProcessInfo{
		PID:          d.u64(),
		Cookie:       d.guid(),
		CommandLine:  bounded(d.string(), maxCommandLine),
		OS:           text(),
		Architecture: text(),
	}
	if command != cmdProcessInfo {
		p.EntryAssembly, p.Version = text(), text()
	}
	if command == cmdProcessInfo3 {
		p.RID = text()
	}
	if d.bad {
		return nil, badAnswer(name, "the answer ends in the middle of a field")
	}
	return p, nil
}

// Resume resumes a runtime that a diagnostic port suspended during startup.
func (c *Client) Resume(ctx context.Context) error {
	_, err := c.request(ctx, "ResumeRuntime", setProcess, cmdResumeRuntime, nil)
	return err
}

// Environment passes each variable of the process's environment, in the form NAME=value, except those
// longer than 4096 characters.
func (c *Client) Environment(ctx context.Context, each func(variable string)) error {
	const name = "ProcessEnvironment"
	take := func(conn net.Conn, answer []byte) (keep bool, err error) {
		// The strings follow the answer, because they may be longer than a message.
		d := decoder{b: answer}
		size := d.u32()
		switch {
		case d.bad:
			return false, badAnswer(name, "its size is missing")
		case size > maxEnvironment:
			return false, badAnswer(name, "an environment of %d bytes, the limit is %d", size, maxEnvironment)
		}
		if err := readCounted(conn, int64(size), each); err != nil {
			return false, closed(name, err)
		}
		return false, nil
	}
	return c.exchange(ctx, name, setProcess, cmdProcessEnvironment, nil, take)
}
