package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// DefaultTimeout is how long a runtime may take to answer a request.
const DefaultTimeout = 5 * time.Second

// ErrNoAnswer says that a runtime took the connection and did not answer in
// time: it hangs, is stopped, or waits for something.
var ErrNoAnswer = errors.New("no answer")

// A Client sends requests to the runtime of one process.
type Client struct {
	// Dial connects to the runtime. Every request has a connection of its own.
	Dial func(ctx context.Context) (net.Conn, error)
	// Timeout is for each request; 0 is DefaultTimeout.
	Timeout time.Duration

	collect byte // the newest CollectTracing command that the runtime knows; 0: not tried
}

// request sends one command and returns the payload of the answer, and the
// connection if keep is set.
func (c *Client) request(ctx context.Context, name string, set, command byte, payload []byte, keep bool) ([]byte, net.Conn, error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, err := message(set, command, payload)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	conn, err := c.Dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	// The deadline of the context is not enough: it may be cancelled earlier.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	answer, err := exchange(conn, m, name)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("%s: %w within %v", name, ErrNoAnswer, timeout)
			if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
				err = cause
			}
		}
		return nil, nil, err
	}
	if !keep {
		_ = conn.Close()
		return answer, nil, nil
	}
	return answer, conn, nil
}

func exchange(conn net.Conn, m []byte, name string) ([]byte, error) {
	if _, err := conn.Write(m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	answer, err := readResponse(conn, name)
	var s *ServerError
	if err != nil && !errors.As(err, &s) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("%s: the runtime closed the connection without an answer: %w", name, err)
	}
	return answer, err
}

// ProcessInfo is what a runtime says about its process. .NET Core 3.1 knows no
// such command; older runtimes know less.
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

// ProcessInfo asks a runtime about its process, with the newest command that it
// knows.
func (c *Client) ProcessInfo(ctx context.Context) (*ProcessInfo, error) {
	for _, v := range []struct {
		name    string
		command byte
	}{{"ProcessInfo3", cmdProcessInfo3}, {"ProcessInfo2", cmdProcessInfo2}, {"ProcessInfo", cmdProcessInfo}} {
		answer, _, err := c.request(ctx, v.name, setProcess, v.command, nil, false)
		if unknownCommand(err) && v.command != cmdProcessInfo {
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
		d.u32() // version of the answer: it only grows at its end
	}
	p := &ProcessInfo{PID: d.u64(), Cookie: d.guid(), CommandLine: d.string(), OS: d.string(), Architecture: d.string()}
	if command != cmdProcessInfo {
		p.EntryAssembly, p.Version = d.string(), d.string()
	}
	if command == cmdProcessInfo3 {
		p.RID = d.string()
	}
	if d.bad {
		return nil, fmt.Errorf("%s: the answer ends inside a field", name)
	}
	return p, nil
}

// Resume lets a runtime go on that waits in its start for a monitor.
func (c *Client) Resume(ctx context.Context) error {
	_, _, err := c.request(ctx, "ResumeRuntime", setProcess, cmdResumeRuntime, nil, false)
	return err
}

// maxEnvironment is the size of an environment that is read; Linux allows 128 KB
// per string and a quarter of the stack for all.
const maxEnvironment = 4 << 20

// Environment returns the environment of the process as NAME=value. It may hold
// secrets.
func (c *Client) Environment(ctx context.Context) ([]string, error) {
	const name = "ProcessEnvironment"
	answer, conn, err := c.request(ctx, name, setProcess, cmdProcessEnvironment, nil, true)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	d := decoder{b: answer}
	size := d.u32()
	if d.bad || size > maxEnvironment {
		return nil, fmt.Errorf("%s: an environment of %d bytes, the limit is %d", name, size, maxEnvironment)
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	_ = conn.SetDeadline(time.Now().Add(timeout))
	b, err := readAll(conn, int(size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d = decoder{b: b}
	n := d.u32()
	var env []string
	for range n {
		s := d.string()
		if d.bad {
			return nil, fmt.Errorf("%s: the answer ends inside a string", name)
		}
		env = append(env, s)
	}
	return env, nil
}

// readAll reads n bytes. Memory grows with what comes, not with n.
func readAll(conn net.Conn, n int) ([]byte, error) {
	b := make([]byte, 0, min(n, 64<<10))
	buf := make([]byte, 32<<10)
	for len(b) < n {
		got, err := conn.Read(buf[:min(len(buf), n-len(b))])
		b = append(b, buf[:got]...)
		if err != nil && len(b) < n {
			return nil, err
		}
	}
	return b, nil
}
