package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// dial connects to the socket and checks that the intended process is at the other end.
func (p *Process) dial(ctx context.Context) (net.Conn, error) {
	conn, err := look(ctx, p, func() (net.Conn, error) { return p.connect(ctx) }, func(c net.Conn) { _ = c.Close() })
	if err != nil {
		return nil, p.dialError(err)
	}
	peer, _, err := session.PeerProcess(conn)
	if err == nil && peer != p.PID {
		err = refuse(p.PID, CauseWrongPeer, nil, "does not listen on %s/%s: process %d does", p.tempDir, p.socket, peer)
	}
	if err == nil && !p.Alive() {
		err = refuse(p.PID, CauseNoSuchProcess, nil, "has exited") // its pid was reused
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (p *Process) connect(ctx context.Context) (net.Conn, error) {
	r, err := p.perform(ctx, &request{Kind: connect, Path: p.tempDir, Name: p.socket}, true)
	if err != nil {
		return nil, err
	}
	return toConn(r.FD)
}

func (p *Process) dialError(err error) error {
	switch _, known := errors.AsType[*TargetError](err); {
	case known:
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("connecting to process %d: %w", p.PID, session.ErrNoAnswer)
	case errors.Is(err, context.Canceled):
		return err
	}
	if !p.Alive() || p.exiting() {
		return refuse(p.PID, CauseNoSuchProcess, nil, "has exited")
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return refuse(p.PID, CauseStaleSocket, nil,
			"has a socket that no process listens on, left over from another process: %s/%s", p.tempDir, p.socket)
	case errors.Is(err, unix.ENOTSOCK):
		return refuse(p.PID, CauseNoSocket, nil,
			"no longer has a socket at %s/%s: the path is now a link or a regular file, which gclog does not follow",
			p.tempDir, p.socket).as("planted-link")
	case errors.Is(err, fs.ErrNotExist):
		return refuse(p.PID, CauseNoSocket, nil, "has removed its diagnostics socket: it is about to exit").
			as("socket-deleted")
	case errors.Is(err, fs.ErrPermission):
		return refuse(p.PID, CauseOtherUser, nil,
			"belongs to user %s (uid %d), gclog runs as uid %d and may not connect to its socket: run gclog as that "+
				"user or as root", p.User, p.UID, os.Geteuid())
	}
	return refuse(p.PID, CauseNoAccess, err, "cannot be reached over %s/%s", p.tempDir, p.socket)
}

// exiting reports whether the process still exists, but has no root folder any more in which its
// socket could be. It has not removed it then: it was killed, perhaps, and takes time to give back
// its memory.
func (p *Process) exiting() bool {
	if p.peer != nil {
		return false
	}
	_, err := os.Readlink(p.procPath("root"))
	return errors.Is(err, fs.ErrNotExist)
}
