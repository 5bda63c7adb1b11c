//go:build unix

package evidence

import (
	"os"
	"syscall"
)

// askForStacks ends a Go program, which then prints its stacks.
func askForStacks(p *os.Process) {
	_ = p.Signal(syscall.SIGQUIT)
	_ = p.Signal(syscall.SIGCONT)
}
