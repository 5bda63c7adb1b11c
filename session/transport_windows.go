package session

import (
	"errors"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

const pipeRoot = `\\.\pipe\`

// listen creates a pipe that runtimes connect to.
func listen(path string) (net.Listener, error) {
	return winio.ListenPipe(pipeRoot+path, nil)
}

// PeerProcess always returns an error: the peer of a pipe is unknown here.
func PeerProcess(net.Conn) (pid, uid int, err error) {
	return 0, 0, errors.New("the process at the other end of a pipe is unknown")
}

// peerStart always returns unknownStart on this system.
func peerStart(net.Conn, int) uint64 { return unknownStart }

func connectionGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}
