package daemon

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gclog/gclog/internal/attach"
)

const (
	// recordsMost is how many bytes wait for a client; one that reads more slowly is disconnected.
	recordsMost = 4 << 20
	// recordsTime is how long a client may take to accept what is sent to it at once.
	recordsTime = 10 * time.Second
)

// records sends the records of a process from now on, as JSON lines, until its session ends, the
// client closes the connection or is too slow.
func (d *Daemon) records(w http.ResponseWriter, r *http.Request) {
	pid, err := strconv.Atoi(r.FormValue("pid"))
	if err != nil {
		http.Error(w, "pid must be the number of a process", http.StatusBadRequest)
		return
	}
	lines, found := newBacklog(), false
	if !d.askFor(w, r, func() { found = d.tap(pid, lines) }) {
		return
	}
	if !found {
		http.Error(w, "the daemon has no session with process "+strconv.Itoa(pid), http.StatusNotFound)
		return
	}
	defer func() { _ = lines.Close() }()
	answer := http.NewResponseController(w)
	_ = answer.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/x-ndjson")
	send := func(b []byte) bool {
		_ = answer.SetWriteDeadline(time.Now().Add(recordsTime))
		_, err := w.Write(b)
		return err == nil && answer.Flush() == nil
	}
	for send(lines.take()) {
		select {
		case <-lines.more:
		case <-lines.done:
			_ = send(lines.take())
			return
		case <-r.Context().Done():
			return
		case <-d.stopped:
			return
		}
	}
}

// tap has the records of a process written to lines, and reports whether it has a session.
func (d *Daemon) tap(pid int, lines *backlog) bool {
	for k, p := range d.processes {
		if k.pid == pid && p.sup.state == stateOn && p.requests != nil {
			p.request(func(l *attach.Log) { l.Tap(lines) })
			return true
		}
	}
	return false
}

// A backlog is what waits for a client: the writer of a Log puts, the handler of the request takes.
type backlog struct {
	mu   sync.Mutex
	b    []byte
	more chan struct{} // receives a value when there is something to take
	done chan struct{} // closed when nothing more will be put
	over bool
}

func newBacklog() *backlog { return &backlog{more: make(chan struct{}, 1), done: make(chan struct{})} }

var errSlow = errors.New("the client is too slow")

// Write implements io.Writer. It never waits.
func (l *backlog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.b)+len(b) > recordsMost {
		return 0, errSlow
	}
	l.b = append(l.b, b...)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

// Close implements io.Closer.
func (l *backlog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.over = true
		close(l.done)
	}
	return nil
}

// take returns what waits.
func (l *backlog) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.b
	l.b = nil
	return b
}
