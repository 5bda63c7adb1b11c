package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A file system that does not answer blocks its callers in the kernel, where not even SIGKILL
// reaches them: a program with such a thread cannot exit, and keeps its locks on files. (Seen on Linux
// 6.18 with FUSE whose server has read the request and does not answer: after exit_group and after
// SIGKILL the thread stays in request_wait_answer. SIGTERM does not even arrive, if the kernel chooses
// that thread for it.) So gclog has a helper, a separate process, access the file systems that may not
// answer. A helper that has answered is reused; one that does not answer in time is abandoned.

const (
	// helperTime is the time a helper has for a request.
	helperTime = 3 * time.Second
	// helperIdle is how long an idle helper waits for the next request.
	helperIdle = 10 * time.Second
	// maxHelpers is the maximum number of helpers at a time, including stuck ones. The limits for
	// one user other than root, and for one file system, are lower.
	maxHelpers         = 8
	maxHelpersOfUser   = 4
	maxHelpersOfDevice = 2
	// helperPatience is how long a look waits for a slot while others are running. It does not wait
	// for one that has been running longer: otherwise the file system of one process would delay
	// the looks at all others.
	helperPatience = 100 * time.Millisecond
	// maxExchange is the maximum size in bytes of a message between gclog and a helper.
	maxExchange = 4 << 20
)

// helpers contains the helpers of a Host. A helper is idle (in idle), performs a task (in tasks),
// or has been abandoned; the task of an abandoned one stays in tasks until the helper has exited.
// mu guards all fields.
type helpers struct {
	mu    sync.Mutex
	idle  []*helper
	tasks map[*task]bool
	freed chan struct{} // closed when a task has ended; nil if nothing waits for that
}

// A task is a request that is given to a helper.
type task struct {
	underway
	device string
}

// A helper is a process that waits for requests.
type helper struct {
	conn    *net.UnixConn
	process *os.Process
	idle    *time.Timer // ends the helper when it fires
}

// stuck returns the number of helpers that do not answer.
func (hs *helpers) stuck() (n int) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for t := range hs.tasks {
		if t.isStuck() {
			n++
		}
	}
	return n
}

func (t *task) isStuck() bool { return time.Since(t.since) >= helperTime }

// perform has a helper perform a request. wait says whether the request may wait long for a slot.
func (hs *helpers) perform(
	ctx context.Context, command []string, p *Process, q *request, proc int, away *awayError, wait bool,
) (reply, error) {
	none := reply{FD: noFile}
	t, err := hs.begin(ctx, p, away, wait)
	if err != nil {
		return none, err
	}
	h, err := hs.take(command)
	if err != nil {
		hs.end(t)
		return none, refuse(p.PID, CauseNoAccess, err,
			"cannot be inspected: %v, and the helper process for that could not be started", away)
	}
	_ = h.conn.SetDeadline(t.since.Add(helperTime))
	a, err := h.ask(q, proc)
	if err != nil {
		h.leave(func() { hs.end(t) })
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return none, away.stuck(p)
		}
		return none, refuse(p.PID, CauseNoAccess, err,
			"cannot be inspected: %v, and the helper process for that failed", away)
	}
	hs.keep(h)
	hs.end(t)
	return a.reply()
}

func (e *awayError) stuck(p *Process) *TargetError {
	return refuse(p.PID, CauseStuck, nil,
		"cannot be inspected: its file system does not respond (%s at %s)", e.system, e.point)
}

