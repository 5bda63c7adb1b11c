package fakeruntime

import (
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/prometheus/procfs"
)

func pid() int { return os.Getpid() }

// listen creates the socket that a runtime in this process would create.
func listen(dir string) (net.Listener, error) {
	self, err := procfs.Self()
	if err != nil {
		return nil, err
	}
	stat, err := self.Stat()
	if err != nil {
		return nil, err
	}
	return net.Listen("unix", filepath.Join(dir, SocketName(pid(), stat.Starttime)))
}

// SocketName returns the name that a runtime gives its socket.
func SocketName(pid int, start uint64) string {
	return "dotnet-diagnostic-" + strconv.Itoa(pid) + "-" + strconv.FormatUint(start, 10) + "-socket"
}
