package fakeruntime

import (
	"net"
	"os"
	"strconv"

	"github.com/Microsoft/go-winio"
)

func pid() int { return os.Getpid() }

// listen creates the pipe that a runtime in this process would create.
func listen(string) (net.Listener, error) {
	return winio.ListenPipe(`\\.\pipe\dotnet-diagnostic-`+strconv.Itoa(pid()), nil)
}
