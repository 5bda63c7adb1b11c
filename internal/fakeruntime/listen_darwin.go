package fakeruntime

import (
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

func pid() int { return os.Getpid() }

// listen creates the socket that a runtime in this process would create.
func listen(dir string) (net.Listener, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid())
	if err != nil {
		return nil, err
	}
	start := strconv.FormatInt(k.Proc.P_starttime.Sec, 10)
	return net.Listen("unix", filepath.Join(dir, "dotnet-diagnostic-"+strconv.Itoa(pid())+"-"+start+"-socket"))
}
