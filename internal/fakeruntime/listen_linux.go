package fakeruntime

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

func pid() int { return os.Getpid() }

// listen creates the socket that a runtime in this process would create.
func listen(dir string) (net.Listener, error) {
	start, err := Started()
	if err != nil {
		return nil, err
	}
	return net.Listen("unix", filepath.Join(dir, SocketName(pid(), start)))
}

// SocketName returns the name that a runtime gives its socket.
func SocketName(pid int, start uint64) string {
	return "dotnet-diagnostic-" + strconv.Itoa(pid) + "-" + strconv.FormatUint(start, 10) + "-socket"
}

// Started returns the time at which this process started: field 22 in proc_pid_stat(5).
func Started() (uint64, error) {
	const path, afterName, started = "/proc/self/stat", 3, 22
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // the name may contain spaces
	if len(fields) <= started-afterName {
		return 0, fmt.Errorf("%s: %q", path, b)
	}
	return strconv.ParseUint(string(fields[started-afterName]), 10, 64)
}
