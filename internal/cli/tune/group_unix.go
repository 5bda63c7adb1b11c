//go:build unix

package tune

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command the leader of a process group of its own, so that everything it starts
// can be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks the group of a command to end, or ends it by force.
func endGroup(cmd *exec.Cmd, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, signal)
}

// shellCommand returns a command line as a command.
func shellCommand(line string) *exec.Cmd { return exec.Command("/bin/sh", "-c", line) }
