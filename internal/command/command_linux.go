package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ownProgram returns the path of this program, even if the file has been replaced since.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// separate keeps signals that a terminal sends to gclog's group from the command: gclog interrupts
// it, once.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// expendable makes the kernel end a process first when memory runs out.
func expendable(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
}

// Expendable makes the kernel end this process first when memory runs out, until restore is called.
func Expendable() (restore func()) {
	const score = "/proc/self/oom_score_adj"
	before, err := os.ReadFile(score)
	expendable(os.Getpid())
	return func() {
		if err == nil {
			_ = os.WriteFile(score, bytes.TrimSpace(before), 0)
		}
	}
}

// wasKilled reports whether a command that has ended was ended with SIGKILL.
func wasKilled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
