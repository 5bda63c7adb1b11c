//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// interruptGroup makes a command that is given up end with all that it has started: go and test2json
// ignore SIGINT, and leave it to the tests.
func interruptGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}
