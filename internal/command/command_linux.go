package command

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/gclog/gclog/formats"
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

// killGroup kills a command that was made separate, and what it has started.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// runAs makes the command run as another user, without the groups of gclog.
func runAs(cmd *exec.Cmd, as *formats.Account) error {
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.UID, Gid: as.GID}
	}
	return nil
}