// begin waits for a slot for a process and returns its task.
func (hs *helpers) begin(ctx context.Context, p *Process, away *awayError, wait bool) (*task, error) {
	late := time.After(helperTime)
	busy := func() error {
		return refuse(p.PID, CauseStuck, nil,
			"cannot be inspected now: %v, and other inspections of such file systems take long", away)
	}
	for {
		hs.mu.Lock()
		other, err := hs.inTheWay(p, away)
		if other == nil && err == nil {
			t := &task{underway{p.PID, p.StartKey, p.UID, time.Now()}, away.device}
			if hs.tasks == nil {
				hs.tasks = map[*task]bool{}
			}
			hs.tasks[t] = true
			hs.mu.Unlock()
			return t, nil
		}
		if hs.freed == nil {
			hs.freed = make(chan struct{})
		}
		freed := hs.freed
		hs.mu.Unlock()
		if err != nil {
			return nil, err
		}
		patience := helperPatience
		if wait {
			patience = helperTime // after that the other task is stuck
		}
		select {
		case <-freed:
		case <-time.After(time.Until(other.since.Add(patience))):
			if !wait {
				return nil, busy()
			}
		case <-late:
			return nil, busy()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// inTheWay returns the task that a process has to wait for, or nil if there is none. It returns an
// error if waiting is pointless.
func (hs *helpers) inTheWay(p *Process, away *awayError) (*task, error) {
	if _, stuck := hs.oldest(func(t *task) bool { return t.isOf(p) }); stuck > 0 {
		return nil, away.stuck(p)
	}
	ofUser := maxHelpersOfUser
	if p.UID == 0 {
		ofUser = maxHelpers
	}
	for _, group := range []struct {
		most    int
		belongs func(*task) bool
		who     string
	}{
		{maxHelpersOfDevice, func(t *task) bool { return t.device == away.device }, ""},
		{ofUser, func(t *task) bool { return t.uid == p.UID }, " of this user"},
		{maxHelpers, func(*task) bool { return true }, ""},
	} {
		list, stuck := hs.oldest(group.belongs)
		switch {
		case len(list) < group.most:
		case stuck == len(list) && group.most == maxHelpersOfDevice:
			return nil, away.stuck(p)
		case stuck == len(list):
			return nil, refuse(p.PID, CauseStuck, nil,
				"is not inspected: %v, and inspections of %d other processes%s are stuck", away, stuck, group.who)
		default:
			return list[stuck], nil
		}
	}
	return nil, nil
}

// oldest returns the tasks for which belongs is true, the oldest first, and the number of stuck
// ones among them.
func (hs *helpers) oldest(belongs func(*task) bool) (list []*task, stuck int) {
	for t := range hs.tasks {
		if belongs(t) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *task) int { return a.since.Compare(b.since) })
	for _, t := range list {
		if t.isStuck() {
			stuck++
		}
	}
	return list, stuck
}

func (hs *helpers) end(t *task) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	delete(hs.tasks, t)
	if hs.freed != nil {
		close(hs.freed)
		hs.freed = nil
	}
}

// take returns an idle helper or a new one.
func (hs *helpers) take(command []string) (*helper, error) {
	hs.mu.Lock()
	n := len(hs.idle)
	if n == 0 {
		hs.mu.Unlock()
		return startHelper(command)
	}
	h := hs.idle[n-1]
	hs.idle = hs.idle[:n-1]
	hs.mu.Unlock()
	h.idle.Stop()
	return h, nil
}

// keep makes a helper idle. It ends after helperIdle without a request.
func (hs *helpers) keep(h *helper) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.idle = append(hs.idle, h)
	h.idle = time.AfterFunc(helperIdle, func() {
		hs.mu.Lock()
		defer hs.mu.Unlock()
		if i := slices.Index(hs.idle, h); i >= 0 {
			hs.idle = slices.Delete(hs.idle, i, i+1)
			h.leave(func() {})
		}
	})
}

// startHelper starts a helper. The helper exits when its connection is closed.
func startHelper(command []string) (*helper, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "helper")
	defer theirs.Close()
	conn, err := toConn(fds[0])
	if err != nil {
		return nil, err
	}
	// It inherits none of our files: otherwise a reader of our output would wait for an abandoned
	// helper.
	cmd := &exec.Cmd{
		Path: procRoot + "/self/exe", // even if the file has been replaced since
		Args: command, Env: append(os.Environ(), "GOMAXPROCS=1"), Dir: "/", ExtraFiles: []*os.File{theirs},
	}
	if err := cmd.Start(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &helper{conn: conn.(*net.UnixConn), process: cmd.Process}, nil
}

