// Package control implements the socket through which a daemon is administered: where it is, who
// may connect to it, and how to send it requests. Only root and the user of the daemon may connect.
// The kernel reports who connects, so this does not depend on file modes alone. A client makes sure
// in the same way that it is the daemon that answers, and not another process in its place.
package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// Auto is the path that means the default one.
const Auto = "auto"

// Paths of requests.
const (
	PathHealth  = "/healthz" // GET: the daemon is working
	PathReady   = "/readyz"  // GET: it has also looked for all processes
	PathStatus  = "/status"  // GET: all processes, as JSON
	PathReload  = "/reload"  // POST: reads the configuration again
	PathRotate  = "/rotate"  // POST: every output starts a new file
	PathHold    = "/hold"    // POST: see Hold
	PathRecords = "/records" // GET: see Records
)

// Path returns the path of the socket that a configuration names.
func Path(configured string) string {
	if configured == Auto {
		return usual()
	}
	return configured
}

// ErrInUse reports that another daemon listens there, or that the path is another file's.
var ErrInUse = errors.New("another gclog daemon listens there, or it is not a socket")

// Listen creates the socket, and its directory if that is missing. Connections of users other than
// root and the user of this process are closed.
func Listen(path string) (net.Listener, error) {
	l, err := listen(path)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &guarded{l}, nil
}

// guarded is a listener that closes connections of users who may not connect.
type guarded struct{ net.Listener }

// Accept implements net.Listener.
func (g *guarded) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil || isTrusted(conn) {
			return conn, err
		}
		_ = conn.Close()
	}
}

// A RefusedError is the daemon's answer to a request that it does not carry out.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

const (
	// answerTime is how long the daemon may take to answer.
	answerTime = 10 * time.Second
	// answerMost is how many bytes of an answer are read.
	answerMost = 64 << 20
	// headMost is how many bytes an answer may have in front of its body.
	headMost = 64 << 10
)

// Ask sends a request to the daemon whose socket is at path, and returns its answer. The error is a
// *RefusedError if the daemon refuses it.
func Ask(ctx context.Context, path, method, request string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://gclog"+request, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Close = true
	answer, err := roundTrip(ctx, path, r)
	if err != nil {
		return nil, explain(path, err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if err != nil {
		return nil, fmt.Errorf("the answer of the daemon at %s is truncated: %w", path, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, &RefusedError{strings.TrimSpace(string(b))}
	}
	return b, nil
}

// Hold asks the daemon whose socket is at path not to start or end a session with a process until
// release is called or this process ends. start is the process's host.Process.StartKey. A daemon
// that does not log the process has nothing to do. The error is a *RefusedError if the daemon cannot
// promise it.
func Hold(ctx context.Context, path string, pid int, start uint64) (release func(), err error) {
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	late := time.AfterFunc(answerTime, cancel)
	given := context.AfterFunc(ctx, cancel)
	defer given()
	r, err := http.NewRequestWithContext(held, http.MethodPost,
		fmt.Sprintf("http://gclog%s?pid=%d&start=%d", PathHold, pid, start), http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	answer, err := roundTrip(held, path, r)
	if err != nil {
		cancel()
		return nil, explain(path, err)
	}
	late.Stop()
	end := func() {
		cancel()
		_ = answer.Body.Close()
	}
	if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusNotFound {
		return end, nil
	}
	defer end()
	b, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	return nil, &RefusedError{strings.TrimSpace(string(b))}
}

// Records asks the daemon whose socket is at path for the records of a process, as JSON lines from
// now on. The answer ends with the session, when the daemon ends, or when it is read too slowly; it
// must be closed. The error is a *RefusedError if the daemon has no session with the process.
func Records(ctx context.Context, path string, pid int) (io.ReadCloser, error) {
	asking, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(answerTime, cancel)
	r, err := http.NewRequestWithContext(asking, http.MethodGet, fmt.Sprintf("http://gclog%s?pid=%d", PathRecords, pid),
		http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	answer, err := roundTrip(asking, path, r)
	if err != nil {
		cancel()
		return nil, explain(path, err)
	}
	late.Stop()
	if answer.StatusCode == http.StatusOK {
		return &endless{answer.Body, cancel}, nil
	}
	defer cancel()
	defer answer.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	return nil, &RefusedError{strings.TrimSpace(string(b))}
}

// endless is the body of an answer that lasts until it is closed.
type endless struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer. It does not wait for the rest of the answer.
func (e *endless) Close() error {
	e.cancel()
	return nil
}

// roundTrip sends a request on a connection of its own, which ends when ctx is done or with the
// body of the answer.
func roundTrip(ctx context.Context, path string, r *http.Request) (*http.Response, error) {
	conn, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if err := r.Write(conn); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	limited := &io.LimitedReader{R: conn, N: headMost}
	answer, err := http.ReadResponse(bufio.NewReader(limited), r)
	if err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	limited.N = math.MaxInt64 // callers limit the rest
	return answer, nil
}

// explain returns an error that says why no daemon answers.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf(
			"no daemon listens at %s: it is not running, or its configuration names another control.socket", path)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("no access to %s: only root and the daemon's user may query it", path)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the daemon at %s did not answer within %v", path, answerTime)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("the daemon at %s has closed the connection: only root and its own user may query it", path)
	}
	return fmt.Errorf("querying the daemon at %s: %w", path, err)
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := connect(ctx, path)
	if err != nil {
		return nil, err
	}
	if !isRoot() && !isTrusted(conn) { // root's daemon may run as any user
		_ = conn.Close()
		return nil, fmt.Errorf("the process listening at %s is not a daemon of root or of this user", path)
	}
	return conn, nil
}
