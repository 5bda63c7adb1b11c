package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ownProgram returns the path of this program, even if the file has been replaced since.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// separate keeps signals that a terminal sends to the daemon's group from the command: the daemon
// interrupts it, once.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// expendable makes the kernel end a process first when memory runs out.
func expendable(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
}