// leave ends a helper and calls ended when it has exited. A stuck helper stays until it is no
// longer stuck.
func (h *helper) leave(ended func()) {
	_ = h.conn.Close()
	_ = h.process.Kill()
	go func() {
		_, _ = h.process.Wait()
		ended()
	}()
}

// An answer is the message that a helper sends back.
type answer struct {
	Reply reply
	HasFD bool
	Errno syscall.Errno // of the error; 0 if the error has only a text
	Error string        // "" if there was no error

	fd int
}

func (a *answer) reply() (reply, error) {
	r := a.Reply
	r.FD = a.fd
	switch {
	case a.Error == "":
		return r, nil
	case a.Errno != 0:
		return r, a.Errno
	}
	return r, errors.New(a.Error)
}

// ask sends a request and receives the answer.
func (h *helper) ask(q *request, proc int) (a answer, err error) {
	if err := send(h.conn, q, proc); err != nil {
		return a, err
	}
	if a.fd, err = receive(h.conn, &a); err != nil {
		return a, err
	}
	if a.HasFD != (a.fd != noFile) {
		closeFile(&a.fd)
		return a, errors.New("it sent no file")
	}
	return a, nil
}

// helperFile is the descriptor of a helper's connection.
const helperFile = 3

// ServeHelper is the main function of a Host's helper: it receives requests over file descriptor 3
// and answers them until that connection is closed.
func ServeHelper() error {
	// The helper exits with the process that started it, not when a signal from a terminal ends
	// that process.
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	conn, err := toConn(helperFile)
	if err != nil {
		return errors.New("this command is internal: gclog uses it to inspect file systems that may not respond")
	}
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("file %d is not a unix socket", helperFile)
	}
	for {
		var q request
		proc, err := receive(c, &q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a := q.serve(proc)
		closeFile(&proc)
		err = send(c, &a, a.fd)
		closeFile(&a.fd)
		if err != nil {
			return err
		}
	}
}

// serve performs a request. It turns a panic into an error, because the helper has no output.
func (q *request) serve(proc int) (a answer) {
	a.fd = noFile
	defer func() {
		if x := recover(); x != nil {
			a.Error = fmt.Sprintf("a defect of gclog, please report it: %v\n%s", x, debug.Stack())
		}
	}()
	r, err := q.perform(proc, nil)
	a.Reply, a.fd, a.HasFD = r, r.FD, r.FD != noFile
	if err != nil {
		a.Error = err.Error()
		_ = errors.As(err, &a.Errno)
	}
	return a
}

// send writes a message after its length, together with a file if fd is one.
func send(conn *net.UnixConn, message any, fd int) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(message); err != nil { // gob preserves the bytes of a path
		return err
	}
	var rights []byte
	if fd != noFile {
		rights = unix.UnixRights(fd)
	}
	if _, _, err := conn.WriteMsgUnix(binary.LittleEndian.AppendUint32(nil, uint32(b.Len())), rights, nil); err != nil {
		return err
	}
	_, err := b.WriteTo(conn)
	return err
}

// receive reads a message, and the file that came with it, if any.
func receive(conn *net.UnixConn, message any) (fd int, err error) {
	length, rights := make([]byte, 4), make([]byte, unix.CmsgSpace(unix.SizeofInt))
	n, nRights, _, _, err := conn.ReadMsgUnix(length, rights)
	fd = receivedFile(rights[:nRights])
	if err == nil {
		_, err = io.ReadFull(conn, length[n:])
	}
	size := binary.LittleEndian.Uint32(length)
	if err == nil && size > maxExchange {
		err = fmt.Errorf("a message of %d bytes", size)
	}
	if err == nil {
		b := make([]byte, size)
		if _, err = io.ReadFull(conn, b); err == nil {
			err = gob.NewDecoder(bytes.NewReader(b)).Decode(message)
		}
	}
	if err != nil {
		closeFile(&fd)
	}
	return fd, err
}

func receivedFile(rights []byte) int {
	list, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(list) == 0 {
		return noFile
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) != 1 {
		return noFile
	}
	return fds[0]
}
