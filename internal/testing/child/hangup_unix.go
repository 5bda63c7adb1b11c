//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"
)

// MindHangUp makes the programs that this one starts receive SIGHUP, even if this one was started by
// nohup, which would have them ignore it too.
func MindHangUp() {
	if !signal.Ignored(syscall.SIGHUP) {
		return
	}
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGHUP) // what is handled has its default again in a new program
}
