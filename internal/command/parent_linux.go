package command

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// endSignal is what the kernel sends to a process whose parent has ended.
const endSignal = syscall.SIGTERM

// tie has the kernel end a process that is about to be started when this one ends. To the kernel, the
// parent is the thread that starts it: the goroutine keeps its thread until the function that tie
// returns is called, which must be after the end of the process.
func tie(cmd *exec.Cmd) (untie func()) {
	runtime.LockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = endSignal
	return runtime.UnlockOSThread
}

// EndWithParent has the kernel send SIGTERM to this process when its parent ends, which has this pid.
// Self does so too, but the kernel forgets that if the file of the program has capabilities.
func EndWithParent(parent int) {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(endSignal), 0, 0, 0)
	if os.Getppid() != parent { // it has ended before
		_ = unix.Kill(os.Getpid(), endSignal)
	}
}
